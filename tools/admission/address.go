package admission

import (
	"strings"

	"github.com/ironflow/ironflow/bmc/address"
)

// Parts of a BMC address as [address.Parse] reads it. They are a little laxer
// than it: digits of an IPv6 address and the range of a port are not counted.
const (
	label   = `[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?`
	host    = label + `(?:\.` + label + `)*\.?`
	ipv6    = `\[[0-9A-Fa-f:.]+(?:%[^\]\s]+)?\]`
	port    = `(?::[0-9]*)?`
	details = `(?:[/?#].*)?`
	// Without a scheme, an empty port would make host and port of any scheme://.
	barePort = `(?::[0-9]+)?`
	bare     = `[0-9A-Fa-f]*:[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*(?:%[^\s]+)?`
)

// addressPattern matches the addresses that are understood.
func addressPattern() string {
	scheme := `(?i:` + family("") + `):(?://)?(?:[^/@?#]*@)?`
	named := `(?:` + host + `|` + ipv6 + `)`
	return `^\s*(?:` + scheme + named + port + details + `|` + named + barePort + details + `|` + bare + `)\s*$`
}

// redfishPattern matches addresses of the Redfish family.
func redfishPattern() string { return `^\s*(?i:` + family(address.Redfish) + `):` }

// macPattern matches addresses whose machine cannot be told without its boot MAC.
func macPattern() string {
	var needing []string
	for _, name := range address.Schemes() {
		if a, err := address.Parse(name + "://192.0.2.1/"); err == nil && a.NeedsMAC {
			needing = append(needing, name)
		}
	}
	return `^\s*(?i:` + strings.Join(needing, "|") + `)(?:\+https?)?:`
}

// family lists the schemes of a family, or of all, with the transports that they take.
func family(want address.Family) string {
	var plain, redfish []string
	for _, name := range address.Schemes() {
		a, err := address.Parse(name + "://192.0.2.1/")
		switch {
		case err != nil:
		case a.Family == address.Redfish:
			redfish = append(redfish, name)
		default:
			plain = append(plain, name)
		}
	}
	both := `(?:` + strings.Join(redfish, "|") + `)(?:\+https?)?`
	if want == "" {
		both += "|" + strings.Join(plain, "|")
	}
	return both
}
