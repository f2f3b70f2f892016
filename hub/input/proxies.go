package input

import (
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/wire"
)

// proxies refuses what no program could reach the outside by. They may hold a password,
// which is not repeated; member comes before the names of the three.
func proxies(member string, p wire.Proxy) error {
	if !isProxy(wire.Value(p.HTTPProxy), "http") {
		return apierror.Field(member+"http_proxy", "want a URL such as http://proxy.example:3128; the way to the proxy itself is http, whatever is fetched by it")
	}
	if !isProxy(wire.Value(p.HTTPSProxy), "http", "https") {
		return apierror.Field(member+"https_proxy", "want a URL such as http://proxy.example:3128")
	}
	list := wire.Value(p.NoProxy)
	if list == "" || list == "*" {
		return nil
	}
	for entry := range strings.SplitSeq(list, ",") {
		if !unproxied(entry) {
			return apierror.Value(member+"no_proxy", entry, "want * alone, or domains, addresses and networks with a comma between them and no blanks, "+
				"such as .example.com,192.0.2.0/24; a dot at the beginning stands for all names below")
		}
	}
	return nil
}

func isProxy(text string, schemes ...string) bool {
	if text == "" {
		return true
	}
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || strings.ContainsAny(u.Host, " \t\"'") || !slices.Contains(schemes, strings.ToLower(u.Scheme)) {
		return false
	}
	_, err = strconv.ParseUint(u.Port(), 10, 16)
	return u.Port() == "" || err == nil
}

// unproxied tells that the entry names those who are reached without a proxy.
func unproxied(entry string) bool {
	if _, err := netip.ParsePrefix(entry); err == nil {
		return true
	}
	return isServer(strings.TrimPrefix(entry, "."))
}
