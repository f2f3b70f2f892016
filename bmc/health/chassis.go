package health

import (
	"context"

	"github.com/ironflow/ironflow/bmc/health/rules"
	"github.com/ironflow/ironflow/bmc/lenient"
	"github.com/ironflow/ironflow/bmc/quirks"
)

// chassis reads what cools and feeds the system.
func (r *reader) chassis(ctx context.Context, s *system) error {
	read := 0
	for _, link := range s.Links.Chassis {
		if link.Path == "" || r.harmful(link.Path) {
			continue
		}
		if read++; read > maxChassis {
			break
		}
		var c chassis
		if err := r.get(ctx, link.Path, &c); err != nil {
			return err
		}
		r.part(r.cooling(ctx, &c), rules.Cooling)
		r.part(r.power(ctx, &c), rules.Power)
	}
	return nil
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
		for i := range t.Fans {
			r.out.Parts = append(r.out.Parts, t.Fans[i].part(rules.Fan))
		}
		for i := range t.Temperatures {
			r.out.Parts = append(r.out.Parts, t.Temperatures[i].part(rules.Temperature))
		}
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
		paths, err := r.members(ctx, s.Fans.Path)
		r.queue(false, rules.Cooling, rules.Fan, paths)
		if fans += len(paths); err != nil {
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
	paths, err := r.members(ctx, l.Detectors.Path)
	r.queue(false, rules.Cooling, rules.Leak, paths)
	return err
}

// sensors notes them to be read in turn.
func (r *reader) sensors(ctx context.Context, path string) error {
	paths, err := r.members(ctx, path)
	for _, path := range paths {
		r.later(true, visit{rules.Cooling, path, func(ctx context.Context, path string) (rules.Part, bool, error) {
			var s sensor
			if err := r.get(ctx, path, &s); err != nil {
				return rules.Part{}, false, err
			}
			p, counts := s.part(path)
			return p, counts, nil
		}})
	}
	return err
}

// power prefers the older resource, as cooling does.
func (r *reader) power(ctx context.Context, c *chassis) error {
	if c.Power.Path != "" {
		var p power
		if err := r.get(ctx, c.Power.Path, &p); err != nil {
			return err
		}
		for i := range p.PowerSupplies {
			r.out.Parts = append(r.out.Parts, p.PowerSupplies[i].part(""))
		}
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
	paths, err := r.members(ctx, s.PowerSupplies.Path)
	for _, path := range paths {
		r.later(false, visit{rules.Power, path, func(ctx context.Context, path string) (rules.Part, bool, error) {
			var s supply
			err := r.get(ctx, path, &s)
			return s.part(path), true, err
		}})
	}
	return err
}
