package overlay_test

import (
	"bytes"
	"crypto/sha256"
	"io"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/ironflow/ironflow/imagecustomization/embedarea"
	"github.com/ironflow/ironflow/imagecustomization/iso"
	"github.com/ironflow/ironflow/imagecustomization/overlay"
	coreosiso "github.com/ironflow/ironflow/test/fixtures/coreos-iso"
	"github.com/ironflow/ironflow/test/liveimage"
)

func media(t testing.TB, raw []byte) overlay.Media {
	t.Helper()
	l, err := iso.Parse(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	return overlay.Media{Source: liveimage.Memory(raw), Layout: l}
}

func content(t testing.TB, m *overlay.Image) []byte {
	t.Helper()
	raw, err := io.ReadAll(m.Reader())
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// noise is data that does not compress.
func noise(n int) []byte {
	out := make([]byte, 0, n+32)
	for sum := sha256.Sum256(nil); len(out) < n; sum = sha256.Sum256(sum[:]) {
		out = append(out, sum[:]...)
	}
	return out[:n]
}

// A patched image is what a model made by copying would be, whatever is read.
func TestImageEqualsAModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "base")
		b := overlay.NewBuilder(liveimage.Memory(base))
		model := bytes.Clone(base)
		at := 0
		put := func(off int, data []byte) {
			if grow := off + len(data) - len(model); grow > 0 {
				model = append(model, make([]byte, grow)...)
			}
			copy(model[off:], data)
		}
		for range rapid.IntRange(0, 6).Draw(t, "patches") {
			off := at + rapid.IntRange(0, 60).Draw(t, "gap")
			data := rapid.SliceOfN(rapid.Byte(), 1, 40).Draw(t, "data")
			switch rapid.IntRange(0, 2).Draw(t, "kind") {
			case 0:
				b.Bytes(int64(off), data)
				put(off, data)
			case 1:
				b.Zero(int64(off), int64(len(data)))
				put(off, make([]byte, len(data)))
			default:
				b.Extent(int64(off), liveimage.Memory(append([]byte{0, 1}, data...)), 2, int64(len(data)))
				put(off, data)
			}
			at = off + len(data)
		}
		m, err := b.Build()
		if err != nil || m.Size() != int64(len(model)) {
			t.Fatalf("size %d, want %d: %v", m.Size(), len(model), err)
		}
		for range 20 {
			off := rapid.IntRange(0, len(model)).Draw(t, "off")
			p := make([]byte, rapid.IntRange(0, len(model)-off).Draw(t, "n"))
			if n, err := m.ReadAt(p, int64(off)); n != len(p) || err != nil || !bytes.Equal(p, model[off:off+n]) {
				t.Fatalf("wrong bytes at %d: %d, %v", off, n, err)
			}
		}
	})
}

func TestOverlappingPatchesAreRefused(t *testing.T) {
	b := overlay.NewBuilder(liveimage.Memory(make([]byte, 10)))
	b.Bytes(2, []byte("abc"))
	b.Zero(4, 2)
	_, err := b.Build()
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring("overlaps")))
}

func TestIdentityFollowsTheContent(t *testing.T) {
	g := NewWithT(t)
	m := media(t, coreosiso.Read(t, "2023-07.x86_64"))
	build := func(ign string, kargs ...string) string {
		image, err := overlay.Customize(m, overlay.Options{
			Content: embedarea.Content{Ignition: []byte(ign)}, Kargs: overlay.KargsEdit{Append: kargs},
		})
		g.Expect(err).NotTo(HaveOccurred())
		return image.ID()
	}
	g.Expect(build("a")).To(Equal(build("a")))
	g.Expect(build("a")).NotTo(Equal(build("b")))
	g.Expect(build("a")).NotTo(Equal(build("a", "x=y")))
}

// Embed, show and reset: what goes in comes out, and the medium comes back.
func TestEmbedShowReset(t *testing.T) {
	all := map[string][]byte{}
	for _, name := range coreosiso.Names {
		all[name] = coreosiso.Read(t, name)
	}
	rapid.Check(t, func(rt *rapid.T) {
		base := all[rapid.SampledFrom(coreosiso.Names).Draw(rt, "medium")]
		m := media(t, base)
		g := NewWithT(rt)
		o := overlay.Options{Content: embedarea.Content{
			Ignition: []byte(rapid.StringN(1, 2000, -1).Draw(rt, "ignition")),
		}}
		if m.Layout.Features[iso.FeatureInitrdNetwork] {
			o.Content.Keyfiles = map[string][]byte{"a.nmconnection": []byte(rapid.String().Draw(rt, "keyfile"))}
		}
		want := ""
		if k := m.Layout.Kargs; k != nil {
			o.Kargs.Append = rapid.SliceOfN(rapid.StringMatching(`[a-z]{1,9}(=[a-z,.0-9]{1,20})?`), 0, 8).Draw(rt, "kargs")
			want = strings.Join(append([]string{k.Default}, o.Kargs.Append...), " ")
		}
		image, err := overlay.Customize(m, o)
		g.Expect(err).NotTo(HaveOccurred())
		raw := content(t, image)
		g.Expect(raw).To(HaveLen(len(base)))
		got, err := liveimage.Content(bytes.NewReader(raw), int64(len(raw)))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(got.Ignition).To(Equal(o.Content.Ignition))
		patched := media(t, raw)
		if want != "" {
			g.Expect(patched.Layout.Kargs.Read(bytes.NewReader(raw))).To(Equal(want))
		}
		// Media without kargs.json have no other default than the present arguments.
		reset, err := overlay.Reset(patched)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(bytes.Equal(content(t, reset), base)).To(BeTrue())
	})
}

func TestRelocation(t *testing.T) {
	for _, name := range coreosiso.Names {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			base := coreosiso.Read(t, name)
			m := media(t, base)
			ignition := noise(2_900_000)
			image, err := overlay.Customize(m, overlay.Options{Content: embedarea.Content{Ignition: ignition}})
			if strings.Contains(name, "s390x") {
				g.Expect(err).To(MatchError(overlay.ErrTooBig))
				g.Expect(err).To(MatchError(And(ContainSubstring("262144"), ContainSubstring("290"))))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			raw := content(t, image)
			moved := media(t, raw)
			g.Expect(moved.Layout.Ignition.Offset).To(BeNumerically(">=", len(base)))
			g.Expect(liveimage.Ignition(bytes.NewReader(raw), int64(len(raw)))).To(Equal(ignition))
			if moved.Layout.Joliet != nil {
				g.Expect(moved.Layout.Joliet.Blocks).To(Equal(moved.Layout.Primary.Blocks))
			}
			// Only the records, the volume sizes and the note differ from the medium.
			differ := 0
			for i := range base {
				if base[i] != raw[i] {
					differ++
				}
			}
			g.Expect(differ).To(BeNumerically("<", 120))
			reset, err := overlay.Reset(moved)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(bytes.Equal(content(t, reset), base)).To(BeTrue())
		})
	}
}

// The config that was there before an area was moved is gone, not only hidden.
func TestRelocationLeavesNothingBehind(t *testing.T) {
	g := NewWithT(t)
	first, err := overlay.Customize(media(t, coreosiso.Read(t, "2023-07.x86_64")), overlay.Options{Content: embedarea.Content{Ignition: noise(1000)}})
	g.Expect(err).NotTo(HaveOccurred())
	raw := content(t, first)
	m := media(t, raw)
	area := m.Layout.Ignition.Area
	g.Expect(bytes.Trim(raw[area.Offset:area.End()], "\x00")).NotTo(BeEmpty())
	second, err := overlay.Customize(m, overlay.Options{Content: embedarea.Content{Ignition: noise(900_000)}})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(bytes.Trim(content(t, second)[area.Offset:area.End()], "\x00")).To(BeEmpty())
}

func TestTooBigIsRefusedWithBothSizes(t *testing.T) {
	m := media(t, coreosiso.Read(t, "2023-07.x86_64"))
	cases := []struct {
		name string
		o    overlay.Options
		want string
	}{
		{"beyond 16 MiB", overlay.Options{Content: embedarea.Content{Ignition: noise(17 << 20)}}, "16777216"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			_, err := overlay.Customize(m, tc.o)
			g.Expect(err).To(MatchError(overlay.ErrTooBig))
			g.Expect(err).To(MatchError(ContainSubstring(tc.want)))
		})
	}
}

func TestSharedArchivesCostAHostNothing(t *testing.T) {
	g := NewWithT(t)
	m := media(t, coreosiso.Read(t, "2023-07.x86_64"))
	packed, err := embedarea.Content{Keyfiles: map[string][]byte{"big": noise(3 << 20)}}.Archive()
	g.Expect(err).NotTo(HaveOccurred())
	image, err := overlay.Customize(m, overlay.Options{
		Content: embedarea.Content{Ignition: []byte("{}")}, Programs: []overlay.Source{liveimage.Memory(packed)},
	})
	g.Expect(err).NotTo(HaveOccurred())
	raw := content(t, image)
	got, err := liveimage.Content(bytes.NewReader(raw), int64(len(raw)))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(got.Ignition)).To(Equal("{}"))
	g.Expect(got.Keyfiles).To(HaveKey("big.nmconnection"))
}

func TestKeyfilesNeedAMediumThatUsesThem(t *testing.T) {
	m := media(t, coreosiso.Read(t, "2021-01"))
	_, err := overlay.Customize(m, overlay.Options{Content: embedarea.Content{Keyfiles: map[string][]byte{"a": nil}}})
	NewWithT(t).Expect(err).To(MatchError(overlay.ErrNoInitrdNetwork))
}

// operations are pairs of operation and value.
func operations(pairs ...string) (edit overlay.KargsEdit) {
	for pair := range slices.Chunk(pairs, 2) {
		edit.Operations = append(edit.Operations, overlay.KargsOperation{Operation: pair[0], Value: pair[1]})
	}
	return edit
}

func TestKargsEdit(t *testing.T) {
	const now = "a=1 b c=2 c=3"
	cases := []struct {
		name string
		edit overlay.KargsEdit
		want string
		err  string
	}{
		{name: "append", edit: overlay.KargsEdit{Append: []string{"x=y=z", "w"}}, want: now + " x=y=z w"},
		{name: "delete", edit: overlay.KargsEdit{Delete: []string{"c=2", "b"}}, want: "a=1 c=3"},
		{name: "replace", edit: overlay.KargsEdit{Replace: []string{"c=3=9"}}, want: "a=1 b c=2 c=9"},
		{name: "all in order", edit: overlay.KargsEdit{Delete: []string{"a=1"}, Replace: []string{"c=2=4"}, Append: []string{"a=1"}}, want: "b c=4 c=3 a=1"},
		{name: "operations in their order", edit: operations("append", "d=1", "replace", "d=1=2", "delete", "b", "append", "b", "append", "x", "delete", "x"), want: "a=1 c=2 c=3 d=2 b"},
		{name: "operations before the others", edit: overlay.KargsEdit{Operations: operations("append", "d").Operations, Delete: []string{"d"}, Append: []string{"e"}}, want: now + " e"},
		{name: "an operation that is not known", edit: operations("append", "x", "prepend", "y"), err: `operation 2 on the kernel arguments: "prepend" is not known: want append, replace or delete`},
		{name: "no operation", edit: operations("", "y"), err: `operation 1 on the kernel arguments: "" is not known`},
		{name: "a deletion too early", edit: operations("delete", "x", "append", "x"), err: "operation 1 on the kernel arguments: kernel argument \"x\" cannot be deleted"},
		{name: "delete what is not there", edit: overlay.KargsEdit{Delete: []string{"c"}}, err: "not there"},
		{name: "replace what is not there", edit: overlay.KargsEdit{Replace: []string{"c=7=8"}}, err: "not there"},
		{name: "replace without a value", edit: overlay.KargsEdit{Replace: []string{"b"}}, err: "KEY=OLD=NEW"},
		{name: "space", edit: overlay.KargsEdit{Append: []string{"a b"}}, err: "space"},
		{name: "newline", edit: overlay.KargsEdit{Replace: []string{"a=1=x\ny"}}, err: "control character"},
		{name: "empty", edit: overlay.KargsEdit{Append: []string{""}}, err: "empty"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			got, err := tc.edit.Apply(now)
			if tc.err != "" {
				g.Expect(err).To(MatchError(ContainSubstring(tc.err)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got).To(Equal(tc.want))
		})
	}
}

func TestKargsFillTheAreaToTheLastByte(t *testing.T) {
	for _, name := range coreosiso.Names[1:] {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			m := media(t, coreosiso.Read(t, name))
			area := m.Layout.Kargs.Areas[0]
			fill := strings.Repeat("x", area.Capacity()-len(m.Layout.Kargs.Default)-1)
			image, err := overlay.Customize(m, overlay.Options{Kargs: overlay.KargsEdit{Append: []string{fill}}})
			g.Expect(err).NotTo(HaveOccurred())
			raw := content(t, image)
			g.Expect(m.Layout.Kargs.Read(bytes.NewReader(raw))).To(HaveSuffix(" " + fill))
			// One more needs a longer area, behind the end, where there can be one.
			longer, err := overlay.Customize(m, overlay.Options{Kargs: overlay.KargsEdit{Append: []string{fill + "x"}}})
			if name < "2022" || strings.HasSuffix(name, "s390x") {
				g.Expect(err).To(MatchError(ContainSubstring("takes at most")))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(longer.Size()).To(BeNumerically(">", m.Size()))
		})
	}
	m := media(t, coreosiso.Read(t, "2020-09"))
	_, err := overlay.Customize(m, overlay.Options{Kargs: overlay.KargsEdit{Append: []string{"a"}}})
	NewWithT(t).Expect(err).To(MatchError(overlay.ErrNoKargs))
}

// Whatever is asked for, an edit is refused or read back word for word.
func FuzzKargs(f *testing.F) {
	f.Add("a=b", "c", "default=1=2")
	f.Add("x y", "\n", "k==")
	m := media(f, coreosiso.Read(f, "2023-07.x86_64"))
	f.Fuzz(func(t *testing.T, add, remove, replace string) {
		edit := overlay.KargsEdit{Append: []string{add}}
		if remove != "" {
			edit.Delete = []string{remove}
		}
		if replace != "" {
			edit.Replace = []string{replace}
		}
		want, err := edit.Apply(m.Layout.Kargs.Default)
		if err != nil {
			return
		}
		image, err := overlay.Customize(m, overlay.Options{Kargs: edit})
		if err != nil {
			return
		}
		got, err := m.Layout.Kargs.Read(image)
		if err != nil || got != want {
			t.Fatalf("wrote %q, read %q, %v", want, got, err)
		}
	})
}

func BenchmarkCustomize(b *testing.B) {
	m := media(b, coreosiso.Read(b, "2023-07.x86_64"))
	ignition := []byte(strings.Repeat(`{"path":"/etc/some/file","contents":"value"}`, 200))
	for b.Loop() {
		if _, err := overlay.Customize(m, overlay.Options{Content: embedarea.Content{Ignition: ignition}}); err != nil {
			b.Fatal(err)
		}
	}
}
