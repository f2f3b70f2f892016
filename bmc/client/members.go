package client

import (
	"context"
	"net/http"

	"github.com/ironflow/ironflow/bmc/lenient"
)

// maxMembers bounds a collection, whatever its pages hold.
const maxMembers = 10000

// page is a part of a collection.
type page struct {
	Members lenient.List[lenient.Link] `json:"Members"`
	Count   lenient.Int                `json:"Members@odata.count"`
	Next    lenient.Link               `json:"Members@odata.nextLink"`
	// Bare is how some write the link to the next page.
	Bare lenient.Link `json:"@odata.nextLink"`
}

func (p page) next() string {
	if p.Next.Path != "" {
		return p.Next.Path
	}
	return p.Bare.Path
}

// Members lists the paths of a collection's members over all of its pages, each
// once, at most limit of them (0: no limit but that of the options). complete is
// false when there are, or may be, more. With an error come the paths that were
// found before it.
func (c *Client) Members(ctx context.Context, path string, limit int) (paths []string, complete bool, err error) {
	if limit <= 0 || limit > maxMembers {
		limit = maxMembers
	}
	k, err := c.call(http.MethodGet, path)
	if err != nil {
		return nil, false, err
	}
	found := collection{seen: map[string]bool{}, limit: limit}
	pages := map[string]bool{}
	for len(pages) < c.options.MaxPages && !pages[k.path] {
		pages[k.path] = true
		answer, err := c.read(ctx, k)
		if err != nil {
			return found.paths, false, err
		}
		var p page
		if err := c.decode(k, answer, &p); err != nil {
			return found.paths, false, err
		}
		news, full, err := found.add(c.at, p.Members)
		if err != nil {
			return found.paths, false, c.failure(k, Broken, answer.Status, err.Error())
		}
		next := p.next()
		switch {
		case full, len(found.paths) == limit && next != "":
			return found.paths, false, nil
		case next == "":
			return found.paths, true, nil
		case !news: // pages that never end: a service that ignores $skip
			return found.paths, p.Count > 0 && len(found.paths) >= int(p.Count), nil
		}
		if k, err = c.call(http.MethodGet, next); err != nil {
			return found.paths, false, err
		}
	}
	return found.paths, false, nil
}

// collection gathers members.
type collection struct {
	paths []string
	seen  map[string]bool
	limit int
}

// add takes a page's members. news says that there was one that was not known; full,
// that the limit leaves some out.
func (c *collection) add(at place, members []lenient.Link) (news, full bool, err error) {
	for _, member := range members {
		path, err := at.path(member.Path)
		if err != nil {
			return news, false, err
		}
		if c.seen[path] {
			continue
		}
		if len(c.paths) == c.limit {
			return news, true, nil
		}
		news = true
		c.seen[path] = true
		c.paths = append(c.paths, path)
	}
	return news, false, nil
}
