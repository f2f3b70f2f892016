package dhcplease

import (
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"strings"
	"time"
)

// maxLease bounds the text of a lease; dhclient's have less than 1 KiB.
const maxLease = 16 << 10

// Lease is a lease as dhclient keeps it, see dhclient.leases(5).
type Lease struct {
	// Interface is the name of the link that it was given to.
	Interface string
	Address   netip.Addr
	// Options are lines "name value" in dhclient's words, without "option".
	Options []string
	// Renew, Rebind and Expire are moments; zero is never.
	Renew, Rebind, Expire time.Time
}

// Text writes the lease. Hubs keep it only if no value has a semicolon or a brace.
func (l Lease) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "lease {\n  interface \"%s\";\n  fixed-address %s;\n", l.Interface, l.Address)
	for _, option := range l.Options {
		fmt.Fprintf(&b, "  option %s;\n", option)
	}
	for _, m := range []struct {
		name string
		at   time.Time
	}{{"renew", l.Renew}, {"rebind", l.Rebind}, {"expire", l.Expire}} {
		fmt.Fprintf(&b, "  %s %s;\n", m.name, moment(m.at))
	}
	b.WriteString("}\n")
	return b.String()
}

// momentForm is dhclient's: day of the week, date and time of day in UTC.
const momentForm = "2006/01/02 15:04:05"

func moment(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	t = t.UTC()
	return fmt.Sprintf("%d %s", t.Weekday(), t.Format(momentForm))
}

// statement is one "name value;" of a lease. Hubs check the same form.
var statement = regexp.MustCompile(`^\s+([a-z-]+) ([^;}]*);`)

// begin is the begin of a lease.
var begin = regexp.MustCompile(`(?m)^\s*lease\s*\{`)

// LastLease reads the last lease of a file and returns it together with its text.
func LastLease(text string) (Lease, string, error) {
	all := begin.FindAllStringIndex(text, -1)
	if len(all) == 0 {
		return Lease{}, "", errors.New("there is no lease")
	}
	last := all[len(all)-1]
	rest := text[last[1]:]
	var lease Lease
	for {
		found := statement.FindStringSubmatch(rest)
		if found == nil {
			break
		}
		rest = rest[len(found[0]):]
		if err := lease.set(found[1], strings.TrimSpace(found[2])); err != nil {
			return Lease{}, "", err
		}
	}
	tail := strings.TrimLeft(rest, " \t\r\n")
	if !strings.HasPrefix(tail, "}") || tail == rest {
		return Lease{}, "", errors.New("the lease is not a list of statements in braces")
	}
	if !lease.Address.IsValid() {
		return Lease{}, "", errors.New("the lease has no fixed-address")
	}
	end := len(text) - len(tail) + 1
	return lease, strings.TrimLeft(text[last[0]:end], " \t\r\n") + "\n", nil
}

// set takes one statement over.
func (l *Lease) set(name, value string) (err error) {
	switch name {
	case "interface":
		l.Interface = strings.Trim(value, `"`)
	case "fixed-address":
		l.Address, err = netip.ParseAddr(value)
		if err == nil && !usable(l.Address) {
			err = fmt.Errorf("fixed-address %s is not the IPv4 address of a host", l.Address)
		}
	case "renew":
		l.Renew, err = parseMoment(value)
	case "rebind":
		l.Rebind, err = parseMoment(value)
	case "expire":
		l.Expire, err = parseMoment(value)
	case "option":
		l.Options = append(l.Options, value)
	}
	return err
}

// usable tells whether a host may have the address.
func usable(a netip.Addr) bool {
	return a.Is4() && !a.IsUnspecified() && !a.IsLoopback() && !a.IsMulticast() && !a.IsLinkLocalUnicast() && a.As4() != [4]byte{255, 255, 255, 255}
}

// parseMoment reads "never", "epoch SECONDS" and "WEEKDAY DATE TIME". Hubs
// replace moments by never.
func parseMoment(value string) (time.Time, error) {
	kind, rest, _ := strings.Cut(value, " ")
	switch {
	case value == "never":
		return time.Time{}, nil
	case kind == "epoch":
		var seconds int64
		if _, err := fmt.Sscanf(rest, "%d", &seconds); err != nil {
			return time.Time{}, fmt.Errorf("%q is not a moment", value)
		}
		return time.Unix(seconds, 0).UTC(), nil
	}
	t, err := time.Parse(momentForm, strings.TrimSpace(rest))
	if err != nil {
		return time.Time{}, fmt.Errorf("%q is not a moment", value)
	}
	return t, nil
}

// valid tells whether the lease may still be used.
func (l Lease) valid(now time.Time) bool {
	return l.Address.IsValid() && (l.Expire.IsZero() || l.Expire.After(now))
}

// interfaceStatement is where a lease names its link.
var interfaceStatement = regexp.MustCompile(`(?m)^(\s*interface )"[^";}]*";`)

// renamed is the text of a lease for another link.
func renamed(text, name string) string {
	return interfaceStatement.ReplaceAllString(text, `${1}"`+name+`";`)
}
