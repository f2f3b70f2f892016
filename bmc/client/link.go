package client

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// maxLink bounds a path: longer ones are attacks.
const maxLink = 2048

// place is where a BMC is. Links are followed only there.
type place struct {
	scheme string
	host   string // name or IP address with its zone, in lower case, without brackets
	port   string
}

// base is the place as the beginning of a URL.
func (p place) base() string {
	host := p.host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if p.port != standardPorts[p.scheme] {
		host += ":" + p.port
	}
	return (&url.URL{Scheme: p.scheme, Host: host}).String() // a zone has a form of its own there
}

// name is the host as it stands in certificates, and as the BMC knows itself: a zone says
// which of our cards leads there.
func (p place) name() string {
	name, _, _ := strings.Cut(p.host, "%")
	return name
}

// has reports whether a URL leads to the place.
func (p place) has(u *url.URL) bool {
	at := placeOf(u)
	if at.host == p.name() {
		at.host = p.host
	}
	return at == p
}

var standardPorts = map[string]string{"http": "80", "https": "443"}

// parsePlace reads a target's URL.
func parsePlace(raw string) (place, error) {
	u, err := url.Parse(raw)
	if err != nil { // the parser's error repeats the URL, which may hold a password
		return place{}, fmt.Errorf("the BMC's URL cannot be read: set it to https://HOST[:PORT]")
	}
	switch {
	case u.User != nil:
		return place{}, fmt.Errorf("the BMC's URL holds credentials: give them apart from it")
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.Opaque != "":
		return place{}, fmt.Errorf("the BMC's URL %q is not https://HOST[:PORT]", raw)
	case strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "":
		return place{}, fmt.Errorf("the BMC's URL %q has a path: leave it out", raw)
	case !usable(u.Port()):
		return place{}, fmt.Errorf("the BMC's URL %q has a port that there is not: they are 1 to 65535", raw)
	}
	return placeOf(u), nil
}

func usable(port string) bool {
	number, err := strconv.ParseUint(port, 10, 16)
	return port == "" || err == nil && number > 0
}

func placeOf(u *url.URL) place {
	p := place{scheme: strings.ToLower(u.Scheme), host: strings.ToLower(u.Hostname()), port: u.Port()}
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil { // letters count in a zone
		p.host = ip.String() // IPv6 has many forms
	}
	if p.port == "" {
		p.port = standardPorts[p.scheme]
	}
	return p
}

// path cuts a link to what is asked for at the place: path and query. A link to
// another place, or none at all, is an error.
func (p place) path(link string) (string, error) {
	if len(link) > maxLink { // before it is read
		return "", tooLong(link)
	}
	u, err := url.Parse(strings.TrimSpace(link))
	if err != nil {
		return "", fmt.Errorf("the link cannot be read")
	}
	switch {
	case u.Host != "":
		if u.Scheme == "" {
			u.Scheme = p.scheme // "//host/path"
		}
		if u.User != nil || !p.has(u) {
			return "", fmt.Errorf("a link to another place (%s) is not followed", (&url.URL{Scheme: u.Scheme, Host: u.Host}).String())
		}
	case u.Scheme != "" || u.Opaque != "":
		return "", fmt.Errorf("a link with the scheme %q is not followed", u.Scheme)
	}
	path := u.EscapedPath()
	if strings.HasPrefix(path, "redfish/") {
		path = "/" + path
	}
	if !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") {
		return "", fmt.Errorf("the link %.80q is no path", link)
	}
	if u.RawQuery != "" {
		path += "?" + strings.ReplaceAll(u.RawQuery, " ", "%20")
	}
	if len(path) > maxLink { // escapes make it longer
		return "", tooLong(path)
	}
	return path, nil
}

func tooLong(link string) error {
	return fmt.Errorf("a link of %d characters is not followed", len(link))
}

// address is the host and port, for messages.
func (p place) address() string { return net.JoinHostPort(p.host, p.port) }

// rootPath is where a Redfish service begins.
const rootPath = "/redfish/v1/"

// open reports whether a path is readable without credentials by the standard.
func open(path string) bool {
	switch strings.TrimRight(path, "/") {
	case "/redfish", "/redfish/v1", "/redfish/v1/odata", "/redfish/v1/$metadata":
		return true
	}
	return false
}
