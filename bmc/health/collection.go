package health

import (
	"context"
	"errors"
	"strconv"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/health/rules"
	"github.com/ironflow/ironflow/bmc/lenient"
)

// maxMembers bounds what is followed of one collection.
const maxMembers = 1024

// errBeyond is why members of a collection are left out that its pages do not show, or
// that are too many.
var errBeyond = errors.New("the BMC counts more of them than it lists, or than are followed")

// collection is a page of one.
type collection struct {
	Members lenient.List[lenient.Link] `json:"Members"`
	Count   lenient.Int                `json:"Members@odata.count"`
	Next    lenient.Link               `json:"Members@odata.nextLink"`
	// Bare is how some write the link to the next page.
	Bare lenient.Link `json:"@odata.nextLink"`
}

func (c *collection) next() string {
	if c.Next.Path != "" {
		return c.Next.Path
	}
	return c.Bare.Path
}

// members lists the paths of a collection, each once, and says how many more there are.
// The client's own listing would make more requests than are left.
func (r *reader) members(ctx context.Context, path string) (paths []string, more int, err error) {
	known, seen := map[string]bool{}, map[string]bool{}
	count := 0
	for path != "" && !seen[path] {
		seen[path] = true
		var page collection
		if err := r.get(ctx, path, &page); err != nil {
			return paths, max(0, count-len(paths)), err
		}
		count = max(count, int(page.Count))
		for _, link := range page.Members {
			switch {
			case link.Path == "" || known[link.Path]:
			case len(paths) == maxMembers:
				return paths, max(1, count-len(paths)), nil
			default:
				known[link.Path] = true
				paths = append(paths, link.Path)
			}
		}
		path = page.next()
	}
	// A collection that gives its members in another form is one of which nothing is known.
	return paths, max(0, count-len(paths)), nil
}

// beyond notes that a collection has more members than are followed.
func (r *reader) beyond(path string, domain rules.Domain, more int) {
	if more > 0 {
		r.leave(domain, more, errBeyond)
		r.has(path, errBeyond)
	}
}

// listed reads a collection whose members are visited in turn, as one group.
func (r *reader) listed(ctx context.Context, path string, domain rules.Domain, add func(path string)) (int, error) {
	paths, more, err := r.members(ctx, path)
	for _, member := range paths {
		add(member)
	}
	if err != nil || len(paths)+more > 0 {
		r.group(path)
	}
	r.beyond(path, domain, more)
	return len(paths) + more, err
}

// list adds the parts that a resource holds itself. Their IDs begin with its path, since
// each chassis has a fan of the same name, and tell those apart that have the same name.
func (r *reader) list(path string, parts []rules.Part) {
	r.out.Lists = append(r.out.Lists, path+" ")
	times := map[string]int{}
	for _, p := range parts {
		times[p.ID]++
		if n := times[p.ID]; n > 1 {
			p.ID += " " + strconv.Itoa(n)
		}
		p.ID = path + " " + p.ID
		r.out.Parts = append(r.out.Parts, p)
	}
}

// summary is memory or processors: a status for all of them, and each one where that
// is bad or says nothing.
func (r *reader) summary(ctx context.Context, domain rules.Domain, kind rules.Kind, name string, all *summary, link lenient.Link) error {
	well := false
	if all != nil {
		p := all.Status.into(rules.Part{Domain: domain, Kind: rules.Group, ID: name, Name: name})
		r.out.Parts = append(r.out.Parts, p)
		well = isWell(p)
	}
	if link.Path == "" || well && !r.options.Everything {
		return nil
	}
	_, err := r.listed(ctx, link.Path, domain, func(path string) { r.later(false, r.member(link.Path, domain, kind, path)) })
	return err
}

func isWell(p rules.Part) bool {
	v, counts := rules.Assess(p)
	return counts && v.State == v1alpha1.HealthOK
}
