package health

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/health/rules"
	"github.com/ironflow/ironflow/bmc/lenient"
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

const (
	defaultRequests = 12
	// maxChassis, maxStorage and maxMembers bound what is followed.
	maxChassis = 4
	maxStorage = 8
	maxMembers = 256
)

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
	r := &reader{c: c, options: o, left: o.Requests}
	r.out.Whole, r.out.Missing = map[rules.Domain]bool{}, map[rules.Domain]string{}
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
	// dead ends the pass: the BMC has stopped answering.
	dead bool
	out  rules.Reading
	// need are parts that are to be read, idle those that are said to be well.
	need, idle []visit
}

// visit is a part that has a resource of its own.
type visit struct {
	domain rules.Domain
	path   string
	read   func(ctx context.Context, path string) (rules.Part, bool, error)
}

// get reads one resource, as long as requests are left.
func (r *reader) get(ctx context.Context, path string, into any) error {
	if r.left == 0 || r.dead {
		return errSpent
	}
	r.left--
	return r.c.Get(ctx, path, into)
}

// part runs what reads one or more domains, and notes how it went. What the BMC does
// not have is no error.
func (r *reader) part(err error, domains ...rules.Domain) {
	switch {
	case err == nil, client.KindOf(err) == client.NotSupported:
		return
	case client.KindOf(err) == client.Unreachable:
		r.dead = true
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
	r.part(r.chassis(ctx, &s), rules.Cooling, rules.Power)
	r.part(r.storage(ctx, s.Storage), rules.Storage)
	r.part(r.summary(ctx, rules.Memory, rules.Module, "Memory", s.MemorySummary, s.Memory), rules.Memory)
	r.part(r.summary(ctx, rules.Processor, rules.CPU, "Processors", s.ProcessorSummary, s.Processors), rules.Processor)
	r.visits(ctx)
	return nil
}

// collection is a page of one.
type collection struct {
	Members lenient.List[lenient.Link] `json:"Members"`
	Next    lenient.Link               `json:"Members@odata.nextLink"`
}

// members lists the paths of a collection. The client's own listing would make more
// requests than are left.
func (r *reader) members(ctx context.Context, path string) ([]string, error) {
	var paths []string
	seen := map[string]bool{}
	for path != "" && !seen[path] && len(paths) < maxMembers {
		seen[path] = true
		var page collection
		if err := r.get(ctx, path, &page); err != nil {
			return paths, err
		}
		for _, link := range page.Members {
			if link.Path != "" && len(paths) < maxMembers {
				paths = append(paths, link.Path)
			}
		}
		path = page.Next.Path
	}
	return paths, nil
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
	paths, err := r.members(ctx, link.Path)
	r.queue(false, domain, kind, paths)
	return err
}

func isWell(p rules.Part) bool {
	v, counts := rules.Assess(p)
	return counts && v.State == v1alpha1.HealthOK
}

// queue notes parts for later.
func (r *reader) queue(well bool, domain rules.Domain, kind rules.Kind, paths []string) {
	for _, path := range paths {
		v := visit{domain, path, func(ctx context.Context, path string) (rules.Part, bool, error) {
			var m member
			err := r.get(ctx, path, &m)
			return m.part(domain, kind, path), true, err
		}}
		r.later(well, v)
	}
}

func (r *reader) later(well bool, v visit) {
	switch {
	case r.harmful(v.path): // a drive may be below the chassis of its enclosure
	case well:
		r.idle = append(r.idle, v)
	default:
		r.need = append(r.need, v)
	}
}
