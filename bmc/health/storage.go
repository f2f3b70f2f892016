package health

import (
	"context"

	"github.com/ironflow/ironflow/bmc/health/rules"
	"github.com/ironflow/ironflow/bmc/lenient"
)

// storage reads the subsystems, and notes their drives and volumes: at once where a
// subsystem is not well or says nothing, else in turn.
func (r *reader) storage(ctx context.Context, link lenient.Link) error {
	if link.Path == "" {
		return nil
	}
	paths, err := r.members(ctx, link.Path)
	if err != nil {
		return err
	}
	for i, path := range paths {
		if i == maxStorage {
			break
		}
		var s storage
		if err := r.get(ctx, path, &s); err != nil {
			return err
		}
		well := r.subsystem(&s, path)
		drives := make([]string, 0, len(s.Drives))
		for _, drive := range s.Drives {
			if drive.Path != "" && len(drives) < maxMembers {
				drives = append(drives, drive.Path)
			}
		}
		r.queue(well, rules.Storage, rules.Drive, drives)
		if s.Volumes.Path != "" && (!well || r.options.Everything) {
			volumes, err := r.members(ctx, s.Volumes.Path)
			r.part(err, rules.Storage)
			r.queue(false, rules.Storage, rules.Volume, volumes)
		}
	}
	return nil
}

// subsystem adds a storage subsystem with its controllers, and says whether all of
// it is well. One whose rollup is not given speaks only for itself.
func (r *reader) subsystem(s *storage, path string) bool {
	name := string(s.Name)
	if name == "" {
		name = "Storage " + string(s.ID)
	}
	all := s.Status.into(rules.Part{Domain: rules.Storage, Kind: rules.Group, ID: path, Name: clip(name)})
	r.out.Parts = append(r.out.Parts, all)
	for i := range s.Controllers {
		p := s.Controllers[i].part(rules.Storage, rules.Controller, "")
		p.ID = path + " " + p.ID
		r.out.Parts = append(r.out.Parts, p)
	}
	return isWell(all) && all.Rollup != ""
}
