package images_test

import (
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/imagecustomization/images"
	"github.com/ironflow/ironflow/imagecustomization/media"
	coreosiso "github.com/ironflow/ironflow/test/fixtures/coreos-iso"
)

// text is what an address gives, "" when it gives nothing.
func text(g *WithT, s *images.Store, address string) string {
	r := lookup(s, address)
	if r == nil {
		return ""
	}
	raw, err := io.ReadAll(r.Image.Reader())
	g.Expect(err).NotTo(HaveOccurred())
	return string(raw)
}

// ask follows the redirect script as iPXE does on a card with that address.
func ask(g *WithT, s *images.Store, mac string) string {
	next := regexp.MustCompile(`(?m)^chain --replace (\S+) \|\|$`).FindStringSubmatch(text(g, s, s.RedirectURL()))
	g.Expect(next).To(HaveLen(2))
	return text(g, s, strings.Replace(next[1], "${netX/mac:hexhyp}", mac, 1))
}

func TestRedirectFindsTheHostByItsCard(t *testing.T) {
	g := NewWithT(t)
	all, disk := openMedia(t), map[string]bool{}
	s := open(t, images.Options{Media: all, BootsDisk: func(key string) bool { return disk[key] }})
	put := func(name string, macs ...string) string {
		sp := spec(name, "config of "+name)
		sp.Format, sp.MACs = images.FormatInitrd, macs
		b, err := s.Put(t.Context(), sp)
		g.Expect(err).NotTo(HaveOccurred())
		return text(g, s, b.ScriptURL)
	}
	one := put("one", "52:54:00:AA:00:01", "52:54:00:aa:00:02")
	two := put("two", "52:54:00:aa:00:03")
	g.Expect(one).NotTo(BeEmpty())
	g.Expect(ask(g, s, "52-54-00-aa-00-01")).To(Equal(one))
	g.Expect(ask(g, s, "52-54-00-aa-00-02")).To(Equal(one))
	g.Expect(ask(g, s, "52-54-00-aa-00-03")).To(Equal(two))
	g.Expect(ask(g, s, "52-54-00-aa-00-09")).To(BeEmpty(), "nobody's card")

	disk["metal/two"] = true
	g.Expect(ask(g, s, "52-54-00-aa-00-03")).To(BeEmpty(), "an installed host starts its disk")
	disk["metal/two"] = false
	put("three", "52:54:00:aa:00:03")
	g.Expect(ask(g, s, "52-54-00-aa-00-03")).To(BeEmpty(), "two hosts with one address")
	g.Expect(s.Remove("metal/three")).To(Succeed())
	g.Expect(ask(g, s, "52-54-00-aa-00-03")).To(Equal(two))

	again := open(t, images.Options{Media: all})
	g.Expect(again.RedirectURL()).To(Equal(s.RedirectURL()), "a DHCP server is configured once")
	for _, foreign := range []string{"/images/" + strings.Repeat("A", 22) + "/boot-52-54-00-aa-00-01.ipxe", strings.TrimSuffix(s.RedirectURL(), ".ipxe"), s.RedirectURL() + "x"} {
		g.Expect(lookup(s, foreign)).To(BeNil(), foreign)
	}
}

func TestMainframesGetTheirList(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "live.s390x.iso")
	g.Expect(os.WriteFile(path, coreosiso.Read(t, "2023-07.s390x"), 0o600)).To(Succeed())
	registry, err := media.Open(t.Context(), path, media.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	s := open(t, images.Options{Media: registry})
	sp := spec("host", "{}")
	sp.Arch, sp.Format = "s390x", images.FormatInitrd
	b, err := s.Put(t.Context(), sp)
	g.Expect(err).NotTo(HaveOccurred())
	size := text(g, s, b.AddrSizeURL)
	g.Expect(size).To(HaveLen(16))
	g.Expect(binary.BigEndian.Uint64([]byte(size[:8]))).To(BeEquivalentTo(0x02000000))
	g.Expect(binary.BigEndian.Uint64([]byte(size[8:]))).To(BeEquivalentTo(b.SizeBytes), "with the host's own archive")
	g.Expect(text(g, s, b.InsURL)).To(ContainSubstring("images/initrd.addrsize"))

	sp.Format, sp.Ignition = images.FormatISO, incompressible(300<<10)
	_, err = s.Put(t.Context(), sp)
	g.Expect(err).To(MatchError(And(ContainSubstring("do not fit into the area of 262144 bytes"), ContainSubstring("cannot be moved"))))
}

// incompressible returns n bytes that no compression shortens.
func incompressible(n int) []byte {
	out, state := make([]byte, n), uint32(1)
	for i := range out {
		state = state*1664525 + 1013904223
		out[i] = byte(state >> 24)
	}
	return out
}
