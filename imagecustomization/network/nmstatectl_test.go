//go:build e2e

package network_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"

	"github.com/ironflow/ironflow/test/needs"
)

// differs are settings in which we and nmstatectl differ on purpose, by case.
var differs = map[string]string{
	"dns-not-on-link-local":                  `.*`, // what it makes, NetworkManager does not take
	"ethernet-dhcp6-duid-uuid":               `.*`, // the same
	"fleet/bridge-all-options":               `.*`, // the same
	"ethernet-dhcp6-static-route":            `\[ipv6\]never-default=`,
	"ethernet-no-auto-routes":                `\[ipv4\]never-default=`,
	"dns-on-default-route":                   `\[ipv4\]dns`, // on the first card there, on that with the default route here
	"fleet/static-as-nmstatectl-shows-it":    `\[ethtool\]feature-t`,
	"fleet/static-with-link-settings":        `\[ethernet\](duplex|speed)=`, // it leaves them out beside auto-negotiation
	"fleet/ethtool-tuned-card":               `\[ethtool\]coalesce-(sample-interval|tx-usecs-irq)=`,
	"fleet/sriov-functions":                  `\[sriov\]vf\.1=`, // a VLAN of 0 is none
	"fleet/rules-by-interface-and-action":    `\]rule `,         // it counts priorities in another order
	"fleet/rules-of-two-uplinks":             `\]rule `,         // rules of a host have no place of their own
	"fleet/bond-lacp-hash-policy-and-dns":    `\[bond\]lacp_rate=`,
	"fleet/bond-lacp-as-nmstatectl-shows-it": `\[bond\](ad_actor_system|primary_reselect)=`, // of nobody, and without effect
}

// notTaken are documents that nmstatectl does not take, by case.
var notTaken = map[string]string{
	"bond-all-options-balance-tlb": "expected unsigned integer", "bond-old-key-slaves": "unknown field `slaves`", "route-on-link": "unknown variant `present`",
	"ethernet-slaac-only": "Autoconf without DHCP", "fleet/dhcp-waits-for-both-families": "Autoconf without DHCP", "fleet/rules-by-mark": "Autoconf without DHCP",
	"fleet/six-only-token": "Autoconf without DHCP", "fleet/vlan-in-vlan": "Autoconf without DHCP", "fleet/routes-that-lead-nowhere": "Autoconf without DHCP",
	"fleet/infiniband-datagram": "missing field `pkey`",
}

// TestNmstatectlMakesTheSame compares our keyfiles with those that nmstatectl makes of the
// same documents, both as NetworkManager writes them again.
func TestNmstatectlMakesTheSame(t *testing.T) {
	program := needs.Nmstatectl(t)
	nmcli := needs.Program(t, "nmcli", "network-manager")
	for name, document := range cases(t) {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			files, err := keyfiles(document)
			g.Expect(err).NotTo(HaveOccurred())
			var said strings.Builder
			cmd := exec.CommandContext(t.Context(), program, "gc", filepath.Join("testdata", name+".yaml"))
			cmd.Stderr = &said
			raw, err := cmd.Output()
			if why := notTaken[name]; why != "" {
				g.Expect(err).To(HaveOccurred())
				g.Expect(said.String()).To(ContainSubstring(why))
				return
			}
			g.Expect(err).NotTo(HaveOccurred(), said.String())
			var made struct{ NetworkManager [][2]string }
			g.Expect(yaml.Unmarshal(raw, &made)).To(Succeed(), string(raw))
			theirs := map[string][]byte{}
			for _, file := range made.NetworkManager {
				theirs[file[0]] = []byte(file[1])
			}
			g.Expect(essence(t, nmcli, name, files)).To(Equal(essence(t, nmcli, name, theirs)))
		})
	}
}

var (
	// immaterial are settings that say who made the file, and nmstate's habits about what
	// nobody asked for.
	immaterial = regexp.MustCompile(
		`^\[user\]|^\[connection\]id=|` +
			`\](uuid|autoconnect-(priority|slaves)|addr-gen-mode|dhcp-(client-id|duid|iaid|timeout)|` +
			`ra-timeout|required-timeout|may-fail|dns-priority|timestamp)=|` +
			`^\[vlan\](protocol=802.1Q|parent=[0-9a-f-]{36})`,
	)
	numbered = regexp.MustCompile(`^(\[ipv[46]\])(route|routing-rule)[0-9]+(_options)?=(.*)$`)
	habits   = strings.NewReplacer("table=254,", "", ",table=254", "", "table=254", "")
	exactly  = strings.NewReplacer()
)

// essence is what keyfiles say, as NetworkManager writes it, in one order.
func essence(t *testing.T, nmcli, name string, files map[string][]byte) (out []string) {
	t.Helper()
	except := regexp.MustCompile("^$")
	if differs[name] != "" {
		except = regexp.MustCompile(differs[name])
	}
	for _, file := range files {
		cmd := exec.CommandContext(t.Context(), nmcli, "--offline", "connection", "modify", "connection.autoconnect-retries", "-1")
		cmd.Stdin = strings.NewReader(string(file))
		again, err := cmd.Output()
		if err != nil && differs[name] != ".*" {
			t.Fatalf("NetworkManager does not take it: %v\n%s", err, file)
		}
		device, lines, route := "", settings(again), ""
		habits := habits
		if strings.Contains(string(again), "\nroute-table=") { // then the main table is another one than that of a route without a word
			habits = exactly
		}
		for _, line := range lines {
			for _, key := range []string{"[connection]id=", "[connection]interface-name="} {
				if value, is := strings.CutPrefix(line, key); is {
					device = value
				}
			}
		}
		add := func(line string) {
			if line != "" && !immaterial.MatchString(line) && !except.MatchString(line) {
				out = append(out, device+" "+line)
			}
		}
		for _, line := range lines {
			m := numbered.FindStringSubmatch(line)
			switch {
			case m == nil:
				add(line)
			case m[3] != "":
				route = strings.TrimRight(route+" "+habits.Replace(m[4]), " ")
			default:
				add(route)
				route = fmt.Sprintf("%s%s %s", m[1], strings.TrimPrefix(m[2], "routing-"), habits.Replace(m[4]))
			}
			if m == nil {
				add(route)
				route = ""
			}
		}
		add(route)
	}
	slices.Sort(out)
	return out
}
