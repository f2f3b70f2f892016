package clusters

import "github.com/ironflow/ironflow/hub/wire"

// Components returns the programs that an installation runs, by the protocol's names, with
// their images. Those that nobody has named are left out.
func (r *Registry) Components() wire.Versions {
	out := wire.Versions{}
	for name, image := range map[string]string{
		"discovery-agent":               r.units.Rules.Checks.AgentImage,
		"assisted-installer":            r.units.Rules.Images.Installer,
		"assisted-installer-controller": r.units.Rules.Images.Controller,
	} {
		if image != "" {
			out[name] = image
		}
	}
	return out
}
