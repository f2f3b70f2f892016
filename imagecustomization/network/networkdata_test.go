package network_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/imagecustomization/network"
)

// networkDataCases are the documents in testdata/networkdata by name.
func networkDataCases(t testing.TB) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob("testdata/networkdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases in testdata/networkdata", err)
	}
	out := map[string][]byte{}
	for _, f := range files {
		if out[strings.TrimSuffix(filepath.Base(f), ".json")], err = os.ReadFile(f); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// keyfilesOfNetworkData are those of an image, which may leave names to the live system.
func keyfilesOfNetworkData(document []byte) (map[string][]byte, error) {
	s, err := network.TranslateNetworkData(document)
	return s.Keyfiles, err
}

func TestNetworkDataGolden(t *testing.T) {
	for name, document := range networkDataCases(t) {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			files, err := keyfilesOfNetworkData(document)
			g.Expect(err).NotTo(HaveOccurred())
			got, path := joined(files), filepath.Join("testdata", "networkdata", name+".golden")
			if *update {
				g.Expect(os.WriteFile(path, []byte(got), 0o600)).To(Succeed())
			}
			want, err := os.ReadFile(path)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got).To(Equal(string(want)))
		})
	}
}

func TestNetworkDataFromSecret(t *testing.T) {
	g := NewWithT(t)
	data := []byte(`{"links":[{"id":"eth0","type":"phy","ethernet_mac_address":"52:54:00:00:00:01"}],"networks":[{"link":"eth0","type":"ipv4_dhcp"}]}`)
	for _, key := range []string{"networkData", "network_data.json"} {
		settings, err := network.Live{}.FromSecret(map[string][]byte{key: data})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(settings.Keyfiles["eth0.nmconnection"])).To(ContainSubstring("method=auto"))
	}
	_, err := network.Live{}.FromSecret(map[string][]byte{"networkData": data, "nmstate": nil})
	g.Expect(err).To(MatchError(ContainSubstring("keep one")))
}

func FuzzNetworkData(f *testing.F) {
	for _, document := range networkDataCases(f) {
		f.Add(document)
	}
	f.Fuzz(func(t *testing.T, document []byte) {
		files, err := network.FromNetworkData(document)
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
