package client

import (
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/ironflow/ironflow/bmc/lenient"
)

// etags are the entity tags of what was read, by path.
type etags struct {
	mu   sync.Mutex
	tags map[string]string
}

// maxTags bounds the tags that are kept, maxTag how long one is: longer ones are noise,
// and no header takes them.
const (
	maxTags = 512
	maxTag  = 1024
)

func (t *etags) get(path string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.tags[strings.TrimRight(path, "/")]
}

// put notes a resource's tag; an empty one forgets it.
func (t *etags) put(path, tag string) {
	path = strings.TrimRight(path, "/")
	t.mu.Lock()
	defer t.mu.Unlock()
	if tag == "" {
		delete(t.tags, path)
		return
	}
	if t.tags == nil {
		t.tags = map[string]string{}
	}
	if _, known := t.tags[path]; !known && len(t.tags) >= maxTags {
		for other := range t.tags { // any one: a PATCH without its tag reads it anew
			delete(t.tags, other)
			break
		}
	}
	t.tags[path] = tag
}

// tagOf is the tag of an answer: the first header that holds one, else that of the
// body.
func tagOf(header http.Header, body func() string) string {
	for _, value := range header.Values("ETag") {
		if tag := tidyTag(value); tag != "" {
			return tag
		}
	}
	if body == nil {
		return ""
	}
	return tidyTag(body())
}

// tidyTag mends a tag: doubled quotes, and tags that are empty or no tags.
func tidyTag(tag string) string {
	tag = strings.TrimSpace(tag)
	weak := strings.HasPrefix(tag, "W/")
	opaque := strings.TrimPrefix(tag, "W/")
	for len(opaque) > 4 && strings.HasPrefix(opaque, `""`) && strings.HasSuffix(opaque, `""`) {
		opaque = opaque[1 : len(opaque)-1]
	}
	if len(tag) > maxTag || strings.Trim(opaque, `"`) == "" || strings.ContainsFunc(opaque, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return ""
	}
	if weak {
		return "W/" + opaque
	}
	return opaque
}

// forms are the ways to write a tag in If-Match, in the order in which they are
// tried: as given, strong, and without the suffix that a packed answer had.
func forms(tag string) []string {
	list := []string{tag}
	for _, form := range []string{strings.TrimPrefix(tag, "W/"), strings.Replace(strings.TrimPrefix(tag, "W/"), `-gzip"`, `"`, 1)} {
		if !slices.Contains(list, form) {
			list = append(list, form)
		}
	}
	return list
}

// matches are the values of If-Match that are left to try after a PATCH with the
// tag used (empty: none) failed on its precondition and the resource was read anew
// with the tag now. An empty value stands for no If-Match.
func matches(used, now string) []string {
	var list []string
	switch {
	case now == "" && used == "":
		return []string{"*"}
	case now == "":
	case now == used:
		list = forms(now)[1:]
	default:
		list = forms(now)
	}
	if used == "" {
		return append(list, "*")
	}
	return append(list, "")
}

// tagged is the part of a body that holds its tag.
type tagged struct {
	Tag lenient.String `json:"@odata.etag"`
}
