package health

import (
	"context"
	"slices"

	"github.com/ironflow/ironflow/bmc/health/rules"
	"github.com/ironflow/ironflow/bmc/lenient"
	"github.com/ironflow/ironflow/bmc/quirks"
)

// chassisOf are the paths of the system's chassis that may be read.
func (r *reader) chassisOf(s *system) []string {
	var paths []string
	for _, link := range s.Links.Chassis {
		switch {
		case link.Path == "" || r.harmful(link.Path) || slices.Contains(paths, link.Path):
		case len(paths) == maxMembers:
			r.leave(rules.Cooling, 1, errBeyond)
			r.leave(rules.Power, 1, errBeyond)
		default:
			paths = append(paths, link.Path)
		}
	}
	return paths
}

// inChassis reads what cools or feeds a chassis, and the chassis itself once in a pass.
func (r *reader) inChassis(ctx context.Context, path string, what func(context.Context, *chassis) error) error {
	c := r.boxes[path]
	if c == nil {
		c = &chassis{}
		if err := r.get(ctx, path, c); err != nil {
			return err
		}
		r.boxes[path] = c
	}
	return what(ctx, c)
}

// harmful says of a resource that reading it restarts the BMC: a quirk says so, or nobody
// knows better.
func (r *reader) harmful(path string) bool {
	report := r.options.Report
	return quirks.Skips(report.Quirks, path) || report.ManagerModel == "" && quirks.MayRestart(report.Vendor, path)
}

// cooling takes the older resource where there is one: it holds in one answer what
// the newer one spreads over as many as there are fans.
func (r *reader) cooling(ctx context.Context, c *chassis) error {
	fans := 0
	if c.Thermal.Path != "" {
		var t thermal
		if err := r.get(ctx, c.Thermal.Path, &t); err != nil {
			return err
		}
		fans = len(t.Fans)
		var parts []rules.Part
		for i := range t.Fans {
			parts = append(parts, t.Fans[i].part(rules.Fan))
		}
		for i := range t.Temperatures {
			parts = append(parts, t.Temperatures[i].part(rules.Temperature))
		}
		r.list(c.Thermal.Path, parts)
	}
	if c.ThermalSubsystem.Path != "" && (c.Thermal.Path == "" || r.options.Everything) {
		read, err := r.thermalSubsystem(ctx, c.ThermalSubsystem.Path, c.Thermal.Path != "")
		if err != nil {
			return err
		}
		fans += read
	}
	// Some boards show fans and temperatures as sensors only (NVIDIA GB200).
	if fans == 0 && c.Sensors.Path != "" {
		return r.sensors(ctx, c.Sensors.Path)
	}
	return nil
}

// thermalSubsystem reads the newer resource. It returns how many fans it leads to,
// at least one where it speaks for all.
func (r *reader) thermalSubsystem(ctx context.Context, path string, fansKnown bool) (fans int, err error) {
	var s subsystem
	if err := r.get(ctx, path, &s); err != nil {
		return 0, err
	}
	all := s.Status.into(rules.Part{Domain: rules.Cooling, Kind: rules.Group, ID: path, Name: "Cooling"})
	r.out.Parts = append(r.out.Parts, all)
	well := isWell(all)
	if well {
		fans = 1
	}
	if s.Fans.Path != "" && !fansKnown && (!well || r.options.Everything) {
		n, err := r.listed(ctx, s.Fans.Path, rules.Cooling, func(path string) { r.later(false, r.member(s.Fans.Path, rules.Cooling, rules.Fan, path)) })
		if fans += n; err != nil {
			return fans, err
		}
	}
	if s.LeakDetection.Path != "" && (!well || r.options.Everything) {
		return fans, r.leaks(ctx, s.LeakDetection)
	}
	return fans, nil
}

func (r *reader) leaks(ctx context.Context, link lenient.Link) error {
	var l leaks
	if err := r.get(ctx, link.Path, &l); err != nil {
		return err
	}
	all := l.Status.into(rules.Part{Domain: rules.Cooling, Kind: rules.Group, ID: link.Path, Name: "Leak detection"})
	r.out.Parts = append(r.out.Parts, all)
	if l.Detectors.Path == "" || isWell(all) && !r.options.Everything {
		return nil
	}
	_, err := r.listed(ctx, l.Detectors.Path, rules.Cooling, func(path string) { r.later(false, r.member(l.Detectors.Path, rules.Cooling, rules.Leak, path)) })
	return err
}

// sensors notes them to be read in turn: at least one has to be, as nothing else tells
// of them.
func (r *reader) sensors(ctx context.Context, path string) error {
	_, err := r.listed(ctx, path, rules.Cooling, func(member string) {
		v := visit{rules.Cooling, member, path, r.sensor}
		if !r.harmful(member) {
			r.idle = append(r.idle, v)
		}
	})
	return err
}

func (r *reader) sensor(ctx context.Context, path string) (rules.Part, bool, error) {
	var s sensor
	if err := r.get(ctx, path, &s); err != nil {
		return rules.Part{}, false, err
	}
	p, counts := s.part(path)
	return p, counts, nil
}

// power prefers the older resource, as cooling does.
func (r *reader) power(ctx context.Context, c *chassis) error {
	if c.Power.Path != "" {
		var p power
		if err := r.get(ctx, c.Power.Path, &p); err != nil {
			return err
		}
		var parts []rules.Part
		for i := range p.PowerSupplies {
			parts = append(parts, p.PowerSupplies[i].part(""))
		}
		r.list(c.Power.Path, parts)
		return nil
	}
	if c.PowerSubsystem.Path == "" {
		return nil
	}
	var s subsystem
	if err := r.get(ctx, c.PowerSubsystem.Path, &s); err != nil {
		return err
	}
	all := s.Status.into(rules.Part{Domain: rules.Power, Kind: rules.Group, ID: c.PowerSubsystem.Path, Name: "Power"})
	r.out.Parts = append(r.out.Parts, all)
	if s.PowerSupplies.Path == "" || isWell(all) && !r.options.Everything {
		return nil
	}
	_, err := r.listed(ctx, s.PowerSupplies.Path, rules.Power, func(path string) {
		r.later(false, visit{rules.Power, path, s.PowerSupplies.Path, r.supply})
	})
	return err
}

func (r *reader) supply(ctx context.Context, path string) (rules.Part, bool, error) {
	var s supply
	err := r.get(ctx, path, &s)
	return s.part(path), true, err
}
