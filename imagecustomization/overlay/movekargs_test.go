package overlay_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/imagecustomization/embedarea"
	"github.com/ironflow/ironflow/imagecustomization/iso"
	"github.com/ironflow/ironflow/imagecustomization/overlay"
	coreosiso "github.com/ironflow/ironflow/test/fixtures/coreos-iso"
	"github.com/ironflow/ironflow/test/liveimage"
)

// longKargs are arguments that fill n bytes, with the default in front.
func longKargs(t testing.TB, m overlay.Media, n int) (edit overlay.KargsEdit, all string) {
	t.Helper()
	word := "a=" + strings.Repeat("0123456789", 300)
	word = word[:n-len(m.Layout.Kargs.Default)-1]
	return overlay.KargsEdit{Append: []string{word}}, m.Layout.Kargs.Default + " " + word
}

// What does not fit into the areas moves behind the end, together with all that
// names the areas; other tools find it there, and a reset takes it back.
func TestKargsThatAreLongerThanTheirAreas(t *testing.T) {
	for _, name := range []string{"2022-09", "2023-07.x86_64"} {
		for what, config := range map[string][]byte{"alone": nil, "with a config": []byte("{}"), "with a config that moves, too": noise(900_000)} {
			t.Run(name+" "+what, func(t *testing.T) {
				g := NewWithT(t)
				base := coreosiso.Read(t, name)
				m := media(t, base)
				edit, want := longKargs(t, m, overlay.MaxKargs)
				image, err := overlay.Customize(m, overlay.Options{Content: embedarea.Content{Ignition: config}, Kargs: edit})
				g.Expect(err).NotTo(HaveOccurred())
				raw := content(t, image)
				g.Expect(len(raw)%2048).To(BeZero(), "whole sectors")
				moved := media(t, raw)
				k := moved.Layout.Kargs
				g.Expect(k.Read(bytes.NewReader(raw))).To(Equal(want))
				g.Expect(k.Default).To(Equal(m.Layout.Kargs.Default))
				for i, a := range k.Areas {
					g.Expect(a.Offset).To(BeNumerically(">=", len(base)))
					g.Expect(a.Length).To(BeEquivalentTo(2048))
					g.Expect(moved.Layout.File(a.Path).JolietRecord).NotTo(BeZero(), "it is in the same place in both trees")
					// Around the area, each configuration is what it was.
					was := m.Layout.Kargs.Areas[i]
					before, after := fileOf(t, m, was.Path), fileOf(t, moved, a.Path)
					at := was.Offset - m.Layout.File(was.Path).Offset
					g.Expect(after[:at]).To(Equal(before[:at]))
					g.Expect(after[at+a.Length:]).To(Equal(before[at+was.Length:]))
					g.Expect(string(after[at+a.Length:])).To(HavePrefix(iso.Marker))
				}
				g.Expect(moved.Layout.Joliet.Blocks).To(Equal(moved.Layout.Primary.Blocks))
				if config != nil {
					g.Expect(liveimage.Ignition(bytes.NewReader(raw), int64(len(raw)))).To(Equal(config))
				}
				reset, err := overlay.Reset(moved)
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(bytes.Equal(content(t, reset), base)).To(BeTrue())
			})
		}
	}
}

func fileOf(t testing.TB, m overlay.Media, path string) []byte {
	t.Helper()
	image, err := overlay.Artifact(m, path)
	if err != nil {
		t.Fatal(err)
	}
	return content(t, image)
}

// An image may be customized again: with shorter arguments, with a config that
// makes the area move later, and back.
func TestKargsOfAMovedAreaAreEdited(t *testing.T) {
	g, base := NewWithT(t), coreosiso.Read(t, "2023-07.x86_64")
	m := media(t, base)
	_, long := longKargs(t, m, overlay.MaxKargs)
	step := func(image *overlay.Image, err error) overlay.Media {
		t.Helper()
		g.Expect(err).NotTo(HaveOccurred())
		return media(t, content(t, image))
	}
	m = step(overlay.SetKargs(m, long))
	size := m.Size()
	m = step(overlay.SetKargs(m, "a=1"))
	g.Expect(m.Size()).To(Equal(size))
	g.Expect(m.Layout.Kargs.Read(m)).To(Equal("a=1"))
	m = step(overlay.Customize(m, overlay.Options{Content: embedarea.Content{Ignition: noise(900_000)}}))
	m = step(overlay.Customize(m, overlay.Options{Content: embedarea.Content{Ignition: noise(2_900_000)}}))
	m = step(overlay.SetKargs(m, long))
	g.Expect(liveimage.Ignition(m, m.Size())).To(Equal(noise(2_900_000)))
	g.Expect(bytes.Equal(content(t, func() *overlay.Image {
		image, err := overlay.Reset(m)
		g.Expect(err).NotTo(HaveOccurred())
		return image
	}()), base)).To(BeTrue())
}

// A description of the areas that other tools read stays whole.
func TestKargsFileOfAMovedArea(t *testing.T) {
	g := NewWithT(t)
	m := media(t, coreosiso.Read(t, "2023-07.x86_64"))
	_, long := longKargs(t, m, overlay.MaxKargs)
	image, err := overlay.SetKargs(m, long)
	g.Expect(err).NotTo(HaveOccurred())
	var was, is map[string]any
	g.Expect(json.Unmarshal(fileOf(t, m, "coreos/kargs.json"), &was)).To(Succeed())
	g.Expect(json.Unmarshal(fileOf(t, media(t, content(t, image)), "coreos/kargs.json"), &is)).To(Succeed())
	g.Expect(is).To(HaveKeyWithValue("size", 2048.0))
	was["size"] = is["size"]
	g.Expect(is).To(Equal(was))
}

func TestKargsThatFitNowhere(t *testing.T) {
	cases := []struct {
		medium string
		bytes  int
		want   string
	}{
		{"2023-07.x86_64", overlay.MaxKargs + 1, "kernels take no more than 1920"},
		{"2023-07.s390x", 1000, "images/cdboot.img is no configuration file"},
		{"2021-12", 1500, "before 2022"},
		{"2021-01", 1500, "before 2022"},
	}
	for _, tc := range cases {
		t.Run(tc.medium, func(t *testing.T) {
			g := NewWithT(t)
			m := media(t, coreosiso.Read(t, tc.medium))
			edit, _ := longKargs(t, m, tc.bytes)
			_, err := overlay.Customize(m, overlay.Options{Kargs: edit})
			g.Expect(err).To(MatchError(overlay.ErrKargsTooLong))
			g.Expect(err).To(MatchError(And(ContainSubstring(tc.want), ContainSubstring("takes at most"))))
		})
	}
}

// What another version has moved is not taken for an untouched medium.
func TestNotesOfOtherVersions(t *testing.T) {
	g, raw := NewWithT(t), coreosiso.Read(t, "2023-07.x86_64")
	area, _, _ := media(t, raw).Layout.Primary.ApplicationArea()
	copy(raw[area.Offset:], "IRONFLOW-AREA-1\x00")
	_, err := overlay.Reset(media(t, raw))
	g.Expect(err).To(MatchError(ContainSubstring("another version")))
	_, err = overlay.Customize(media(t, raw), overlay.Options{Content: embedarea.Content{Ignition: noise(900_000)}})
	g.Expect(err).To(MatchError(ContainSubstring("another version")))
}

// The note in the volume descriptor is untrusted, as all of a medium.
func FuzzReset(f *testing.F) {
	m := media(f, coreosiso.Read(f, "2023-07.x86_64"))
	_, long := longKargs(f, m, overlay.MaxKargs)
	image, err := overlay.SetKargs(m, long)
	if err != nil {
		f.Fatal(err)
	}
	raw := content(f, image)
	area, _, _ := m.Layout.Primary.ApplicationArea()
	f.Add(raw[area.Offset:area.End()])
	f.Fuzz(func(t *testing.T, noted []byte) {
		b := overlay.NewBuilder(liveimage.Memory(raw))
		b.Bytes(area.Offset, append(noted, make([]byte, area.Length)...)[:area.Length])
		image, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		layout, err := iso.Parse(image, image.Size())
		if err != nil {
			t.Fatal(err)
		}
		reset, err := overlay.Reset(overlay.Media{Source: image, Layout: layout})
		if err == nil && reset.Size() > image.Size() {
			t.Fatalf("a reset makes %d bytes out of %d", reset.Size(), image.Size())
		}
	})
}
