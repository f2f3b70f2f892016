package main

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/ironflow/ironflow/api/commands/settings"
	"github.com/ironflow/ironflow/api/config/v1alpha1"
	"github.com/ironflow/ironflow/hub/pki"
	"github.com/ironflow/ironflow/imagecustomization/configured"
	"github.com/ironflow/ironflow/imagecustomization/media"
	"github.com/ironflow/ironflow/imagecustomization/serving"
	testmedia "github.com/ironflow/ironflow/test/media"
)

// What images are made of is looked at every minute: a change reaches all of them,
// and none reaches nobody.
func TestChangedMediaAndFilesReachTheImages(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) func(*WithT) {
		return func(g *WithT) {
			g.Expect(os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)).To(Succeed())
		}
	}
	iso := func(name string, size int) func(*WithT) {
		return func(g *WithT) {
			g.Expect(testmedia.WriteFile(filepath.Join(dir, "bases", name), testmedia.Options{RootfsBytes: size})).To(Succeed())
		}
	}
	for _, c := range []struct {
		name   string
		change func(*WithT)
		want   bool
	}{
		{"nothing", func(*WithT) {}, false},
		{"another medium", iso("b.iso", 2<<20), true},
		{"one medium less", func(g *WithT) { g.Expect(os.Remove(filepath.Join(dir, "bases", "b.iso"))).To(Succeed()) }, true},
		{"a medium that is written anew", iso("a.iso", 3<<20), true},
		{"a key for the live system", write("keys", "ssh-ed25519 AAAA somebody"), true},
		{"the same key again", write("keys", "ssh-ed25519 AAAA somebody"), false},
		{"Ironic's CA", write("ironic.crt", "other"), true},
		{"the hub's CA", write("hub.crt", "other"), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(os.MkdirAll(filepath.Join(dir, "bases"), 0o700)).To(Succeed())
			for _, file := range []string{"keys", "ironic.crt", "hub.crt"} {
				if _, err := os.Stat(filepath.Join(dir, file)); err != nil {
					write(file, "first")(g)
				}
			}
			if _, err := os.Stat(filepath.Join(dir, "bases", "a.iso")); err != nil {
				iso("a.iso", 1<<20)(g)
			}
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				registry, err := media.Open(t.Context(), filepath.Join(dir, "bases"), media.Options{})
				g.Expect(err).NotTo(HaveOccurred())
				p := &imagePart{program: &program{
					cert: pki.Files{CA: filepath.Join(dir, "hub.crt")},
					settings: with(func(c *v1alpha1.IronflowConfiguration) {
						c.LiveSystem.IronicCAFile, c.LiveSystem.SSHKeyFile = filepath.Join(dir, "ironic.crt"), filepath.Join(dir, "keys")
					}),
				}}
				p.images = &imageParts{Service: serving.New(serving.Options{Media: registry, Registerer: prometheus.NewRegistry(), Log: logr.Discard()})}
				p.images.Settings = p.liveSettings
				go p.images.FollowBases(t.Context())
				synctest.Wait()
				g.Expect(p.images.Changed).NotTo(Receive(), "the start is no change")
				c.change(g)
				<-time.After(serving.Rescan + time.Second)
				if c.want {
					g.Expect(p.images.Changed).To(Receive())
					g.Expect(p.images.ChangedForEnvs).To(Receive(), "what a network needs may be there now")
				}
				<-time.After(10 * serving.Rescan)
				g.Expect(p.images.Changed).NotTo(Receive(), "once")
				g.Expect(p.images.ChangedForEnvs).NotTo(Receive(), "once")
			})
		})
	}
}

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
		p := &program{settings: with(func(s *v1alpha1.IronflowConfiguration) { s.LiveSystem.Nmstatectl = c.said }), images: &imageParts{Service: &serving.Service{Media: registry}}}
		live := p.liveSystem(t.Context(), c.arch, "")
		g.Expect(live.Nmstatectl).To(Equal(c.want), "%+v", c)
		g.Expect(live.Why).To(ContainSubstring(c.why))
	}
}

// TestTheHubAloneIsToldOfTheLiveSystem: it has no base images, and says so with the flag that
// tells it; without that, a condition of InfraEnvs would name hosts that boot with DHCP though
// the image server gives them their networks.
func TestTheHubAloneIsToldOfTheLiveSystem(t *testing.T) {
	g := NewWithT(t)
	live := (&program{}).liveSystem(t.Context(), "x86_64", "")
	g.Expect(live.Nmstatectl).To(BeFalse())
	g.Expect(live.Why).To(ContainSubstring("--live-nmstatectl=always"))
	g.Expect(settings.Only((&hubPart{new(program)}).Flags(), "live-nmstatectl")).To(HaveLen(1))
	s := with(func(c *v1alpha1.IronflowConfiguration) { c.LiveSystem.Nmstatectl = "true" })
	g.Expect((&hubPart{&program{settings: s}}).Check()).To(MatchError(ContainSubstring("neither auto, always nor never")))
}
