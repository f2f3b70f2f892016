package health

import (
	"context"

	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/health/rules"
	"github.com/ironflow/ironflow/bmc/lenient"
)

// storage lists the storages, with the parts that they led to when they were read last.
// Some BMCs show each drive as a storage of its own (HPE).
func (r *reader) storage(ctx context.Context, link lenient.Link) error {
	if link.Path == "" {
		return nil
	}
	paths, more, err := r.members(ctx, link.Path)
	if err == nil && more > 0 {
		r.group(link.Path)
		r.beyond(link.Path, rules.Storage, more)
	}
	if err == nil { // else those of the other pages are not gone
		r.out.Storages = map[string]rules.Led{}
	}
	for _, path := range paths { // also before a page that cannot be read
		r.group(path)
		r.storages = append(r.storages, visit{rules.Storage, path, path, r.oneStorage})
		if led, known := r.options.Past.Storages[path]; known {
			r.leads(path, led)
		}
	}
	return err
}

// oneStorage reads a storage. Its drives and volumes are visited next.
func (r *reader) oneStorage(ctx context.Context, path string) (all rules.Part, counts bool, err error) {
	var s storage
	if err := r.get(ctx, path, &s); err != nil {
		return all, false, err
	}
	all, well := r.subsystem(&s, path)
	led := rules.Led{Well: well}
	for _, drive := range s.Drives {
		if drive.Path != "" && len(led.Parts) < maxMembers {
			led.Parts = append(led.Parts, rules.Ref{Kind: rules.Drive, Path: drive.Path})
		}
	}
	if !well || r.options.Everything {
		led.Parts = append(led.Parts, r.listedBy(ctx, s.Apart, rules.Controller)...)
		led.Parts = append(led.Parts, r.listedBy(ctx, s.Volumes, rules.Volume)...)
	}
	r.leads(path, led)
	return all, true, nil
}

// listedBy are the parts of one kind that a collection of a storage lists.
func (r *reader) listedBy(ctx context.Context, link lenient.Link, kind rules.Kind) (parts []rules.Ref) {
	if link.Path == "" {
		return nil
	}
	paths, more, err := r.members(ctx, link.Path)
	if client.KindOf(err) == client.NotSupported {
		err = nil
	}
	if err != nil || more > 0 {
		r.leave(rules.Storage, max(1, more), firstError(err, errBeyond))
	}
	for _, path := range paths {
		parts = append(parts, rules.Ref{Kind: kind, Path: path})
	}
	return parts
}

// firstError is the first error that there is.
func firstError(list ...error) error {
	for _, err := range list {
		if err != nil {
			return err
		}
	}
	return nil
}

// leads notes the parts of a storage: to be read where it is not well or says nothing,
// else in turn.
func (r *reader) leads(storage string, led rules.Led) {
	r.out.Storages[storage] = led
	group := storage + " parts"
	well := led.Well && !r.options.Everything
	r.section = storageSection
	switch {
	case well:
		delete(r.out.Groups, group)
	case len(led.Parts) > 0:
		r.group(group)
	}
	for _, part := range led.Parts {
		r.later(well, r.member(group, rules.Storage, part.Kind, part.Path))
	}
}

// subsystem adds the controllers of a storage, and says whether all of it is well. One
// whose rollup is not given speaks only for itself.
func (r *reader) subsystem(s *storage, path string) (all rules.Part, well bool) {
	name := string(s.Name)
	if name == "" {
		name = "Storage " + string(s.ID)
	}
	all = s.Status.into(rules.Part{Domain: rules.Storage, Kind: rules.Group, ID: path, Name: clip(name)})
	var controllers []rules.Part
	for i := range s.Controllers {
		controllers = append(controllers, s.Controllers[i].part(rules.Storage, rules.Controller, ""))
	}
	r.list(path, controllers)
	return all, isWell(all) && all.Rollup != ""
}
