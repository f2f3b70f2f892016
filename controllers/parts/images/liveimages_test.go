package images

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/ironflow/ironflow/api/config/v1alpha1"
	"github.com/ironflow/ironflow/controllers/parts"
	"github.com/ironflow/ironflow/hub/pki"
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
				p := &Part{Program: &parts.Program{
					Cert: pki.Files{CA: filepath.Join(dir, "hub.crt")},
					Settings: with(func(c *v1alpha1.IronflowConfiguration) {
						c.LiveSystem.IronicCAFile, c.LiveSystem.SSHKeyFile = filepath.Join(dir, "ironic.crt"), filepath.Join(dir, "keys")
					}),
				}}
				p.served = &Server{Service: serving.New(serving.Options{Media: registry, Registerer: prometheus.NewRegistry(), Log: logr.Discard()})}
				p.served.Settings = p.liveSettings
				go p.served.FollowBases(t.Context())
				synctest.Wait()
				g.Expect(p.served.Changed).NotTo(Receive(), "the start is no change")
				c.change(g)
				<-time.After(serving.Rescan + time.Second)
				if c.want {
					g.Expect(p.served.Changed).To(Receive())
					g.Expect(p.served.ChangedForEnvs).To(Receive(), "what a network needs may be there now")
				}
				<-time.After(10 * serving.Rescan)
				g.Expect(p.served.Changed).NotTo(Receive(), "once")
				g.Expect(p.served.ChangedForEnvs).NotTo(Receive(), "once")
			})
		})
	}
}

// with is a configuration with just that set.
func with(set func(*v1alpha1.IronflowConfiguration)) (c v1alpha1.IronflowConfiguration) {
	set(&c)
	return c
}
