package network_test

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"

	"github.com/ironflow/ironflow/imagecustomization/network"
)

const (
	able   = "interfaces: [{name: eth0, ipv4: {enabled: true, dhcp: true}}]"
	beyond = "interfaces: [{name: eth0}, {name: vx, type: vxlan, vxlan: {id: 7, base-iface: eth0, remote: 192.0.2.1}}]"
	wrong  = "interfaces: [{name: eth0, mtu: big}, {name: vx, type: vxlan}]"
)

// Translate, else leave it to nmstatectl, else refuse: in this order.
func TestTranslateElseFallBackElseRefuse(t *testing.T) {
	with, without := network.Live{Nmstatectl: true}, network.Live{Why: "the base image is older than nmstatectl"}
	for name, tc := range map[string]struct {
		live          network.Live
		document, way string
		refused       []string
	}{
		"translated, with nmstatectl":    {with, able, network.WayTranslated, nil},
		"translated, without":            {without, able, network.WayTranslated, nil},
		"left to nmstatectl":             {with, beyond, network.WayNmstatectl, nil},
		"nobody can":                     {without, beyond, "", []string{"interfaces[1].type", "older than nmstatectl", "keyfile", "use a base image with nmstatectl"}},
		"nobody is known to":             {network.Live{}, beyond, "", []string{"not known to have it"}},
		"a mistake, with nmstatectl":     {with, wrong, "", []string{"interfaces[0].mtu", "interfaces[1].type"}},
		"a misspelling, with nmstatectl": {with, "interfaces: [{name: eth0, ipv4: {enable: true}}]", "", []string{"interfaces[0].ipv4.enable: not supported"}},
		"Open vSwitch, with nmstatectl":  {with, "interfaces: [{name: br, type: ovs-bridge, bridge: {port: [{name: eth0}]}}]", "", []string{"interfaces[0].type", "Open vSwitch is not there"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s, err := tc.live.Translate([]byte(tc.document), nil)
			if tc.refused != nil {
				g.Expect(err).To(MatchError(network.ErrUnsupported))
				for _, text := range tc.refused {
					g.Expect(err).To(MatchError(ContainSubstring(text)))
				}
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(s.Way()).To(Equal(tc.way))
			if tc.way == network.WayNmstatectl {
				g.Expect(s.Nmstate).To(Equal(tc.document))
				g.Expect(s.Keyfiles).To(BeEmpty())
				g.Expect(s.Left).To(MatchError(ContainSubstring("interfaces[1].type")))
				_, err := s.OnlyKeyfiles()
				g.Expect(err).To(MatchError(network.ErrUnsupported))
			}
		})
	}
}

// What is left to nmstatectl has the addresses of the cards in it: names are logical
// there as they are for us.
func TestNmstatectlFindsCardsByTheirAddresses(t *testing.T) {
	g := NewWithT(t)
	s, err := network.Live{
		Nmstatectl: true,
	}.Translate(
		[]byte("interfaces:\n- {name: left}\n- {name: b, type: bond, link-aggregation: {mode: 802.3ad, port: [left, right], options: {lacp_active: \"off\"}}}\n"),
		map[string]string{"left": "52:54:00:00:00:01", "right": "52:54:00:00:00:02"},
	)
	g.Expect(err).NotTo(HaveOccurred())
	var document struct{ Interfaces []map[string]any }
	g.Expect(yaml.Unmarshal([]byte(s.Nmstate), &document)).To(Succeed())
	g.Expect(document.Interfaces).To(ConsistOf(
		And(HaveKeyWithValue("name", "left"), HaveKeyWithValue("identifier", "mac-address"), HaveKeyWithValue("mac-address", "52:54:00:00:00:01")),
		HaveKeyWithValue("name", "b"),
		And(HaveKeyWithValue("name", "right"), HaveKeyWithValue("identifier", "mac-address"), HaveKeyWithValue("mac-address", "52:54:00:00:00:02")),
	))
}

// TestVirtualFunctionsByTheirCards: manuals name them so (sriov:CARD:NUMBER), as nmstate does since
// 2.2.0: their own names depend on the card, its driver and udev. nmstatectl finds them out.
func TestVirtualFunctionsByTheirCards(t *testing.T) {
	const card = `{name: eno1, ethernet: {sr-iov: {total-vfs: 2}}}, `
	bond := func(name, ports string) string {
		return `interfaces: [` + card + `{name: "` + name + `", state: up}, {name: bond0, type: bond, link-aggregation: {mode: active-backup, ` + ports + `}, ipv4: {enabled: true, dhcp: true}}]`
	}
	for name, tc := range map[string]struct {
		document string
		cards    map[string]string
		left     []string // to nmstatectl
		refused  string
	}{
		"ports of a bond": {
			document: bond("sriov:eno1:0", `options: {primary: "sriov:eno1:0"}, port: ["sriov:eno1:0", "sriov:eno2:0"]`),
			left:     []string{"interfaces[1].name: sriov:eno1:0 is a virtual function", "interfaces[2].link-aggregation.port[1]: sriov:eno2:0"},
		},
		"with addresses": {
			document: bond("sriov:eno1:0", `port: ["sriov:eno1:0", "sriov:eno2:0"]`), cards: map[string]string{"eno1": "52:54:00:00:00:01", "eno2": "52:54:00:00:00:02"},
			left: []string{"interfaces[1].name"},
		},
		"as settings of ports": {document: bond("eno3", `ports-config: [{name: "sriov:eno1:0", queue-id: 1}]`), left: []string{"interfaces[2].link-aggregation.ports-config[0].name"}},
		"a port of a bridge": {
			document: `interfaces: [` + card + `{name: br0, type: linux-bridge, bridge: {port: [{name: "sriov:eno1:1"}]}}]`, left: []string{"interfaces[1].bridge.port[0].name"},
		},
		"alone":     {document: `interfaces: [` + card + `{name: "sriov:eno1:0", ipv4: {enabled: true, dhcp: true}}]`, left: []string{"interfaces[1].name"}},
		"no number": {document: bond("sriov:eno1:x", `port: [eno1]`), refused: `"sriov:eno1:x" is not an interface name`},
		"no card":   {document: bond("sriov::0", `port: [eno1]`), refused: `"sriov::0" is not an interface name`},
		"no ethernet": {
			document: `interfaces: [` + card + `{name: "sriov:eno1:0", type: dummy}]`, refused: `"sriov:eno1:0" is not an interface name`,
		},
		"a primary that is no port": {document: bond("sriov:eno1:0", `options: {primary: "sriov:eno1:1"}, port: ["sriov:eno1:0"]`), refused: "is none of the ports"},
		"below a VLAN":              {document: `interfaces: [` + card + `{name: v5, type: vlan, vlan: {id: 5, base-iface: "sriov:eno1:0"}}]`, refused: "interfaces[1].vlan.base-iface"},
		"of a card with a logical name": {
			document: `interfaces: [{name: nic1}, {name: "sriov:nic1:0"}]`, cards: map[string]string{"nic1": "52:54:00:00:00:01"},
			refused: "interfaces[1].name: nmstatectl finds the card of a virtual function by the kernel's name only, and nic1 is none",
		},
		"a port of a card with a logical name": {
			document: `interfaces: [{name: nic1}, {name: b, type: bond, link-aggregation: {mode: 802.3ad, port: ["sriov:nic1:0"]}}]`, cards: map[string]string{"nic1": "52:54:00:00:00:01"},
			refused: "interfaces[1].link-aggregation.port[0]: nmstatectl finds the card",
		},
		"rates where a manual has them": {
			document: `interfaces: [{name: bond0, type: bond, min-tx-rate: 100, max-tx-rate: 200, link-aggregation: {mode: active-backup, port: ["sriov:eno1:0"]}}]`,
			refused:  "interfaces[0].min-tx-rate: nmstate has this only for a virtual function",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s, err := network.Live{Nmstatectl: true}.Translate([]byte(tc.document), tc.cards)
			if tc.refused != "" {
				g.Expect(err).To(MatchError(ContainSubstring(tc.refused)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(s.Way()).To(Equal(network.WayNmstatectl))
			g.Expect(s.Nmstate).To(ContainSubstring("sriov:eno1:"))
			for _, text := range tc.left {
				g.Expect(s.Left).To(MatchError(ContainSubstring(text)))
			}
			_, err = network.Live{}.Translate([]byte(tc.document), tc.cards)
			g.Expect(err).To(MatchError(ContainSubstring("and nmstatectl cannot do it")))
		})
	}
}

// nmstatectl either finds a card by its address or gives it one: whoever wants both is told.
func TestNmstatectlCannotGiveACardAnotherAddress(t *testing.T) {
	g := NewWithT(t)
	_, err := network.Live{Nmstatectl: true}.Translate([]byte(`interfaces: [{name: left, mac-address: "02:00:00:00:00:05"}, {name: vx, type: vxlan}]`), map[string]string{"left": "52:54:00:00:00:01"})
	g.Expect(err).To(MatchError(network.ErrUnsupported))
	g.Expect(err).To(MatchError(ContainSubstring("interfaces[0].mac-address: nmstatectl finds left by 52:54:00:00:00:01")))
	s, err := network.Live{Nmstatectl: true}.Translate([]byte(`interfaces: [{name: left, mac-address: "52:54:00:00:00:01"}, {name: vx, type: vxlan}]`), map[string]string{"left": "52:54:00:00:00:01"})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(s.Nmstate).To(ContainSubstring(`"identifier":"mac-address","mac-address":"52:54:00:00:00:01"`))
}

// A card that the map explains and only a type that is not translated lies on is found by
// its address, too.
func TestNmstatectlFindsCardsBelowItsOwnTypes(t *testing.T) {
	g := NewWithT(t)
	s, err := network.Live{Nmstatectl: true}.Translate([]byte("interfaces: [{name: mv, type: mac-vlan, mac-vlan: {base-iface: uplink, mode: bridge}}]"), map[string]string{"uplink": "52:54:00:00:00:01"})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(s.Nmstate).To(ContainSubstring(`"mac-address":"52:54:00:00:00:01","name":"uplink"`))
}

func TestHostnameComesBesideTheKeyfiles(t *testing.T) {
	g := NewWithT(t)
	s, err := network.Translate([]byte("{hostname: {config: node-1.example.com, running: x}, interfaces: [{name: eth0}]}"), nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(s.Hostname).To(Equal("node-1.example.com"))
	_, err = s.OnlyKeyfiles()
	g.Expect(err).To(MatchError(ContainSubstring("hostname.config")))
}

// A card that is found by its address has a name that only the live system knows.
func TestNamesThatOnlyTheLiveSystemKnows(t *testing.T) {
	const bond = "interfaces: [{name: left}, {name: right}, {name: b, type: bond, " +
		"link-aggregation: {mode: active-backup, port: [left, right], options: {primary: right}}, ipv4: {enabled: true, dhcp: true}}]"
	cards := map[string]string{"left": "52:54:00:00:00:01", "right": "52:54:00:00:00:02"}
	rule := strings.Replace(bond, ", options: {primary: right}", "", 1) + "\nroute-rules: {config: [{family: ipv4, iif: left, route-table: 7}]}"
	for name, tc := range map[string]struct {
		document string
		cards    map[string]string
		unnamed  bool
	}{
		"primary by a logical name":      {bond, cards, true},
		"primary by the kernel's name":   {bond, nil, false},
		"a rule by a logical name":       {rule, cards, true},
		"nothing names a card":           {strings.Replace(bond, ", options: {primary: right}", "", 1), cards, false},
		"a rule by the name of the bond": {strings.Replace(rule, "iif: left", "iif: b", 1), cards, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s, err := network.Translate([]byte(tc.document), tc.cards)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(s.Unnamed).To(Equal(tc.unnamed))
			g.Expect(s.Cards).To(HaveLen(len(tc.cards)))
			_, err = s.OnlyKeyfiles()
			g.Expect(err != nil).To(Equal(tc.unnamed))
		})
	}
}

// Maps of addresses and documents that contradict each other.
func TestMapsThatContradictTheirDocument(t *testing.T) {
	one := map[string]string{"nic1": "52:54:00:00:00:01"}
	for name, tc := range map[string]struct {
		document string
		cards    map[string]string
		want     string
	}{
		"a card":                       {"interfaces: [{name: nic1}]", one, ""},
		"a card that says its address": {`interfaces: [{name: nic1, mac-address: "52:54:00:00:00:01"}]`, one, ""},
		"a card with another address": {
			`interfaces: [{name: nic1, identifier: mac-address, mac-address: "52:54:00:00:00:09"}]`,
			one,
			"interfaces[0].mac-address: is 52:54:00:00:00:09, and the map of addresses says 52:54:00:00:00:01",
		},
		"a card with the address of other": {`interfaces: [{name: x, identifier: mac-address, mac-address: "52:54:00:00:00:01"}]`, one, "interfaces[0].mac-address: is that of nic1"},
		"a bond with the name of a card":   {`interfaces: [{name: nic1, type: bond, link-aggregation: {mode: "1"}}]`, one, "interfaces[0].type: nic1 is a card in the map"},
		"a name that nobody explains":      {"interfaces: [{name: nic2}]", one, "interfaces[0].name: nic2 has no address in the map"},
		"a port that nobody explains":      {`interfaces: [{name: b, type: bond, link-aggregation: {mode: "1", port: [nic1, nic2]}}]`, one, "interfaces[0].link-aggregation.port[1]: nic2 has no address"},
		"a VLAN on what nobody explains":   {`interfaces: [{name: v, type: vlan, vlan: {base-iface: nic2, id: 5}}]`, one, "interfaces[0].vlan.base-iface: nic2 has no address in the map"},
		"a VLAN on a name of the kernel":   {`interfaces: [{name: v, type: vlan, vlan: {base-iface: eno2, id: 5}}]`, one, ""},
		"a name of the kernel":             {"interfaces: [{name: nic1}, {name: eno2}, {name: enp1s0f0np0}, {name: eth3}]", one, ""},
		"a card that is to be off":         {"interfaces: [{name: nic2, state: absent}]", one, ""},
		"beside what is not translated":    {`interfaces: [{name: vx, type: vxlan}, {name: nic2}]`, one, "interfaces[1].name: nic2 has no address in the map"},
		"two cards of one address":         {"interfaces: []", map[string]string{"a": "52:54:00:00:00:0a", "b": "52:54:00:00:00:0A"}, "a and b have the address 52:54:00:00:00:0A"},
		"an address that is none":          {"interfaces: []", map[string]string{"a": "x"}, `a has the address "x"`},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			_, err := network.Translate([]byte(tc.document), tc.cards)
			if tc.want == "" {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(err).To(MatchError(ContainSubstring(tc.want)))
			g.Expect(network.LeftToNmstatectl(err)).To(BeFalse())
		})
	}
}

// The card that a VLAN lies on, and the ports of a bond, need not be declared where the
// map has them.
func TestCardsThatOnlyTheMapHas(t *testing.T) {
	g := NewWithT(t)
	s, err := network.Translate([]byte("interfaces: [{name: v, type: vlan, vlan: {base-iface: uplink, id: 7}}]"), map[string]string{"uplink": "52:54:00:00:00:0a"})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(s.Keyfiles["uplink.nmconnection"])).To(And(ContainSubstring("mac-address=52:54:00:00:00:0A\n"), ContainSubstring("type=ethernet\n")))
}

func TestAddressOfAPort(t *testing.T) {
	const document = "interfaces: [{name: left}, {name: b, type: bond, copy-mac-from: left, link-aggregation: {mode: active-backup, port: [left]}}]"
	g := NewWithT(t)
	s, err := network.Translate([]byte(document), map[string]string{"left": "52:54:00:00:00:0a"})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(s.Keyfiles["b.nmconnection"])).To(ContainSubstring("cloned-mac-address=52:54:00:00:00:0A\n"))
	_, err = network.Translate([]byte(document), nil)
	g.Expect(network.LeftToNmstatectl(err)).To(BeTrue(), "the live system knows the card's address")
}
