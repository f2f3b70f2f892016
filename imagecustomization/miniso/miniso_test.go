package miniso_test

import (
	"bytes"
	"crypto/sha256"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/imagecustomization/iso"
	"github.com/ironflow/ironflow/imagecustomization/miniso"
	coreosiso "github.com/ironflow/ironflow/test/fixtures/coreos-iso"
)

// recipe returns a medium and its miniso.dat.
func recipe(t testing.TB, name string) (medium, dat []byte) {
	t.Helper()
	medium = coreosiso.Read(t, name)
	l, err := iso.Parse(bytes.NewReader(medium), int64(len(medium)))
	if err != nil {
		t.Fatal(err)
	}
	return medium, medium[l.Miniso.Offset : l.Miniso.Offset+l.Miniso.Size]
}

func TestUnpacksToItsDigest(t *testing.T) {
	cases := map[string]struct{ extents, size int }{
		"2021-12": {12, 722944}, "2022-09": {11, 1048576}, "2023-07.x86_64": {12, 1048576}, "2023-07.s390x": {15, 929792},
	}
	for name, want := range cases {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			medium, dat := recipe(t, name)
			r, err := miniso.Parse(dat, int64(len(medium)))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(r.Extents).To(Equal(want.extents))
			var out []byte
			for _, p := range r.Pieces {
				if p.Gap != nil {
					out = append(out, p.Gap...)
				} else {
					out = append(out, medium[p.Offset:p.Offset+p.Length]...)
				}
			}
			g.Expect(out).To(HaveLen(want.size))
			g.Expect(sha256.Sum256(out)).To(Equal(r.Digest))
		})
	}
}

func TestRefusesBrokenRecipes(t *testing.T) {
	medium, dat := recipe(t, "2023-07.x86_64")
	cases := map[string][]byte{
		"empty":         nil,
		"no signature":  bytes.Repeat([]byte{1}, 100),
		"other version": append([]byte("MINISO\x00\x00\x02"), dat[9:]...),
		"cut table":     dat[:40],
		"cut bytes":     dat[:300],
		"wide number":   append([]byte("MINISO\x00\x00\xfe"), dat[9:]...),
	}
	for name, raw := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := miniso.Parse(raw, int64(len(medium)))
			NewWithT(t).Expect(err).To(MatchError(miniso.ErrFormat))
		})
	}
	_, err := miniso.Parse(dat, 100000)
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring("outside the full image")))
}

func FuzzParse(f *testing.F) {
	for _, name := range []string{"2021-12", "2023-07.s390x"} {
		_, dat := recipe(f, name)
		f.Add(bytes.TrimRight(dat, "\x00"))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, err := miniso.Parse(raw, 1<<20)
		if err != nil {
			return
		}
		for _, p := range r.Pieces {
			if p.Offset < 0 || p.Length < 0 || p.Gap == nil && p.Offset+p.Length > 1<<20 {
				t.Fatalf("%+v is outside the image", p)
			}
		}
	})
}
