package network_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/imagecustomization/network"
)

// TestWhichInterfaceHasTheNameServers: they are gone with the interface that has them, so it
// is not one that may get no address.
func TestWhichInterfaceHasTheNameServers(t *testing.T) {
	const (
		asks    = "- {name: asks, ipv4: {enabled: true, dhcp: true}}\n"
		ignores = "- {name: ignores, ipv4: {enabled: true, dhcp: true, auto-dns: false}}\n"
		static  = "- {name: static, ipv4: {enabled: true, address: [{ip: 192.0.2.10, prefix-length: 24}]}}\n"
		leads   = "- {name: leads, ipv4: {enabled: true, address: [{ip: 198.51.100.10, prefix-length: 24}]}}\n"
		route   = "routes: {config: [{destination: 0.0.0.0/0, next-hop-address: 198.51.100.1, next-hop-interface: leads}]}\n"
	)
	for name, tc := range map[string]struct{ interfaces, routes, want string }{
		"the one with the default route":         {asks + static + leads, route, "leads"},
		"one with an address, before one asks":   {asks + static, "", "static"},
		"one that asks, but not for servers":     {asks + ignores + static, "", "ignores"},
		"one that asks, where there is no other": {asks, "", "asks"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			files, err := network.Keyfiles([]byte("interfaces:\n" + tc.interfaces + "dns-resolver: {config: {server: [192.0.2.53]}}\n" + tc.routes))
			g.Expect(err).NotTo(HaveOccurred())
			for file, content := range files {
				has := ContainSubstring("dns=192.0.2.53;\n")
				if file != tc.want+".nmconnection" {
					has = Not(has)
				}
				g.Expect(string(content)).To(has, file)
			}
		})
	}
}
