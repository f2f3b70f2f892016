package address

import (
	"fmt"
	"maps"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Address is a BMC address that was understood.
type Address struct {
	Scheme     string // as written, without the transport suffix
	Family     Family
	Driver     string // Ironic's hardware type
	Interfaces Interfaces
	// BootsISO says that the BMC can boot an ISO image, so that no provisioning
	// network is needed.
	BootsISO bool
	// NeedsMAC says that the host must name its boot MAC even if it is inspected.
	NeedsMAC bool
	// SecureBoot and Firmware say whether the family can switch secure boot and
	// change firmware and its settings; FastInspection whether the BMC itself can
	// be asked for an inventory.
	SecureBoot, Firmware, FastInspection bool

	transport  string // "http" or "https" of Redfish
	host       string // with port, IPv6 in brackets
	path       string
	privilege  string
	alwaysPath bool
}

// Credentials are the content of the BMC's Secret.
type Credentials struct {
	Username, Password string
}

// Options change how the BMC is talked to.
type Options struct {
	DisableCertificateVerification bool
}

const (
	defaultIPMIPort  = "623"
	defaultPrivilege = "ADMINISTRATOR"
	privilegeQuery   = "privilegelevel"
	serviceRoot      = "/redfish/v1"
)

var sortedNames = slices.Sorted(maps.Keys(schemes))

// Parse reads an address: scheme[+http|+https]://host[:port][/path][?query]. A
// host alone, with or without port, is IPMI; scheme:host is read as scheme://host.
func Parse(raw string) (*Address, error) {
	u, err := parseURL(strings.TrimSpace(raw))
	if err != nil {
		return nil, err
	}
	name, transport, suffixed := strings.Cut(u.Scheme, "+")
	s, known := schemes[name]
	if !known || suffixed && (s.family != Redfish || transport != "http" && transport != "https") {
		return nil, fmt.Errorf("Unknown BMC type '%s' for address %s", u.Scheme, u.Redacted()) //nolint:staticcheck // the text users of baremetal-operator know
	}
	if err := checkHost(u); err != nil {
		return nil, err
	}
	if transport == "" {
		transport = "https"
	}
	a := &Address{
		Scheme: name, Family: s.family, Driver: s.driver, Interfaces: s.interfaces, BootsISO: s.iso, NeedsMAC: s.needsMAC,
		transport: transport, host: u.Host, path: u.Path, alwaysPath: s.alwaysPath,
	}
	if s.family == IPMI {
		a.privilege = u.Query().Get(privilegeQuery)
	}
	redfish := s.family == Redfish
	a.SecureBoot, a.Firmware, a.FastInspection = redfish, redfish, redfish
	return a, nil
}

// digits matches the port of a host:port that looks like a scheme and an opaque part.
var digits = regexp.MustCompile(`^[0-9]+$`)

func parseURL(raw string) (*url.URL, error) {
	if raw == "" {
		return nil, fmt.Errorf("the BMC address is empty: set it to scheme://host, for example redfish-virtualmedia://192.0.2.1/redfish/v1/Systems/1")
	}
	if strings.Contains(raw, ":") && !strings.Contains(raw, "://") {
		if _, err := netip.ParseAddr(raw); err == nil {
			return &url.URL{Scheme: "ipmi", Host: "[" + raw + "]"}, nil // bare IPv6
		}
	}
	u, err := url.Parse(raw)
	if err != nil {
		if _, _, split := net.SplitHostPort(raw); split == nil && !strings.Contains(raw, "/") {
			return url.Parse("ipmi://" + raw)
		}
		return nil, fmt.Errorf("the BMC address cannot be read: %w", cause(err))
	}
	switch {
	case u.Opaque != "" && digits.MatchString(u.Opaque) && !knownScheme(u.Scheme):
		return url.Parse("ipmi://" + raw) // host:port
	case u.Opaque != "":
		u, err = url.Parse(u.Scheme + "://" + strings.TrimPrefix(raw[len(u.Scheme):], ":"))
	case u.Scheme == "" && u.Host == "":
		u, err = url.Parse("ipmi://" + raw)
	}
	if err != nil {
		return nil, fmt.Errorf("the BMC address cannot be read: %w", cause(err))
	}
	return u, nil
}

func knownScheme(name string) bool {
	name, _, _ = strings.Cut(name, "+")
	_, known := schemes[name]
	return known
}

// cause drops the URL, which may hold credentials, from a parser's error.
func cause(err error) error {
	if u, ok := err.(*url.Error); ok { //nolint:errorlint // url.Parse returns exactly this
		return u.Err
	}
	return err
}

// label is one part of a DNS name; underscores occur in the wild.
var label = regexp.MustCompile(`^[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?$`)

func checkHost(u *url.URL) error {
	if port := u.Port(); port != "" {
		if number, err := strconv.ParseUint(port, 10, 16); err != nil || number == 0 {
			return fmt.Errorf("the BMC address %s has port %s: ports are 1 to 65535", u.Redacted(), port)
		}
	}
	host := u.Hostname()
	if _, err := netip.ParseAddr(host); err == nil {
		return nil
	}
	for part := range strings.SplitSeq(strings.TrimSuffix(host, "."), ".") {
		if !label.MatchString(part) {
			return fmt.Errorf("the BMC address %s has no valid host name or IP address", u.Redacted())
		}
	}
	return nil
}

// DriverInfo returns Ironic's driver_info for the BMC. It holds the password.
func (a *Address) DriverInfo(c Credentials, o Options) map[string]any {
	info := a.Location()
	prefix := string(a.Family) + "_"
	info[prefix+"username"], info[prefix+"password"] = c.Username, c.Password
	if o.DisableCertificateVerification {
		info[prefix+"verify_ca"] = false
	}
	return info
}

// Location returns the part of driver_info that the address alone decides:
// where the BMC is, and which system of it is meant.
func (a *Address) Location() map[string]any {
	if a.Family == IPMI {
		u := url.URL{Host: a.host}
		port, privilege := u.Port(), a.privilege
		if port == "" {
			port = defaultIPMIPort
		}
		if privilege == "" {
			privilege = defaultPrivilege
		}
		return map[string]any{"ipmi_address": u.Hostname(), "ipmi_port": port, "ipmi_priv_level": privilege}
	}
	info := map[string]any{"redfish_address": a.base()}
	if a.alwaysPath || !a.singleSystem() {
		info["redfish_system_id"] = a.path
	}
	return info
}

// singleSystem reports whether the path names no system: Ironic then takes the
// only one that the BMC has.
func (a *Address) singleSystem() bool {
	trimmed := strings.TrimRight(a.path, "/")
	return trimmed == "" || trimmed == serviceRoot
}

// SystemPath is the path of the Redfish system; empty when the BMC has just one.
func (a *Address) SystemPath() string {
	if a.Family != Redfish || a.singleSystem() {
		return ""
	}
	return a.path
}

// URL is the address of the BMC's Redfish service, without a path; redfish is false
// for a BMC of another kind.
func (a *Address) URL() (base string, redfish bool) {
	if a.Family != Redfish {
		return "", false
	}
	return a.base(), true
}

// base is the URL of a Redfish service; a zone has a form of its own there.
func (a *Address) base() string { return (&url.URL{Scheme: a.transport, Host: a.host}).String() }

// Host is the BMC's host name or IP address, without port and brackets.
func (a *Address) Host() string { return (&url.URL{Host: a.host}).Hostname() }

// IPv6 reports whether the BMC is named by an IPv6 address.
func (a *Address) IPv6() bool {
	ip, err := netip.ParseAddr(a.Host())
	return err == nil && ip.Is6()
}
