package network_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/imagecustomization/network"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// cases are the documents in testdata by name: those that show one setting each, and
// those of the folder fleet, which have the shapes that fleets write.
func cases(t testing.TB) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	for _, pattern := range []string{"testdata/*.yaml", "testdata/fleet/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal("no cases in", pattern, err)
		}
		for _, f := range files {
			name, err := filepath.Rel("testdata", strings.TrimSuffix(f, ".yaml"))
			if err != nil {
				t.Fatal(err)
			}
			if out[name], err = os.ReadFile(f); err != nil {
				t.Fatal(err)
			}
		}
	}
	return out
}

func joined(files map[string][]byte) string {
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(&out, "=== %s\n%s", name, files[name])
	}
	return out.String()
}

// keyfiles are those of an image, which may leave names to the live system.
func keyfiles(document []byte) (map[string][]byte, error) {
	s, err := network.Translate(document, nil)
	return s.Keyfiles, err
}

func TestGolden(t *testing.T) {
	for name, document := range cases(t) {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			files, err := keyfiles(document)
			g.Expect(err).NotTo(HaveOccurred())
			got, path := joined(files), filepath.Join("testdata", name+".golden")
			if *update {
				g.Expect(os.WriteFile(path, []byte(got), 0o600)).To(Succeed())
			}
			want, err := os.ReadFile(path)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got).To(Equal(string(want)))
			again, err := keyfiles(document)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(joined(again)).To(Equal(got), "the same document gives the same files")
		})
	}
}

func TestEverythingWrongIsNamedAtOnce(t *testing.T) {
	_, err := network.Keyfiles([]byte("interfaces: [{name: a, type: x, mtu: 1}, {name: b, state: y}]"))
	for _, path := range []string{"interfaces[0].type", "interfaces[0].mtu", "interfaces[1].state"} {
		NewWithT(t).Expect(err).To(MatchError(ContainSubstring(path)))
	}
}

// The same mistakes are told in the same order, so that a condition does not
// change its message at every look.
func TestProblemsHaveAnOrder(t *testing.T) {
	g := NewWithT(t)
	for range 20 {
		_, err := network.Keyfiles([]byte("route-rules: {config: [{priority: 1, ip-from: a, ip-to: b}]}"))
		g.Expect(err).To(MatchError(MatchRegexp(`(?s)ip-from.*ip-to`)))
		_, err = network.Live{}.FromSecret(map[string][]byte{"a": nil, "b": nil, "c": nil})
		g.Expect(err).To(MatchError(ContainSubstring(`key "a"`)))
	}
}

func TestEmptyDocumentHasNoKeyfiles(t *testing.T) {
	for _, document := range []string{"", "---\n", "{}", "--- {}\n", "interfaces: []"} {
		files, err := network.Keyfiles([]byte(document))
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
		NewWithT(t).Expect(files).To(BeEmpty())
	}
}

func TestFromSecret(t *testing.T) {
	g := NewWithT(t)
	eth := []byte("interfaces: [{name: eth0, ipv4: {enabled: true, dhcp: true}}]")
	ready := []byte("[connection]\nid=mine\n")
	settings, err := network.Live{}.FromSecret(map[string][]byte{"nmstate": eth, "eth1.nmconnection": ready})
	g.Expect(err).NotTo(HaveOccurred())
	files := settings.Keyfiles
	g.Expect(files).To(HaveKeyWithValue("eth1.nmconnection", ready))
	g.Expect(files).To(HaveKey("eth0.nmconnection"))
	for name, data := range map[string]map[string][]byte{
		"empty":       {},
		"other key":   {"nmstate": eth, "networkData": nil},
		"no keyfile":  {"a.nmconnection": []byte("hello")},
		"hidden":      {".a.nmconnection": ready},
		"no name":     {".nmconnection": ready},
		"bad nmstate": {"nmstate": []byte("x: y")},
	} {
		_, err := network.Live{}.FromSecret(data)
		g.Expect(err).To(MatchError(network.ErrUnsupported), name)
	}
}

func FuzzKeyfiles(f *testing.F) {
	for _, document := range cases(f) {
		f.Add(document)
	}
	f.Fuzz(func(t *testing.T, document []byte) {
		files, err := network.Keyfiles(document)
		if err != nil {
			return
		}
		for name, raw := range files {
			if strings.ContainsAny(name, "/\x00") {
				t.Fatalf("file name %q", name)
			}
			for _, line := range settings(raw) {
				if !strings.Contains(line, "=") {
					t.Fatalf("a line without a key: %q", line)
				}
			}
		}
	})
}
