package probe

import (
	"slices"
	"strings"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/lenient"
)

// boot judges what the system says of booting. Where the system shows no URL for
// HTTP boot, the object for its pending settings may.
func (p *probe) boot() {
	s := p.system
	var pending found[system]
	if s.value.Boot.Set && !bool(s.value.Boot.Value.HTTPBootURI) {
		pending = get[system](p, s.value.Settings.SettingsObject)
	}
	p.set(bootOnce(s), bootOrder(s, pending), httpBoot(s, pending), bootProgress(s))
}

// bootOnce judges the boot override. Vendors that list no kinds take Once; those
// that list them without it do not.
func bootOnce(s found[system]) v1alpha1.Capability {
	b := s.value.Boot.Value
	proof := at(s.path, "Boot.BootSourceOverrideEnabled, BootSourceOverrideTarget")
	switch {
	case !bool(b.Target) || !bool(b.Enabled):
		return no(BootOnce, at(s.path, "Boot has no override"))
	case b.EnabledValues.Set && !contains(b.EnabledValues, "Once"):
		return no(BootOnce, at(s.path, "BootSourceOverrideEnabled takes only "+joined(b.EnabledValues.Value)))
	case !b.TargetValues.Set:
		return unknown(BootOnce, at(s.path, "the targets are not listed"))
	case !contains(b.TargetValues, "Cd") && !contains(b.TargetValues, "UsbCd"):
		return no(BootOnce, at(s.path, "no CD among the targets "+joined(b.TargetValues.Value)))
	}
	return yes(BootOnce, joined(b.TargetValues.Value), proof)
}

// bootOrder judges the lasting order, and says where it is written.
func bootOrder(s, pending found[system]) v1alpha1.Capability {
	b := s.value.Boot.Value
	if !b.BootOrder.Set && b.BootOptions.Path == "" {
		return no(BootOrder, at(s.path, "Boot has neither BootOrder nor BootOptions"))
	}
	where := s.path
	if object := s.value.Settings.SettingsObject.Path; object != "" && (!pending.read() || pending.value.Boot.Set) {
		where = object
	}
	return yes(BootOrder, "written to "+where, at(s.path, "Boot.BootOrder, BootOptions"))
}

func httpBoot(s, pending found[system]) v1alpha1.Capability {
	b := s.value.Boot.Value
	switch {
	case !bool(b.Target):
		return no(HTTPBoot, at(s.path, "Boot has no override"))
	case !b.TargetValues.Set:
		return unknown(HTTPBoot, at(s.path, "the targets are not listed"))
	case !contains(b.TargetValues, "UefiHttp"):
		return no(HTTPBoot, at(s.path, "no UefiHttp among the targets "+joined(b.TargetValues.Value)))
	case bool(b.HTTPBootURI):
		return yes(HTTPBoot, "", at(s.path, "UefiHttp and HttpBootUri"))
	case pending.read() && bool(pending.value.Boot.Value.HTTPBootURI):
		return yes(HTTPBoot, "", at(pending.path, "UefiHttp and HttpBootUri"))
	}
	return unknown(HTTPBoot, at(s.path, "UefiHttp is a target, and nothing shows HttpBootUri"))
}

func bootProgress(s found[system]) v1alpha1.Capability {
	for _, hp := range []systemOfHPE{s.value.Oem.Hpe, s.value.Oem.Hp} {
		if hp.PostState != "" {
			return yes(BootProgress, string(hp.PostState), at(s.path, "Oem PostState"))
		}
	}
	if progress := s.value.BootProgress; progress.Set {
		return yes(BootProgress, string(progress.Value.LastState), at(s.path, "BootProgress.LastState"))
	}
	return no(BootProgress, at(s.path, "there is no BootProgress"))
}

// secureBoot reads whether secure boot can be switched.
func (p *probe) secureBoot() {
	p.set(judgeSecureBoot(get[secureBoot](p, p.system.value.SecureBoot)))
}

func judgeSecureBoot(f found[secureBoot]) v1alpha1.Capability {
	switch {
	case !f.read():
		return f.missing(SecureBoot, "SecureBoot of the system")
	case !f.value.SecureBootEnable.Set:
		return unknown(SecureBoot, at(f.path, "SecureBootEnable is not there, or null"))
	}
	state := "off"
	if f.value.SecureBootEnable.Value {
		state = "on"
	}
	detail := state + parenthesis(string(f.value.SecureBootCurrentBoot)+" in this boot", f.value.SecureBootCurrentBoot != "") +
		parenthesis(string(f.value.SecureBootMode), f.value.SecureBootMode != "")
	return yes(SecureBoot, detail, at(f.path, "SecureBootEnable"))
}

func parenthesis(text string, there bool) string {
	if !there {
		return ""
	}
	return ", " + text
}

// contains looks a value up without regard to case.
func contains(values texts, want string) bool {
	return slices.ContainsFunc(values.Value, func(v lenient.String) bool { return strings.EqualFold(string(v), want) })
}

func joined(values lenient.List[lenient.String]) string {
	return strings.Join(plain(values), ", ")
}

// mostValues bounds the lists that a report takes over.
const mostValues = 64

// plain are the values of a list as texts, without empty ones.
func plain(values lenient.List[lenient.String]) []string {
	out := make([]string, 0, min(len(values), mostValues))
	for _, v := range values {
		if text := bounded(string(v)); text != "" && len(out) < mostValues {
			out = append(out, text)
		}
	}
	return out
}

// set are the values of a list in lower case or as they are, each once, sorted.
func distinct(values []string) []string {
	out := slices.Clone(values)
	slices.Sort(out)
	return slices.Compact(out)
}
