package images

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/ironflow/ironflow/api/config/v1alpha1"
	"github.com/ironflow/ironflow/controllers/parts"
	mediapkg "github.com/ironflow/ironflow/imagecustomization/media"
	"github.com/ironflow/ironflow/imagecustomization/serving"
	"github.com/ironflow/ironflow/test/media"
)

// TestReadyOnceThereIsABaseImage: an empty folder is not silent, a folder that is emptied later stops no installation, and
// downloads are not waited for.
func TestReadyOnceThereIsABaseImage(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	registry, err := mediapkg.Open(t.Context(), dir, mediapkg.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	p := &Part{Program: &parts.Program{Settings: with(func(c *v1alpha1.IronflowConfiguration) { c.Images.BaseImage = dir })}, served: &Server{Service: &serving.Service{Media: registry}}}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "/readyz", http.NoBody)
	g.Expect(err).NotTo(HaveOccurred())
	ready := p.hasBase()
	g.Expect(ready(request)).To(MatchError(And(ContainSubstring("there is none in "+dir+", so no host gets a live image"), ContainSubstring("--base-image-list"))))

	iso := filepath.Join(dir, "live.x86_64.iso")
	g.Expect(media.WriteFile(iso, media.Options{RootfsBytes: 1 << 20})).To(Succeed())
	g.Expect(registry.Rescan(t.Context())).To(Succeed())
	g.Expect(ready(request)).To(Succeed())
	g.Expect(os.Remove(iso)).To(Succeed())
	g.Expect(registry.Rescan(t.Context())).To(Succeed())
	g.Expect(ready(request)).To(Succeed(), "installations that have begun need the hub")
	g.Expect(p.hasBase()(request)).NotTo(Succeed(), "a new replica has had none")

	p.Settings.Images.BaseImageList = "/etc/ironflow/base-images.yaml"
	g.Expect(p.hasBase()(request)).To(Succeed(), "they are downloaded")
}

// TestNotReadyOnceADownloadHasFailed: a URL that is wrong is said by the pod, and by `ironflow check` beside it.
func TestNotReadyOnceADownloadHasFailed(t *testing.T) {
	g := NewWithT(t)
	origin := httptest.NewServer(http.NotFoundHandler())
	defer origin.Close()
	dir, list := t.TempDir(), filepath.Join(t.TempDir(), "list.yaml")
	text := "images: [{url: \"" + origin.URL + "/live.iso\", sha256: \"" + strings.Repeat("1f", 32) + "\"}]"
	g.Expect(os.WriteFile(list, []byte(text), 0o600)).To(Succeed())
	registry, err := mediapkg.Open(t.Context(), dir, mediapkg.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	mirror := &mediapkg.Mirror{File: list, Dir: dir, Registry: registry}
	settings := with(func(c *v1alpha1.IronflowConfiguration) { c.Images.BaseImage, c.Images.BaseImageList = dir, list })
	service := serving.New(serving.Options{Media: registry, Mirror: mirror, Registerer: prometheus.NewRegistry()})
	p := &Part{Program: &parts.Program{Settings: settings}, served: &Server{Service: service}}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "/readyz", http.NoBody)
	g.Expect(err).NotTo(HaveOccurred())
	ready := p.hasBase()
	g.Expect(ready(request)).To(Succeed(), "nothing has been tried yet")
	g.Expect(mirror.Sync(t.Context())).NotTo(Succeed())
	g.Expect(ready(request)).To(MatchError(And(ContainSubstring("/live.iso"), ContainSubstring("404"), ContainSubstring("SHA-256"))))
	beside, err := LookAtMedia(t.Context(), &settings)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(beside.Failed).To(ConsistOf(ContainSubstring("404")))

	g.Expect(media.WriteFile(filepath.Join(dir, "own.x86_64.iso"), media.Options{RootfsBytes: 1 << 20})).To(Succeed())
	g.Expect(registry.Rescan(t.Context())).To(Succeed())
	g.Expect(ready(request)).To(Succeed(), "there is another one")
	g.Expect(os.WriteFile(list, []byte("images: []"), 0o600)).To(Succeed())
	g.Expect(mirror.Sync(t.Context())).To(Succeed())
	beside, err = LookAtMedia(t.Context(), &settings)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(beside.Failed).To(BeEmpty())
}
