package probe

import (
	"encoding/json"

	"github.com/ironflow/ironflow/bmc/lenient"
)

// collection is the form of a collection and of a resource with a list of others.
type collection struct {
	Members lenient.List[json.RawMessage]
	Count   lenient.Int  `json:"Members@odata.count"`
	Next    lenient.Link `json:"Members@odata.nextLink"`
	// Bare is how some write the link to the next page.
	Bare         lenient.Link    `json:"@odata.nextLink"`
	Capabilities lenient.Present `json:"@Redfish.CollectionCapabilities"`
}

func (c collection) next() lenient.Link {
	if c.Next.Path != "" {
		return c.Next
	}
	return c.Bare
}

// furtherPages follows the pages of a list. They take half of what is left of the budget
// at most, as a list alone says little of its members. What was read stays when one
// fails, and pages that bring nothing new end it: some services ignore $skip.
func (p *probe) furtherPages(f *found[list], next lenient.Link) {
	known := map[string]bool{}
	f.value.members = fresh(f.value.members, known)
	for most := p.budget.left() / 2; most > 0 && next.Path != "" && len(f.value.members) < mostMembers; most-- {
		page := ask[collection](p, next, "")
		if !page.read() {
			break
		}
		members := fresh(page.value.Members, known)
		f.value.total = max(f.value.total, int(page.value.Count))
		if len(members) == 0 {
			return
		}
		f.value.members = append(f.value.members, members...)
		f.value.total = max(f.value.total, len(f.value.members))
		next = page.value.next()
	}
	if next.Path == "" {
		f.value.total = len(f.value.members)
		return
	}
	f.value.total = max(f.value.total, len(f.value.members)+1) // a list need not count them
}

// fresh are the members whose paths are not known yet; they are from now on.
func fresh(members []json.RawMessage, known map[string]bool) []json.RawMessage {
	var out []json.RawMessage
	for _, raw := range members {
		m, ok := member[struct{}](raw)
		if !ok || known[m.path] {
			continue
		}
		known[m.path] = true
		out = append(out, raw)
	}
	return out
}
