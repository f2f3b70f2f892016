package hubimages

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/imagecustomization/media"
)

func TestAddressesOfAnInfraEnvsImage(t *testing.T) {
	const id = "11111111-1111-4111-8111-111111111111"
	for name, c := range map[string]struct {
		server, token string
		kind          wire.ImageType
		iso, problem  string
	}{
		"with a token":    {"http://192.0.2.1:8080", "ifi1.x", wire.ImageTypeFullISO, "http://192.0.2.1:8080/bytoken/ifi1.x/38.1/aarch64/full.iso", ""},
		"without":         {"http://192.0.2.1:8080", "", wire.ImageTypeFullISO, "http://192.0.2.1:8080/byid/" + id + "/38.1/aarch64/full.iso", ""},
		"a minimal image": {"http://192.0.2.1:8080", "ifi1.x", wire.ImageTypeMinimalISO, "http://192.0.2.1:8080/bytoken/ifi1.x/38.1/aarch64/minimal.iso", ""},
		"too long":        {"http://" + strings.Repeat("a", 250) + ".example", "ifi1.x", wire.ImageTypeFullISO, "", "shorter --images-publish-url"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			urls, err := addresses(c.server, wire.InfraEnv{ID: id, Type: c.kind}, c.token, "aarch64", "38.1")
			if c.problem != "" {
				g.Expect(err).To(MatchError(ContainSubstring(c.problem)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(urls.ISO).To(Equal(c.iso))
			g.Expect(urls.Initrd).To(HavePrefix(c.server + "/images/" + id + "/pxe-initrd?arch=aarch64"))
			g.Expect(urls.Rootfs).NotTo(ContainSubstring("ifi1"), "files of the medium are open to everybody")
		})
	}
	g := NewWithT(t)
	apart := func() *media.Registry { return nil }
	urls, err := URLs("http://192.0.2.1:8080", apart)(wire.InfraEnv{ID: id}, "")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(urls.ISO).To(HaveSuffix("/newest/x86_64/full.iso"), "a hub that runs apart knows no media")
	g.Expect(URLs("http://", apart)).To(BeNil())
}
