package images

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

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
