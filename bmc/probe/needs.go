package probe

import (
	"strings"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
)

// needs holds the service against what Ironic's profile for Redfish asks for.
func (p *probe) needs() {
	p.set(ironicNeeds(p.system, p.slot))
}

// ironicNeeds names what is missing. A BMC without virtual media boots from the
// network: then nothing is asked of them.
func ironicNeeds(s found[system], media found[slot]) v1alpha1.Capability {
	var gaps []string
	for _, need := range []struct {
		name  string
		there bool
	}{
		{"Boot", s.value.Boot.Set},
		{"Links", s.value.Links.Set},
		{"PowerState", s.value.PowerState.There},
		{"ComputerSystem.Reset", s.value.Actions.Reset.Target != ""},
		{"VirtualMedia Image", !media.read() || media.value.Image.There},
		{"VirtualMedia MediaTypes", !media.read() || media.value.MediaTypes.Set},
	} {
		if !need.there {
			gaps = append(gaps, need.name)
		}
	}
	switch {
	case len(gaps) > 0:
		return no(IronicNeeds, at(s.path, "lacks "+strings.Join(gaps, ", ")))
	case media.err != nil:
		return unknown(IronicNeeds, why(media.err))
	}
	return yes(IronicNeeds, "", s.path)
}
