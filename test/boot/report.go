package boot

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Report is what the guest said about itself.
type Report struct {
	// Cmdline is the kernel's command line.
	Cmdline string
	// Ignition is the SHA-256 of the config that the initrd found, empty for none.
	Ignition string
	// Keyfiles are the SHA-256 of the NetworkManager keyfiles by file name.
	Keyfiles map[string]string
	// Programs are the host programs in the live system by path.
	Programs map[string]Program
	// Runs is what the agent answers to --version.
	Runs string
	// Links are the network interfaces, Routes and Routes6 all routes of a family,
	// Rules the routing rules.
	Links           []Link
	Routes, Routes6 []Route
	Rules           []Rule
	// DNS is the content of resolv.conf on one line.
	DNS string
	// Bonds are the modes by the bond's name.
	Bonds map[string]string
	// Devices is what NetworkManager says about its devices.
	Devices string
	// Slow says that NetworkManager did not finish in time.
	Slow bool
}

// Program is a file in the live system.
type Program struct {
	// Mode holds the permission bits in octal, Owner the user's name.
	Mode, Owner, SHA256 string
}

// Link is a network interface, as ip(8) prints it.
type Link struct {
	Name      string    `json:"ifname"`
	MAC       string    `json:"address"`
	MTU       int       `json:"mtu"`
	Master    string    `json:"master"`
	Parent    string    `json:"link"`
	Addresses []Address `json:"addr_info"`
}

// Address is an address of a link.
type Address struct {
	Local  string `json:"local"`
	Prefix int    `json:"prefixlen"`
	Scope  string `json:"scope"`
}

// Route is a route, as ip(8) prints it.
type Route struct {
	Destination string `json:"dst"`
	Gateway     string `json:"gateway"`
	Device      string `json:"dev"`
	Metric      int    `json:"metric"`
	Table       string `json:"table"`
}

// Rule is a routing rule, as ip(8) prints it.
type Rule struct {
	Priority int    `json:"priority"`
	Source   string `json:"src"`
	Length   int    `json:"srclen"`
	Table    string `json:"table"`
}

// Addresses returns the addresses of a link beyond the link-local ones, as
// "address/prefix".
func (r *Report) Addresses(link string) []string {
	var all []string
	for _, l := range r.Links {
		for _, a := range l.Addresses {
			if l.Name == link && a.Scope != "link" {
				all = append(all, fmt.Sprintf("%s/%d", a.Local, a.Prefix))
			}
		}
	}
	return all
}

// Link returns the link of a name, the zero value for none.
func (r *Report) Link(name string) Link {
	for _, l := range r.Links {
		if l.Name == name {
			return l
		}
	}
	return Link{}
}

// mark starts every line of the report.
const mark = "REPORT "

// errNoReport is returned for a guest that did not come to its end.
var errNoReport = errors.New("the guest did not report")

// parseReport reads the report out of the output of a serial console, which
// holds the firmware's and the kernel's lines as well.
func parseReport(console string) (*Report, error) {
	r := &Report{Keyfiles: map[string]string{}, Programs: map[string]Program{}, Bonds: map[string]string{}}
	for line := range strings.Lines(console) {
		_, fact, found := strings.Cut(strings.TrimRight(line, "\r\n"), mark)
		if !found {
			continue
		}
		kind, value, _ := strings.Cut(fact, " ")
		if kind == "end" {
			return r, nil
		}
		if err := r.add(kind, value); err != nil {
			return nil, fmt.Errorf("the guest's report, line %q: %w", fact, err)
		}
	}
	return nil, errNoReport
}

func (r *Report) add(kind, value string) error {
	first, rest, _ := strings.Cut(value, " ")
	switch kind {
	case "cmdline":
		r.Cmdline = value
	case "ignition":
		r.Ignition = value
	case "keyfile":
		r.Keyfiles[first] = rest
	case "program":
		var p Program
		var path string
		if _, err := fmt.Sscan(value, &p.Mode, &p.Owner, &p.SHA256, &path); err != nil {
			return err
		}
		r.Programs[path] = p
	case "runs":
		r.Runs = value
	case "address":
		return json.Unmarshal([]byte(value), &r.Links)
	case "route":
		return json.Unmarshal([]byte(value), &r.Routes)
	case "route6":
		return json.Unmarshal([]byte(value), &r.Routes6)
	case "rule":
		return json.Unmarshal([]byte(value), &r.Rules)
	case "dns":
		r.DNS = value
	case "bond":
		r.Bonds[first], _, _ = strings.Cut(rest, " ")
	case "devices":
		r.Devices = value
	case "slow":
		r.Slow = true
	}
	return nil
}

// tail returns the last n lines of a text.
func tail(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
