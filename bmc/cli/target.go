package cli

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"

	"github.com/ironflow/ironflow/bmc/address"
	"github.com/ironflow/ironflow/bmc/client"
)

// target is a BMC to probe; name is its address in messages and reports.
type target struct {
	client.Target

	name string
	// bad is why it is no address of a BMC; name is its place in the list then.
	bad error
}

// servicePath is where Redfish services begin.
const servicePath = "/redfish/v1"

// parseTarget reads an address: a host, a URL, or one of spec.bmc.address. What it gives can
// be asked.
func parseTarget(raw string) (target, error) {
	t, err := readTarget(raw)
	if err == nil {
		_, err = client.New(t.Target, client.Options{})
	}
	return t, err
}

func readTarget(raw string) (target, error) {
	scheme, _, isURL := strings.Cut(raw, "://")
	switch {
	case !isURL:
		return fromHost(raw)
	case scheme == "http" || scheme == "https":
		return fromURL(raw)
	}
	a, err := address.Parse(raw)
	if err != nil {
		return target{}, err
	}
	if strings.Contains(raw, "@") {
		return target{}, errCredentials
	}
	if a.Family != address.Redfish {
		return target{}, fmt.Errorf("the address %s is not Redfish, and nothing else can be probed: try https://%s", raw, bracketed(a.Host()))
	}
	base, _ := a.URL()
	return named(base, a.SystemPath()), nil
}

var errCredentials = errors.New("an address holds a user name or a password: give them with --username and --password-file")

// fromHost reads HOST[:PORT], IPv6 with or without brackets.
func fromHost(raw string) (target, error) {
	if strings.Contains(raw, "@") {
		return target{}, errCredentials
	}
	if ip, err := netip.ParseAddr(raw); err == nil {
		return named((&url.URL{Scheme: "https", Host: bracketed(ip.String())}).String(), ""), nil
	}
	return fromURL("https://" + raw)
}

// fromURL reads http[s]://HOST[:PORT][/redfish/v1[/Systems/ID]].
func fromURL(raw string) (target, error) {
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return target{}, errors.New("an address cannot be read: write it as https://HOST[:PORT]")
	case u.User != nil:
		return target{}, errCredentials
	case u.Hostname() == "" || u.RawQuery != "" || u.Fragment != "" || strings.ContainsAny(u.Hostname(), " \t"):
		return target{}, fmt.Errorf("the address %q cannot be read: write it as https://HOST[:PORT]", raw)
	}
	path := strings.TrimRight(u.Path, "/")
	switch {
	case path == "" || path == servicePath:
		path = ""
	case !strings.HasPrefix(path, servicePath+"/Systems/"):
		return target{}, fmt.Errorf("the address %q has a path that is no system's: leave it out, or write %s/Systems/ID", raw, servicePath)
	}
	return named((&url.URL{Scheme: u.Scheme, Host: u.Host}).String(), path), nil
}

func named(base, system string) target {
	return target{Target: client.Target{URL: base, System: system}, name: base + system}
}

func bracketed(host string) string {
	if strings.Contains(host, ":") {
		return strings.TrimSuffix(net.JoinHostPort(host, ""), ":")
	}
	return host
}
