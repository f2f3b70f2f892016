package connectivity

import (
	"encoding/json"
	"net/netip"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/probe/netprobe"
	"github.com/ironflow/ironflow/hub/wire"
)

func hosts(t *testing.T, text string) wire.ConnectivityCheckParams {
	t.Helper()
	var out wire.ConnectivityCheckParams
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// own has every kind of interface that an inventory lists.
var own = []wire.Interface{
	{Name: "lo", Type: "loopback", MTU: 65536, Ipv4Addresses: []string{"127.0.0.1/8"}},
	{Name: "eth0", Type: "physical", MTU: 1500, Ipv4Addresses: []string{"192.0.2.10/24", "192.0.2.110/24"}},
	{Name: "eth1", Type: "physical", MTU: 1500},
	{Name: "eth2", Type: "physical", MTU: 1500, Ipv6Addresses: []string{"fe80::1/64"}},
	{Name: "bond0", Type: "bond", MTU: 9000, Ipv4Addresses: []string{"198.51.100.10/24"}, Ipv6Addresses: []string{"2001:db8::10/128"}},
	{Name: "bond0.42", Type: "vlan", MTU: 1400, Ipv4Addresses: []string{"203.0.113.10/24"}},
	{Name: "br0", Type: "bridge", MTU: 9000, Ipv4Addresses: []string{"192.0.2.210/24"}},
}

const (
	id1 = "11111111-1111-4111-8111-111111111111"
	id2 = "22222222-2222-4222-8222-222222222222"
)

func TestPlan(t *testing.T) {
	at := netip.MustParseAddr
	for name, tc := range map[string]struct {
		hosts string
		want  plan
	}{
		"no hosts": {`[]`, plan{}},
		"a neighbour is asked on the NIC of its network, from the first address there": {
			`[{"host_id":"` + id1 + `","nics":[{"ip_addresses":["192.0.2.11"]}]}]`,
			plan{
				echoes: []netip.Addr{at("192.0.2.11")}, neighbors: []neighborProbe{{"eth0", at("192.0.2.11")}},
				mtus: []mtuProbe{{"bond0", 9000, at("192.0.2.11")}, {"bond0.42", 1400, at("192.0.2.11")}},
			},
		},
		"a host behind a router": {
			`[{"host_id":"` + id1 + `","nics":[{"ip_addresses":["10.0.0.1"]}]}]`,
			plan{echoes: []netip.Addr{at("10.0.0.1")}, mtus: []mtuProbe{{"bond0", 9000, at("10.0.0.1")}, {"bond0.42", 1400, at("10.0.0.1")}}},
		},
		"an IPv6 neighbour is asked on every NIC with IPv6": {
			`[{"host_id":"` + id1 + `","nics":[{"ip_addresses":["2001:db8::11"]}]}]`,
			plan{
				echoes: []netip.Addr{at("2001:db8::11")}, neighbors: []neighborProbe{{"bond0", at("2001:db8::11")}},
				mtus: []mtuProbe{{"bond0", 9000, at("2001:db8::11")}},
			},
		},
		"an address that two hosts claim is asked for once": {
			`[{"host_id":"` + id1 + `","nics":[{"ip_addresses":["203.0.113.1","203.0.113.1"]}]},{"host_id":"` + id2 + `","nics":[{"ip_addresses":["203.0.113.1"]}]}]`,
			plan{
				echoes: []netip.Addr{at("203.0.113.1")}, neighbors: []neighborProbe{{"bond0.42", at("203.0.113.1")}},
				mtus: []mtuProbe{{"bond0", 9000, at("203.0.113.1")}, {"bond0.42", 1400, at("203.0.113.1")}},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			p := makePlan(own, hosts(t, tc.hosts))
			g.Expect(p.echoes).To(Equal(tc.want.echoes))
			g.Expect(p.neighbors).To(Equal(tc.want.neighbors))
			g.Expect(p.mtus).To(Equal(tc.want.mtus))
			for question, source := range p.sources {
				if question.nic == "eth0" {
					g.Expect(source).To(Equal(at("192.0.2.10")))
				}
			}
		})
	}
}

func TestPayloadFillsTheMTU(t *testing.T) {
	g := NewWithT(t)
	g.Expect(mtuProbe{"eth0", 9000, netip.MustParseAddr("192.0.2.1")}.payload()).To(Equal(8972))
	g.Expect(mtuProbe{"eth0", 9000, netip.MustParseAddr("2001:db8::1")}.payload()).To(Equal(8952))
}

// TestReport: what hubs read, from findings that a network seldom has all at once.
func TestReport(t *testing.T) {
	g := NewWithT(t)
	request := hosts(t, `[
		{"host_id":"`+id2+`","nics":[{"mac":"52:54:00:00:00:0C","ip_addresses":["203.0.113.12"]}]},
		{"host_id":"`+id1+`","nics":[{"mac":"52:54:00:00:00:0B","ip_addresses":["2001:db8::b","203.0.113.9","192.0.2.11","192.0.2.7"]},{"mac":"52:54:00:00:00:1b"}]}]`)
	f := newFindings(makePlan(own, request))
	at := netip.MustParseAddr
	b, b2, c := netprobe.MAC{0x52, 0x54, 0, 0, 0, 0x0b}, netprobe.MAC{0x52, 0x54, 0, 0, 0, 0x1b}, netprobe.MAC{0x52, 0x54, 0, 0, 0, 0x0c}
	f.owners[neighborProbe{"eth0", at("192.0.2.11")}] = []netprobe.MAC{c, b2, b}
	f.owners[neighborProbe{"bond0", at("2001:db8::b")}] = []netprobe.MAC{c, b}
	f.echoed[at("192.0.2.11")] = netprobe.EchoResult{Sent: 10, Received: 9, RTT: 1234567 * time.Nanosecond}
	f.echoed[at("192.0.2.7")] = netprobe.EchoResult{Sent: 10}
	f.echoed[at("2001:db8::b")] = netprobe.EchoResult{Sent: 10, Received: 10, RTT: 100 * time.Nanosecond}
	f.fits[mtuProbe{"bond0.42", 1400, at("203.0.113.9")}] = true
	f.fits[mtuProbe{"bond0", 9000, at("203.0.113.9")}] = false
	raw, err := json.Marshal(f.report(request))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(raw).To(MatchJSON(`[
		{"host_id":"` + id1 + `",
		 "l2_connectivity":[
			{"outgoing_nic":"eth0","outgoing_ip_address":"192.0.2.10","remote_ip_address":"192.0.2.11","remote_mac":"52:54:00:00:00:0b","successful":true},
			{"outgoing_nic":"eth0","outgoing_ip_address":"192.0.2.10","remote_ip_address":"192.0.2.11","remote_mac":"52:54:00:00:00:0c"},
			{"outgoing_nic":"eth0","outgoing_ip_address":"192.0.2.10","remote_ip_address":"192.0.2.11","remote_mac":"52:54:00:00:00:1b","successful":true},
			{"outgoing_nic":"bond0","remote_ip_address":"2001:db8::b","remote_mac":"52:54:00:00:00:0c"}],
		 "l3_connectivity":[
			{"remote_ip_address":"192.0.2.11","average_rtt_ms":1.235,"packet_loss_percentage":10,"successful":true},
			{"remote_ip_address":"192.0.2.7"},
			{"remote_ip_address":"2001:db8::b","average_rtt_ms":0.001,"successful":true}],
		 "mtu_report":[
			{"outgoing_nic":"bond0","remote_ip_address":"203.0.113.9"},
			{"outgoing_nic":"bond0.42","remote_ip_address":"203.0.113.9","mtu_successful":true}]},
		{"host_id":"` + id2 + `","l2_connectivity":[],"l3_connectivity":[],"mtu_report":[]}]`))
}
