package health

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/health/rules"
)

// Getter reads resources; *client.Client is one.
type Getter interface {
	Get(ctx context.Context, path string, into any) error
}

var _ Getter = (*client.Client)(nil)

// Options say what to read.
type Options struct {
	// Report is the probe's: it names the system and its manager.
	Report *v1alpha1.BMCReport
	// Past is what rules.Judge returned the last time: it says how far the logs were
	// read, which parts were bad, and where to go on.
	Past rules.Past
	// Requests bounds what is asked in one pass; 12 when zero.
	Requests int
	// Everything reads every part, also where the BMC says that all of a kind are well.
	Everything bool
	// LogsAlone reads the logs and no parts.
	LogsAlone bool
	// Now is the clock; time.Now when nil.
	Now func() time.Time
}

const defaultRequests = 12

// errSpent ends a part of the pass when no request is left.
var errSpent = errors.New("no request is left in this pass")

// errNoSystem is a report without what is needed.
var errNoSystem = errors.New("the system's path is not known: the BMC has to be probed first")

// Read reads what Options ask for. An error is why the BMC gave no answer at all;
// the reading says so too, so that it can be judged in any case.
func Read(ctx context.Context, c Getter, o Options) (rules.Reading, error) {
	if o.Requests <= 0 {
		o.Requests = defaultRequests
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	r := newReader(c, o)
	err := r.all(ctx)
	r.out.Time, r.out.Requests = o.Now(), o.Requests-r.left
	if err != nil {
		r.out.Silent = err.Error()
	}
	return r.out, err
}

// reader is one pass.
type reader struct {
	c       Getter
	options Options
	left    int
	// floor is how many requests are kept for the parts while sections are read.
	floor int
	// dead is why nothing more is asked: the BMC has stopped answering. silent counts the
	// answers in a row that did not come: one resource may hang where others do not.
	dead   error
	silent int
	out    rules.Reading
	// section is the one that is read now.
	section section
	// boxes are the chassis that were read.
	boxes map[string]*chassis
	// storages are the storages of the system; need are parts that are to be read, idle
	// those that are said to be well. made are the paths of those that were visited.
	storages, need, idle []visit
	made                 map[string]bool
}

func newReader(c Getter, o Options) *reader {
	r := &reader{c: c, options: o, left: o.Requests, made: map[string]bool{}, boxes: map[string]*chassis{}}
	r.out = rules.Reading{
		Whole: map[rules.Domain]bool{}, Missing: map[rules.Domain]string{}, Unread: map[rules.Domain]string{}, Left: map[rules.Domain]rules.Left{},
		Groups: map[string]rules.Seen{}, Turns: o.Past.Turns, Storages: maps.Clone(o.Past.Storages),
	}
	if r.out.Storages == nil {
		r.out.Storages = map[string]rules.Led{}
	}
	return r
}

// mostSilent is how many answers in a row may fail to come.
const mostSilent = 2

// get reads one resource, as long as requests are left and the BMC answers. What is not asked
// any more because it does not is not read for that reason: nothing is known of it.
func (r *reader) get(ctx context.Context, path string, into any) error {
	switch {
	case r.dead != nil:
		return r.dead
	case r.left <= r.floor:
		return errSpent
	}
	r.left--
	err := r.c.Get(ctx, path, into)
	if client.KindOf(err) != client.Unreachable {
		r.silent = 0
		return err
	}
	if r.silent++; r.silent >= mostSilent || ctx.Err() != nil {
		r.dead = err
	}
	return err
}

// part runs what reads one or more domains, and notes how it went. What the BMC does
// not have is no error.
func (r *reader) part(err error, domains ...rules.Domain) {
	if err == nil || client.KindOf(err) == client.NotSupported {
		return
	}
	for _, domain := range domains {
		r.out.Whole[domain] = false
		if !errors.Is(err, errSpent) {
			r.out.Missing[domain] = err.Error()
		}
	}
}

func (r *reader) all(ctx context.Context) error {
	if r.options.Report == nil || r.options.Report.System == "" {
		return errNoSystem
	}
	var s system
	if err := r.get(ctx, r.options.Report.System, &s); err != nil {
		return err
	}
	r.out.Off = strings.EqualFold(string(s.PowerState), "Off")
	for _, domain := range rules.Domains {
		r.out.Whole[domain] = true
	}
	r.part(r.logs(ctx, &s), rules.Log)
	if r.out.Off || r.options.LogsAlone {
		return nil
	}
	whole := s.Status.into(rules.Part{Domain: rules.System, Kind: rules.Whole, ID: r.options.Report.System, Name: "System"})
	r.out.Parts = append(r.out.Parts, whole)
	r.sections(ctx, &s)
	r.visits(ctx)
	r.unread()
	return nil
}

// leave notes parts of a domain that were not read, and why.
func (r *reader) leave(domain rules.Domain, parts int, err error) {
	r.out.Whole[domain] = false
	left := r.out.Left[domain]
	if left.Parts += parts; left.Why == "" {
		left.Why = err.Error()
	}
	r.out.Left[domain] = left
}

// unread says of which domains a group is not known at all.
func (r *reader) unread() {
	for _, key := range slices.Sorted(maps.Keys(r.out.Groups)) { // the same reason in each pass
		group := r.out.Groups[key]
		if group.Read {
			continue
		}
		if why := r.out.Unread[group.Domain]; why == "" || why == rules.NotYet {
			r.out.Unread[group.Domain] = cmp.Or(group.Why, rules.NotYet)
		}
	}
}
