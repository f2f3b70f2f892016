package hub

import (
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/commands/settings"
	"github.com/ironflow/ironflow/api/config/v1alpha1"
	"github.com/ironflow/ironflow/controllers/parts"
	"github.com/ironflow/ironflow/imagecustomization/configured"
	"github.com/ironflow/ironflow/imagecustomization/media"
	testmedia "github.com/ironflow/ironflow/test/media"
)

// What is passed on to nmstatectl depends on the base image, or on what somebody says.
func TestWhatIsKnownOfALiveSystem(t *testing.T) {
	dir := t.TempDir()
	g := NewWithT(t)
	for name, label := range map[string]string{"new.x86_64.iso": "fedora-coreos-42.20260101.0.0", "old.aarch64.iso": "rhcos-414.92.202310170514-0"} {
		g.Expect(testmedia.WriteFile(filepath.Join(dir, name), testmedia.Options{RootfsBytes: 1 << 20, VolumeID: label})).To(Succeed())
	}
	registry, err := media.Open(t.Context(), dir, media.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	for _, c := range []struct {
		said, arch string
		want       bool
		why        string
	}{
		{configured.NmstatectlAuto, "x86_64", true, "fedora-coreos-42"},
		{configured.NmstatectlAuto, "aarch64", false, "rhcos-414"},
		{configured.NmstatectlAuto, "s390x", false, "no base image fits"},
		{configured.NmstatectlAlways, "aarch64", true, "always"},
		{configured.NmstatectlNever, "x86_64", false, "never"},
	} {
		s := v1alpha1.IronflowConfiguration{LiveSystem: v1alpha1.LiveSystem{Nmstatectl: c.said}}
		live := Live(&s, func() *media.Registry { return registry })(t.Context(), c.arch, "")
		g.Expect(live.Nmstatectl).To(Equal(c.want), "%+v", c)
		g.Expect(live.Why).To(ContainSubstring(c.why))
	}
}

// TestTheHubAloneIsToldOfTheLiveSystem: it has no base images, and says so with the flag that
// tells it; without that, a condition of InfraEnvs would name hosts that boot with DHCP though
// the image server gives them their networks.
func TestTheHubAloneIsToldOfTheLiveSystem(t *testing.T) {
	g := NewWithT(t)
	live := Live(&v1alpha1.IronflowConfiguration{}, (&Part{}).Bases)(t.Context(), "x86_64", "")
	g.Expect(live.Nmstatectl).To(BeFalse())
	g.Expect(live.Why).To(ContainSubstring("--live-nmstatectl=always"))
	g.Expect(settings.Only((&Part{Program: new(parts.Program)}).Flags(), "live-nmstatectl")).To(HaveLen(1))
	s := v1alpha1.IronflowConfiguration{LiveSystem: v1alpha1.LiveSystem{Nmstatectl: "true"}}
	g.Expect((&Part{Program: &parts.Program{Settings: s}}).Check()).To(MatchError(ContainSubstring("neither auto, always nor never")))
}
