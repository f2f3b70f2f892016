package network

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
)

func parseDNS(o *object) dns {
	d := dns{path: o.path, search: o.strings("search"), options: o.strings("options")}
	for i, option := range d.options {
		if !dnsOption.MatchString(option) {
			o.refuse(fmt.Sprintf("%s[%d]", o.at("options"), i), "%q is not an option of resolv.conf, such as rotate or timeout:1", option)
		}
	}
	checkSearch(o, d.search, "search")
	d.search, d.options = distinct(d.search), distinct(d.options)
	for i, s := range o.strings("server") {
		path := fmt.Sprintf("%s.server[%d]", o.path, i)
		addr, err := netip.ParseAddr(s)
		switch {
		case err != nil:
			o.refuse(path, "%q is not an address", s)
		case addr.Zone() != "":
			o.leave(path, "%q is on one link only, which no keyfile can say", s)
		case !slices.Contains(d.servers, addr):
			d.servers = append(d.servers, addr)
		}
	}
	o.done()
	return d
}

// distinct leaves out what was there before.
func distinct(texts []string) (out []string) {
	seen := map[string]bool{}
	for _, text := range texts {
		if !seen[text] {
			out = append(out, text)
		}
		seen[text] = true
	}
	return out
}

// searchEntry is a domain; NetworkManager takes one with a tilde in front for the domains
// that the servers are asked for, and would take two apart that are written as one.
var searchEntry = regexp.MustCompile(`^(~\.|~?[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?(\.[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?)*\.?)$`)

// checkSearch refuses search entries that are no domains.
func checkSearch(o *object, entries []string, key string) {
	for i, entry := range entries {
		if len(entry) > 254 || !searchEntry.MatchString(entry) {
			o.refuse(fmt.Sprintf("%s[%d]", o.at(key), i), "%q is not a domain", entry)
		}
	}
}

// dnsOption is one of resolv.conf; the others NetworkManager would drop.
var dnsOption = regexp.MustCompile(`^(debug|edns0|inet6|ip6-bytestring|ip6-dotint|no-aaaa|no-check-names|no-ip6-dotint|no-reload|no-tld-query|rotate|single-request|single-request-reopen|trust-ad|use-vc|(attempts|ndots|timeout):[0-9]{1,2})$`)
