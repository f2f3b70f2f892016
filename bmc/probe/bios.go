package probe

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	values "github.com/ironflow/ironflow/bmc/bios"
)

// bios reads the settings and those that wait for a restart.
func (p *probe) bios() {
	f := get[bios](p, p.system.value.Bios)
	if !f.read() {
		p.set(f.missing(BIOSSettings, "Bios of the system"))
		return
	}
	object := f.value.Settings.Value.SettingsObject
	p.set(judgeBIOS(f))
	p.report.BIOS = &v1alpha1.BIOSReport{
		Attributes: len(f.value.Attributes.Values), Registry: bounded(string(f.value.AttributeRegistry)), SettingsPath: local(object.Path),
		ApplyTimes: distinct(plain(f.value.Settings.Value.SupportedApplyTimes)),
	}
	if object.Path == "" {
		return
	}
	waiting := get[bios](p, object)
	if waiting.err != nil {
		p.remark("The BIOS settings that wait for a restart cannot be read: " + why(waiting.err))
		return
	}
	if n := pendingSettings(f.value.Attributes.Values, waiting.value.Attributes.Values); n > 0 {
		p.report.BIOS.Pending = n
		p.report.PendingJobs = append(p.report.PendingJobs, fmt.Sprintf("%d BIOS settings wait for a restart (%s)", n, bounded(object.Path)))
	}
}

func judgeBIOS(f found[bios]) v1alpha1.Capability {
	switch {
	case !f.value.Attributes.There:
		return no(BIOSSettings, at(f.path, "there are no Attributes"))
	case len(f.value.Attributes.Values) == 0:
		return unknown(BIOSSettings, at(f.path, "Attributes are empty: the host may have to start once"))
	case f.value.Settings.Value.SettingsObject.Path == "":
		return no(BIOSSettings, at(f.path, "there is no settings object, the settings can only be read"))
	}
	return yes(BIOSSettings, fmt.Sprintf("%d settings", len(f.value.Attributes.Values)), at(f.path, "Attributes, @Redfish.Settings"))
}

// pendingSettings counts the settings that wait. Some vendors list only the changes,
// others all settings.
func pendingSettings(current, waiting map[string]json.RawMessage) int {
	n := 0
	for name, value := range waiting {
		if now, there := current[name]; !there || !sameValue(now, value) {
			n++
		}
	}
	return n
}

// sameValue compares settings by what they mean, as what reads the settings does.
func sameValue(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) { // most are
		return true
	}
	x, first := values.Decode(a)
	y, second := values.Decode(b)
	return first && second && values.Same(x, y)
}

// registry looks for the description of the BIOS settings.
func (p *probe) registry() {
	if p.report.BIOS == nil {
		why := p.verdicts[BIOSSettings]
		why.Name, why.Detail = BIOSRegistry, ""
		p.set(why)
		return
	}
	registries := getList(p, p.root.value.Registries, false)
	if !registries.read() {
		p.set(registries.missing(BIOSRegistry, "Registries of the service root"))
		return
	}
	var paths []string
	for _, member := range links[struct{}](registries.value.members) {
		paths = append(paths, member.path)
	}
	found := chooseRegistry(p.report.BIOS.Registry, paths)
	switch {
	case found != "":
		p.report.BIOS.RegistryPath = local(found)
		p.set(yes(BIOSRegistry, path.Base(found), registries.path))
	case len(paths) < registries.value.total:
		p.set(unknown(BIOSRegistry, at(registries.path, "not among those that were read")))
	case p.report.BIOS.Registry == "":
		p.set(no(BIOSRegistry, at(registries.path, "the BIOS names no registry, and none is called after it")))
	default:
		p.set(no(BIOSRegistry, at(registries.path, fmt.Sprintf("no registry is called %q", p.report.BIOS.Registry))))
	}
}

// chooseRegistry finds the registry with a name: the same, else one of another
// version, as services mix them up; where the BIOS names none, the one that is
// called after it.
func chooseRegistry(name string, paths []string) string {
	name = strings.ToLower(name)
	family, _, _ := strings.Cut(name, ".")
	best, score := "", 0
	for _, candidate := range paths {
		id := strings.ToLower(path.Base(strings.TrimRight(candidate, "/")))
		idFamily, _, _ := strings.Cut(id, ".")
		s := 0
		switch {
		case name != "" && id == name:
			s = 3
		case name != "" && idFamily == family:
			s = 2
		case name == "" && strings.Contains(idFamily, "bios") && strings.Contains(idFamily, "attribute"):
			s = 1
		}
		if s > score {
			best, score = candidate, s
		}
	}
	return best
}
