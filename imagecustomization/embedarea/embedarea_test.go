package embedarea_test

import (
	"bytes"
	"compress/gzip"
	"testing"

	"github.com/klauspost/compress/zstd"
	. "github.com/onsi/gomega"
	"github.com/ulikunitz/xz"

	"github.com/ironflow/ironflow/imagecustomization/cpio"
	"github.com/ironflow/ironflow/imagecustomization/embedarea"
	coreosiso "github.com/ironflow/ironflow/test/fixtures/coreos-iso"
	"github.com/ironflow/ironflow/test/liveimage"
)

func raw(t testing.TB, name, data string) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := cpio.NewWriter(&buf)
	if err := w.File(name, 0o600, []byte(data)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// packers are the compressions that other tools use.
var packers = map[string]func(testing.TB, []byte) []byte{
	"raw": func(_ testing.TB, b []byte) []byte { return b },
	"gzip": func(_ testing.TB, b []byte) []byte {
		var out bytes.Buffer
		z := gzip.NewWriter(&out)
		_, _ = z.Write(b)
		_ = z.Close()
		return out.Bytes()
	},
	"xz with CRC32": func(t testing.TB, b []byte) []byte {
		var out bytes.Buffer
		z, err := xz.WriterConfig{CheckSum: xz.CRC32}.NewWriter(&out)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = z.Write(b)
		_ = z.Close()
		return out.Bytes()
	},
	"zstd": func(t testing.TB, b []byte) []byte {
		z, err := zstd.NewWriter(nil)
		if err != nil {
			t.Fatal(err)
		}
		return z.EncodeAll(b, nil)
	},
}

func TestArchiveIsDeterministicAndReadable(t *testing.T) {
	g := NewWithT(t)
	c := embedarea.Content{
		Ignition: []byte(`{"ignition":{"version":"3.2.0"}}`),
		Keyfiles: map[string][]byte{"eth1": []byte("[b]"), "eth0.nmconnection": []byte("[a]")},
		Files:    []cpio.Entry{{Name: "usr/lib/x", Mode: cpio.TypeRegular | 0o755, Data: []byte("y")}},
	}
	first, err := c.Archive()
	g.Expect(err).NotTo(HaveOccurred())
	for range 10 {
		g.Expect(c.Archive()).To(Equal(first))
	}
	g.Expect(len(first) % embedarea.Alignment).To(BeZero())
	got, err := embedarea.Decode(bytes.NewReader(first))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(got.Ignition).To(Equal(c.Ignition))
	g.Expect(got.Keyfiles).To(HaveKeyWithValue("eth1.nmconnection", []byte("[b]")))
	g.Expect(got.Keyfiles).To(HaveKeyWithValue("eth0.nmconnection", []byte("[a]")))
	g.Expect(got.Files).To(Equal(c.Files))
}

// TestLinksStay: the initrd's units are switched on by symbolic links, which whoever edits an
// image must not lose.
func TestLinksStay(t *testing.T) {
	g := NewWithT(t)
	link := cpio.Entry{Name: "etc/systemd/system/initrd.target.wants/a.service", Mode: cpio.TypeSymlink | 0o777, Data: []byte("../a.service")}
	c := embedarea.Content{Files: []cpio.Entry{{Name: "etc/systemd/system/a.service", Mode: cpio.TypeRegular | 0o644, Data: []byte("[Unit]")}, link}}
	archive, err := c.Archive()
	g.Expect(err).NotTo(HaveOccurred())
	got, err := embedarea.Decode(bytes.NewReader(archive))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(got.Files).To(Equal(c.Files))
	g.Expect(got.Archive()).To(Equal(archive))
}

func TestEmptyContentLeavesTheAreaPristine(t *testing.T) {
	g := NewWithT(t)
	g.Expect(embedarea.Content{}.Archive()).To(BeEmpty())
	got, err := embedarea.Decode(bytes.NewReader(make([]byte, 4096)))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(got.Empty()).To(BeTrue())
}

func TestKeyfileNamesStayInTheirDirectory(t *testing.T) {
	for _, name := range []string{"", "../config", "a/b"} {
		t.Run(name, func(t *testing.T) {
			_, err := embedarea.Content{Keyfiles: map[string][]byte{name: nil}}.Archive()
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring("plain file name")))
		})
	}
}

// Every pair of compressions may stand in one area, with zeros between.
func TestReadsArchivesInARow(t *testing.T) {
	for first, packFirst := range packers {
		for second, packSecond := range packers {
			t.Run(first+" then "+second, func(t *testing.T) {
				g := NewWithT(t)
				area := packFirst(t, raw(t, "config.ign", "one"))
				area = append(area, make([]byte, 4-len(area)%4+32)...)
				area = append(area, packSecond(t, raw(t, "etc/two", "two"))...)
				area = append(area, make([]byte, 1000)...)
				got, err := embedarea.Decode(bytes.NewReader(area))
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(string(got.Ignition)).To(Equal("one"))
				g.Expect(got.Files).To(ContainElement(HaveField("Name", "etc/two")))
			})
		}
	}
}

func TestRefusesForeignBytes(t *testing.T) {
	g := NewWithT(t)
	area := append(raw(t, "config.ign", "one"), "garbage"...)
	_, err := embedarea.Decode(bytes.NewReader(area))
	g.Expect(err).To(MatchError(embedarea.ErrForeign))
}

func TestPristineMediumHasNoIgnition(t *testing.T) {
	for _, name := range coreosiso.Names {
		t.Run(name, func(t *testing.T) {
			medium := coreosiso.Read(t, name)
			_, err := liveimage.Ignition(bytes.NewReader(medium), int64(len(medium)))
			NewWithT(t).Expect(err).To(MatchError(embedarea.ErrNoIgnition))
		})
	}
}

func FuzzDecode(f *testing.F) {
	for _, pack := range packers {
		f.Add(pack(f, raw(f, "config.ign", "{}")))
	}
	f.Fuzz(func(_ *testing.T, area []byte) {
		if len(area) < 1<<16 {
			_, _ = embedarea.Decode(bytes.NewReader(area))
		}
	})
}
