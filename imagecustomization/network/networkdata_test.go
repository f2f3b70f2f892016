package network_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/imagecustomization/network"
	"github.com/ironflow/ironflow/test/needs"
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

func TestNetworkDataGolden(t *testing.T) {
	for name, document := range networkDataCases(t) {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			files, err := network.FromNetworkData(document)
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

// NetworkManager itself reads every keyfile and must keep every setting.
func TestNetworkManagerReadsKeyfilesOfNetworkData(t *testing.T) {
	tool := needs.Program(t, "nmcli", "network-manager")
	for name, document := range networkDataCases(t) {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			files, err := network.FromNetworkData(document)
			g.Expect(err).NotTo(HaveOccurred())
			for file, raw := range files {
				cmd := exec.CommandContext(t.Context(), tool, "--offline", "connection", "modify", "connection.autoconnect-retries", "7")
				cmd.Stdin = bytes.NewReader(raw)
				back, err := cmd.Output()
				g.Expect(err).NotTo(HaveOccurred(), "%s\n%s", file, raw)
				g.Expect(settings(back)).To(ContainElements(changedOnly(raw)), "%s\n%s", file, back)
			}
		})
	}
}

func TestNetworkDataRefusals(t *testing.T) {
	const card = `{"id":"eth0","type":"phy","ethernet_mac_address":"52:54:00:00:00:01"}`
	link := func(more string) string { return `{"links":[` + card + more + `]}` }
	net := func(fields string) string {
		return `{"links":[` + card + `],"networks":[{"link":"eth0",` + fields + `}]}`
	}
	for _, c := range []struct{ name, document, path string }{
		{"no JSON", "[", "document"},
		{"a list", "[]", "want a mapping"},
		{"unknown member", `{"ports":[]}`, "ports: not supported"},
		{"unknown link type", link(`,{"id":"x","type":"infiniband"}`), "links[1].type"},
		{"long name", link(`,{"id":"abcdefghijklmnop","type":"phy"}`), "links[1].id"},
		{"bad MAC", link(`,{"id":"x","type":"phy","ethernet_mac_address":"1"}`), "links[1].ethernet_mac_address"},
		{"unknown field of a link", link(`,{"id":"x","type":"phy","colour":"red"}`), "links[1].colour: not supported"},
		{"bond without mode", link(`,{"id":"b","type":"bond","bond_links":["eth0"]}`), "links[1].bond_mode"},
		{"bond of unknown port", link(`,{"id":"b","type":"bond","bond_mode":"1","bond_links":["eth7"]}`), "port eth7"},
		{"VLAN without link", link(`,{"id":"v","type":"vlan","vlan_id":5}`), "links[1].vlan_link"},
		{"VLAN without id", link(`,{"id":"v","type":"vlan","vlan_link":"eth0"}`), "links[1].vlan_id"},
		{"bad VLAN MAC", link(`,{"id":"v","type":"vlan","vlan_link":"eth0","vlan_id":5,"vlan_mac_address":"z"}`), "links[1].vlan_mac_address"},
		{"unknown network type", net(`"type":"ipx"`), "networks[0].type"},
		{"unknown link", `{"networks":[{"link":"eth9","type":"ipv4_dhcp"}]}`, "networks[0].link"},
		{"static without address", net(`"type":"ipv4"`), "networks[0].ip_address"},
		{"address of the other family", net(`"type":"ipv4","ip_address":"::1"`), "networks[0].ip_address"},
		{"netmask with a hole", net(`"type":"ipv4","ip_address":"192.0.2.1","netmask":"255.0.255.0"`), "networks[0].netmask"},
		{"bad gateway", net(`"type":"ipv4","ip_address":"192.0.2.1/24","gateway":"fe80::1"`), "networks[0].gateway"},
		{"bad route", net(`"type":"ipv4","ip_address":"192.0.2.1/24","routes":[{"network":"x"}]`), "networks[0].routes[0].network"},
		{"bad next hop", net(`"type":"ipv4","ip_address":"192.0.2.1/24","routes":[{"network":"198.51.100.0","netmask":"255.255.255.0","gateway":"x"}]`), "networks[0].routes[0].gateway"},
		{"unknown service", `{"services":[{"type":"ntp","address":"192.0.2.1"}]}`, "services[0].type"},
		{"bad name server", `{"services":[{"type":"dns","address":"x"}]}`, "services[0].address"},
		{"unknown field of a network", net(`"type":"ipv4_dhcp","vrf":"a"`), "networks[0].vrf: not supported"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			_, err := network.FromNetworkData([]byte(c.document))
			g.Expect(err).To(MatchError(network.ErrUnsupported))
			g.Expect(err).To(MatchError(ContainSubstring(c.path)))
		})
	}
}

func TestNetworkDataFromSecret(t *testing.T) {
	g := NewWithT(t)
	data := []byte(`{"links":[{"id":"eth0","type":"phy","ethernet_mac_address":"52:54:00:00:00:01"}],"networks":[{"link":"eth0","type":"ipv4_dhcp"}]}`)
	for _, key := range []string{"networkData", "network_data.json"} {
		files, err := network.FromSecret(map[string][]byte{key: data})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(files["eth0.nmconnection"])).To(ContainSubstring("method=auto"))
	}
	_, err := network.FromSecret(map[string][]byte{"networkData": data, "nmstate": nil})
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
