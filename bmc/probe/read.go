package probe

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/lenient"
	"github.com/ironflow/ironflow/bmc/quirks"
)

// budget counts requests.
type budget struct {
	made  *client.Counter
	limit int64 // negative: none
	// kept is what the parts before the storage leave to it.
	kept int64
}

func newBudget(made *client.Counter, requests int) budget {
	switch {
	case requests < 0:
		return budget{made: made, limit: -1}
	case requests == 0:
		requests = DefaultRequests
	}
	return budget{made: made, limit: int64(requests - logout)}
}

// left is how many requests may still be made.
func (b budget) left() int {
	if b.limit < 0 {
		return mostMembers
	}
	return int(max(0, b.limit-b.kept-b.used()))
}

// most is a bound of what is read of a list: none without a budget.
func (b budget) most(n int) int {
	if b.limit < 0 {
		return mostMembers
	}
	return n
}

// used is how many requests this probe has made.
func (b budget) used() int64 { return b.made.Requests() }

// mostMembers bounds a list that is read without a budget.
const mostMembers = 512

// tooSilent is how many answers in a row may fail to come.
const tooSilent = 3

// allowed says why a path is not asked for, if so.
func (p *probe) allowed(path string) error {
	switch {
	case p.stop != nil:
		return p.stop
	case p.ctx.Err() != nil: // a report of the rest would say that nothing of it is known
		p.stop = context.Cause(p.ctx)
		return p.stop
	case quirks.MayRestart(p.vendor, path), quirks.Skips(p.report.Quirks, path):
		return errSpared
	case p.budget.left() == 0:
		return errBudget
	}
	return nil
}

// outcome notes how a request went, and whether to go on. Wrong credentials end a
// probe at once, as each further try may lock the account.
func (p *probe) outcome(err error) error {
	if p.ctx.Err() != nil {
		p.stop = context.Cause(p.ctx)
		return p.stop
	}
	switch client.KindOf(err) {
	case client.Credentials, client.LockedOut, client.PasswordChange, client.TLS:
		p.stop = err
	case client.Unreachable:
		if p.silent++; p.silent >= tooSilent {
			p.stop = err
		}
	default:
		p.silent = 0
	}
	return err
}

// get reads the resource that a link leads to.
func get[T any](p *probe, link lenient.Link) found[T] {
	return ask[T](p, link, "")
}

// ask reads a resource with a query.
func ask[T any](p *probe, link lenient.Link, query string) found[T] {
	f := found[T]{path: link.Path}
	if f.path == "" {
		return f
	}
	if f.err = p.allowed(f.path); f.err != nil {
		return f
	}
	answer, err := p.bmc.GetRaw(p.ctx, f.path+query)
	if f.err = p.outcome(err); f.err != nil {
		return f
	}
	f.allow = strings.Join(answer.Header.Values("Allow"), ", ")
	if err := json.Unmarshal(answer.Body, &f.value); err != nil && !lenient.OnlyTypes(err) {
		f.err = &client.Error{Kind: client.Broken, Method: http.MethodGet, Path: f.path, Status: answer.Status, Message: "the answer is no JSON: " + why(err)}
	}
	return f
}

// list is a collection. A member may come whole instead of as a link.
type list struct {
	members []json.RawMessage
	// total is how many there are, as far as that is known.
	total int
	// annotated says that the collection describes what can be created in it.
	annotated bool
}

// getList reads a collection, with its further pages while the budget allows. Where
// $expand is safe, the members come with it.
func getList(p *probe, link lenient.Link, expand bool) found[list] {
	query := ""
	if expand {
		query = p.expandQuery()
	}
	c := ask[collection](p, link, query)
	f := found[list]{path: c.path, allow: c.allow, err: c.err}
	if !c.read() {
		return f
	}
	f.value = list{members: c.value.Members, total: max(int(c.value.Count), len(c.value.Members)), annotated: bool(c.value.Capabilities)}
	if next := c.value.next(); next.Path != "" {
		p.furtherPages(&f, next)
	}
	return f
}

// expandQuery asks for the members themselves, one level deep, where that is safe.
func (p *probe) expandQuery() string {
	if !p.expands {
		return ""
	}
	return "?$expand=.($levels=1)"
}

// ofLinks are the members that a link may have beside its path.
var ofLinks = []string{"href", "extref", "Id", "MemberId", "Name", "Description", "title", "rel"}

// member is a member of a list: read if it came whole, else a link.
func member[T any](raw json.RawMessage) (found[T], bool) {
	var f found[T]
	var link lenient.Link
	if err := link.UnmarshalJSON(raw); err != nil || link.Path == "" {
		return f, false
	}
	f.path, f.err = link.Path, errBudget
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return f, true
	}
	for name := range members {
		if strings.HasPrefix(name, "@") || slices.Contains(ofLinks, name) {
			continue
		}
		if err := json.Unmarshal(raw, &f.value); err == nil || lenient.OnlyTypes(err) {
			f.err = nil
		}
		break
	}
	return f, true
}

// mostListed bounds the members of a list that are looked at.
const mostListed = 4096

// links are the members of a list that have a path, in their order.
func links[T any](members []json.RawMessage) []found[T] {
	members = members[:min(len(members), mostListed)]
	out := make([]found[T], 0, len(members))
	for _, raw := range members {
		if f, ok := member[T](raw); ok {
			out = append(out, f)
		}
	}
	return out
}

// fill reads members in the given order until most are read or the budget, less a
// reserve, is used up. Done ends it early; nil never does. It returns how many
// stayed unread.
func fill[T any](p *probe, members []found[T], order []int, most, reserve int, done func(found[T]) bool) int {
	return fillBy(p, members, order, most, reserve, "", done)
}

// fillBy is fill with a query.
func fillBy[T any](p *probe, members []found[T], order []int, most, reserve int, query string, done func(found[T]) bool) int {
	read := 0
	for _, i := range order {
		m := &members[i]
		if m.err != nil && errors.Is(m.err, errBudget) && read < most && p.budget.left() > reserve {
			*m = ask[T](p, lenient.Link{Path: m.path}, query)
			read++
		}
		if done != nil && m.read() && done(*m) {
			break
		}
	}
	unread := 0
	for _, m := range members {
		if errors.Is(m.err, errBudget) {
			unread++
		}
	}
	return unread
}

// inOrder are the indexes of a list in its own order.
func inOrder(n int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	return order
}
