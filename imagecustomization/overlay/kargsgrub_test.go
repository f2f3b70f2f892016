package overlay_test

import (
	"bytes"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/imagecustomization/overlay"
	coreosiso "github.com/ironflow/ironflow/test/fixtures/coreos-iso"
)

// TestArgumentsThatGRUBReadsAsItsOwn: grub-script-check takes none of these, or GRUB hands
// something else to the kernel. A machine with such a menu does not boot.
func TestArgumentsThatGRUBReadsAsItsOwn(t *testing.T) {
	m, mainframe := media(t, coreosiso.Read(t, "2023-07.x86_64")), media(t, coreosiso.Read(t, "2023-07.s390x"))
	for arg, taken := range map[string]bool{
		"ignition.config.url=http://a.example/?mac=1&uuid=2": false, "a=1;reboot": false, "a|b": false, "a>b": false, "a<b": false,
		"pw=$6$salt$hash": false, `path=c:\d`: false, "a='b'": false, `a="b`: false, "{": false, "a}": false, "#a": false, "[[": false,
		`a="b"`: true, `a="b&c"`: true, `a="$b"`: false, "a#b": true, "a=~*[b]!(c),d:e@f%2B^g?": true,
	} {
		t.Run(arg, func(t *testing.T) {
			g := NewWithT(t)
			for _, edit := range []overlay.KargsEdit{{Append: []string{arg}}, operations(overlay.KargAppend, arg)} {
				image, err := overlay.Customize(m, overlay.Options{Kargs: edit})
				if !taken {
					g.Expect(err).To(MatchError(And(ContainSubstring("which GRUB reads as a part of its script (EFI/fedora/grub.cfg)"), ContainSubstring("boot over the network"))))
					continue
				}
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(m.Layout.Kargs.Read(bytes.NewReader(content(t, image)))).To(HaveSuffix(" " + arg))
			}
			_, err := overlay.Customize(mainframe, overlay.Options{Kargs: overlay.KargsEdit{Append: []string{arg}}})
			g.Expect(err).NotTo(HaveOccurred(), "no GRUB there")
		})
	}
}

// TestArgumentsThatAreThereAlready stay, whoever wrote them.
func TestArgumentsThatAreThereAlready(t *testing.T) {
	g, raw := NewWithT(t), coreosiso.Read(t, "2023-07.x86_64")
	m := media(t, raw)
	foreign := []byte(m.Layout.Kargs.Default + ` dyndbg="file a +p"` + "\n")
	for _, area := range m.Layout.Kargs.Areas {
		copy(raw[area.Offset:], foreign)
	}
	m = media(t, raw)
	_, err := overlay.SetKargs(m, m.Layout.Kargs.Default+` dyndbg="file a +p" more=1`)
	g.Expect(err).NotTo(HaveOccurred())
}
