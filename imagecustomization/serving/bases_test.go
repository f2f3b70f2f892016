package serving

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/ironflow/ironflow/imagecustomization/media"
	testmedia "github.com/ironflow/ironflow/test/media"
)

// TestImagesAreMadeAnewWhenTheirMediumIsAnother: until then the image server answers with 503.
func TestImagesAreMadeAnewWhenTheirMediumIsAnother(t *testing.T) {
	for name, c := range map[string]struct {
		change func(g *WithT, path string)
		told   bool
	}{
		"nothing": {func(*WithT, string) {}, false},
		"other bytes": {func(g *WithT, path string) {
			g.Expect(testmedia.WriteFile(path, testmedia.Options{RootfsBytes: 2 << 20})).To(Succeed())
		}, true},
		"a file that was only touched, or restored": {func(g *WithT, path string) {
			g.Expect(os.Chtimes(path, time.Time{}, time.Unix(1, 0))).To(Succeed())
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, path := NewWithT(t), filepath.Join(t.TempDir(), "live.iso")
				g.Expect(testmedia.WriteFile(path, testmedia.Options{RootfsBytes: 1 << 20})).To(Succeed())
				registry, err := media.Open(t.Context(), path, media.Options{})
				g.Expect(err).NotTo(HaveOccurred())
				s := New(Options{Media: registry, Registerer: prometheus.NewRegistry(), Log: logr.Discard()})
				go s.FollowBases(t.Context())
				synctest.Wait()
				c.change(g, path)
				<-time.After(Rescan + time.Second)
				synctest.Wait()
				g.Expect(len(s.Changed) == 1).To(Equal(c.told))
				g.Expect(len(s.ChangedForEnvs) == 1).To(Equal(c.told))
			})
		})
	}
}
