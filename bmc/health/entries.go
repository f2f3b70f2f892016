package health

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strconv"

	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/health/rules"
	"github.com/ironflow/ironflow/bmc/lenient"
)

const (
	// logPages is how many pages of a log are read in one pass.
	logPages = 3
	// keptEntries is how many entries of each end of a page are held in memory.
	keptEntries = 4096
	// bareEntries is how many entries are read one by one where a log only links them.
	bareEntries = 4
)

// logPage is a page of a log's entries.
type logPage struct {
	path    string
	Members entryList    `json:"Members"`
	Count   lenient.Int  `json:"Members@odata.count"`
	Next    lenient.Link `json:"Members@odata.nextLink"`
	// Bare is how some write the link to the next page.
	Bare lenient.Link `json:"@odata.nextLink"`
}

// entryList is a list of which both ends are kept: a small answer can hold so many
// empty entries that all of them would take hundreds of megabytes.
type entryList []logEntry

// UnmarshalJSON implements json.Unmarshaler; it never fails.
func (l *entryList) UnmarshalJSON(raw []byte) error {
	*l = nil
	var tail []logEntry
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if token, err := decoder.Token(); err != nil || token != json.Delim('[') {
		return nil //nolint:nilerr // what is no list is an empty one
	}
	for decoder.More() {
		var e logEntry
		if err := decoder.Decode(&e); err != nil && !lenient.OnlyTypes(err) {
			break
		}
		if len(*l) < keptEntries {
			*l = append(*l, e)
			continue
		}
		if tail = append(tail, e); len(tail) == 2*keptEntries {
			tail = append(tail[:0], tail[keptEntries:]...)
		}
	}
	*l = append(*l, tail...)
	return nil
}

// entries reads what is new in a log, a few pages at most. A log that begins with its
// newest entry is read from there to the one that was read last; one that begins with
// its oldest, from the page of that one on.
func (r *reader) entries(ctx context.Context, service string) (rules.LogReading, error) {
	cursor := r.options.Past.Logs[service]
	l := rules.LogReading{Service: service}
	start := service
	if cursor.Page != "" {
		start = cursor.Page
	}
	page, entries, err := r.page(ctx, service, start)
	if kind := client.KindOf(err); start != service && (kind == client.NotSupported || kind == client.Refused || kind == client.Failed) {
		// The page is gone: the log is shorter than it was.
		start = service
		page, entries, err = r.page(ctx, service, start)
	}
	if client.KindOf(err) == client.NotSupported {
		// An empty log is not there at all (Lenovo).
		l.All, l.End = true, true
		return l, nil
	}
	if err != nil {
		return l, err
	}
	if start == service && !rules.OldestFirst(entries) {
		return r.backwards(ctx, l, page, entries, cursor)
	}
	return r.forwards(ctx, l, page, entries, cursor)
}

// backwards reads from the newest entry to the one that was read last.
func (r *reader) backwards(ctx context.Context, l rules.LogReading, page logPage, newestFirst []rules.Entry, cursor rules.Cursor) (rules.LogReading, error) {
	all := newestFirst
	for i := 1; i < logPages && page.Next.Path != "" && cursor.ID != "" && !rules.Holds(all, cursor); i++ {
		next, entries, err := r.page(ctx, l.Service, page.Next.Path)
		if errors.Is(err, errSpent) {
			break
		}
		if err != nil {
			return l, err
		}
		page = next
		all = append(all, entries...)
	}
	slices.Reverse(all)
	l.Entries, l.End, l.All = all, true, page.Next.Path == ""
	return l, nil
}

// forwards reads on from a page. What was not reached is for the next pass. A log
// that is read for the first time is entered near its end, where the BMC can do that.
func (r *reader) forwards(ctx context.Context, l rules.LogReading, page logPage, entries []rules.Entry, cursor rules.Cursor) (rules.LogReading, error) {
	l.All = page.path == l.Service
	if cursor.Page != "" && page.path != l.Service && !rules.Holds(entries, cursor) {
		// Cleared, and filled again: from its beginning.
		var err error
		if page, entries, err = r.page(ctx, l.Service, l.Service); err != nil {
			return l, err
		}
		l.All = true
	}
	if cursor.ID == "" {
		if last, found := lastPage(page, len(entries)); found {
			// A service that does not know the query answers with the first page again: no harm.
			if jumped, others, err := r.page(ctx, l.Service, last); err == nil && len(others) > 0 {
				page, entries, l.All = jumped, others, false
			}
		}
	}
	seen := map[string]bool{page.path: true}
	for i := 1; i < logPages && page.Next.Path != "" && !seen[page.Next.Path]; i++ {
		next, more, err := r.page(ctx, l.Service, page.Next.Path)
		if errors.Is(err, errSpent) {
			break
		}
		if err != nil {
			return l, err
		}
		page = next
		seen[page.path] = true
		entries = append(entries, more...)
	}
	l.Entries, l.Page, l.End = entries, page.path, page.Next.Path == "" || seen[page.Next.Path]
	l.All = l.All && l.End
	return l, nil
}

var skip = regexp.MustCompile(`([?&]\$skip=)\d+`)

// lastPage is where the last page of a log begins, in the words of the BMC's own link
// to the second.
func lastPage(first logPage, size int) (string, bool) {
	if size == 0 || int(first.Count) <= 2*size || !skip.MatchString(first.Next.Path) {
		return "", false
	}
	return skip.ReplaceAllString(first.Next.Path, "${1}"+strconv.Itoa(int(first.Count)-size)), true
}

// page reads one page. Entries that it only links are read one by one, the last few.
func (r *reader) page(ctx context.Context, service, path string) (logPage, []rules.Entry, error) {
	page := logPage{path: path}
	if err := r.get(ctx, path, &page); err != nil {
		return page, nil, err
	}
	if page.Next.Path == "" {
		page.Next = page.Bare
	}
	members := page.Members
	entries := make([]rules.Entry, 0, len(members))
	for i := range members {
		if !members[i].bare() {
			entries = append(entries, members[i].entry(service))
		}
	}
	if len(entries) > 0 || len(members) == 0 {
		return page, entries, nil
	}
	entries, err := r.linked(ctx, service, members)
	return page, entries, err
}

// linked reads the newest of entries that a log only links: those with the highest
// numbers, or the last ones.
func (r *reader) linked(ctx context.Context, service string, members []logEntry) ([]rules.Entry, error) {
	links := make([]rules.Entry, 0, len(members))
	paths := map[string]string{}
	for i := range members {
		e := members[i].entry(service)
		paths[e.ID] = string(members[i].ODataID)
		links = append(links, e)
	}
	if !rules.OldestFirst(links) {
		slices.Reverse(links)
	}
	cursor := r.options.Past.Logs[service]
	if i := slices.IndexFunc(links, func(e rules.Entry) bool { return e.ID == cursor.ID }); i >= 0 {
		links = links[i:]
	}
	if len(links) > bareEntries {
		links = links[len(links)-bareEntries:]
	}
	var entries []rules.Entry
	for _, link := range links {
		var e logEntry
		if err := r.get(ctx, paths[link.ID], &e); errors.Is(err, errSpent) {
			break
		} else if err != nil && client.KindOf(err) != client.NotSupported {
			return entries, err
		} else if err == nil {
			entries = append(entries, e.entry(service))
		}
	}
	return entries, nil
}
