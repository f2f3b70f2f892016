package cpio_test

import (
	"bytes"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/ironflow/ironflow/imagecustomization/cpio"
	"github.com/ironflow/ironflow/test/needs"
)

func readAll(raw []byte, limit int64) ([]cpio.Entry, error) {
	r := cpio.NewReader(bytes.NewReader(raw), limit)
	var all []cpio.Entry
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) && !errors.Is(err, cpio.ErrFormat) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		all = append(all, e)
	}
}

func TestParentsComeBeforeFilesOnce(t *testing.T) {
	g := NewWithT(t)
	var buf bytes.Buffer
	w := cpio.NewWriter(&buf)
	g.Expect(w.File("config.ign", 0o600, []byte("{}"))).To(Succeed())
	g.Expect(w.File("/etc/net/a", 0o600, []byte("a"))).To(Succeed())
	g.Expect(w.File("etc/net/b", 0o644, nil)).To(Succeed())
	g.Expect(w.Symlink("etc/link", "net/a")).To(Succeed())
	g.Expect(w.Close()).To(Succeed())

	entries, err := readAll(buf.Bytes(), 1<<20)
	g.Expect(err).NotTo(HaveOccurred())
	var names []string
	for _, e := range entries {
		names = append(names, e.Name)
	}
	g.Expect(names).To(Equal([]string{"config.ign", "etc", "etc/net", "etc/net/a", "etc/net/b", "etc/link"}))
	g.Expect(entries[1].Mode).To(Equal(uint32(0o040755)))
	g.Expect(entries[5].Data).To(BeEquivalentTo("net/a"))
	g.Expect(buf.Len() % 4).To(BeZero())
}

func TestNamesThatCannotBeMembers(t *testing.T) {
	for _, name := range []string{"", "/", "..", "TRAILER!!!", "a\x00b"} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(cpio.NewWriter(io.Discard).File(name, 0o644, nil)).NotTo(Succeed())
		})
	}
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z]{1,8}`), 0, 8, rapid.ID[string]).Draw(t, "names")
		var buf bytes.Buffer
		w := cpio.NewWriter(&buf)
		contents := map[string][]byte{}
		for _, name := range want {
			contents[name] = rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "data")
			if err := w.File(name, 0o600, contents[name]); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		entries, err := readAll(buf.Bytes(), 1<<10)
		if err != nil || len(entries) != len(want) {
			t.Fatalf("%d entries, %v", len(entries), err)
		}
		for i, e := range entries {
			if e.Name != want[i] || !bytes.Equal(e.Data, contents[e.Name]) || !e.IsRegular() {
				t.Fatalf("entry %d: %+v", i, e)
			}
		}
	})
}

func TestRefusesBrokenArchives(t *testing.T) {
	var buf bytes.Buffer
	w := cpio.NewWriter(&buf)
	NewWithT(t).Expect(w.File("file", 0o644, []byte("content"))).To(Succeed())
	NewWithT(t).Expect(w.Close()).To(Succeed())
	good := buf.Bytes()
	cases := map[string][]byte{
		"empty":           nil,
		"cut in header":   good[:50],
		"cut in name":     good[:112],
		"cut in content":  good[:120],
		"no trailer":      good[:124],
		"bad magic":       append([]byte("070702"), good[6:]...),
		"bad hexadecimal": bytes.Replace(good, []byte("00000007"), []byte("0000000x"), 1),
		"huge member":     bytes.Replace(good, []byte("00000007"), []byte("FFFFFFFF"), 1),
	}
	for name, raw := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := readAll(raw, 1<<20)
			NewWithT(t).Expect(err).To(MatchError(cpio.ErrFormat))
		})
	}
}

// The system's cpio is the judge of the format where it is installed.
func TestSystemToolReadsOurArchive(t *testing.T) {
	tool := needs.Program(t, "cpio", "cpio")
	g := NewWithT(t)
	var buf bytes.Buffer
	w := cpio.NewWriter(&buf)
	g.Expect(w.File("a/b/c.txt", 0o640, []byte("hello"))).To(Succeed())
	g.Expect(w.Close()).To(Succeed())
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), tool, "-idm")
	cmd.Dir, cmd.Stdin = dir, &buf
	out, err := cmd.CombinedOutput()
	g.Expect(err).NotTo(HaveOccurred(), string(out))
	g.Expect(exec.Command("cat", filepath.Join(dir, "a/b/c.txt")).Output()).To(BeEquivalentTo("hello"))
}

func FuzzReader(f *testing.F) {
	var buf bytes.Buffer
	w := cpio.NewWriter(&buf)
	_ = w.File("etc/x", 0o600, []byte(strings.Repeat("y", 9)))
	_ = w.Close()
	f.Add(buf.Bytes())
	f.Add([]byte("070701"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		entries, err := readAll(raw, 1<<16)
		total := 0
		for _, e := range entries {
			total += len(e.Data) + len(e.Name)
		}
		if err == nil && total > len(raw) {
			t.Fatalf("%d bytes out of %d", total, len(raw))
		}
	})
}
