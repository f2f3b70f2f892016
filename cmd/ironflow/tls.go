package main

import (
	"crypto/tls"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// tlsSettings are what our TLS listeners agree to.
type tlsSettings struct {
	minVersion, maxVersion string
	ciphers                string
	// curves are key exchanges, by their names or by IANA's numbers of them.
	curves string
}

// settings are the rows of the table.
func (t *tlsSettings) settings() []setting {
	return []setting{
		{"tls-min-version", "IRONFLOW_TLS_MIN_VERSION", "TLS12", "oldest TLS version of the metrics listener and the hub's REST API: TLS12 or TLS13", text(&t.minVersion)},
		{"tls-max-version", "IRONFLOW_TLS_MAX_VERSION", "", "newest TLS version of the metrics listener and the hub's REST API: TLS12 or TLS13; empty for no limit", text(&t.maxVersion)},
		{"tls-cipher-suites", "IRONFLOW_TLS_CIPHER_SUITES", "", "comma-separated cipher suites of TLS 1.2 of the metrics listener and the hub's REST API, by their IANA names; empty for Go's choice", text(&t.ciphers)},
		{"tls-curve-preferences", "IRONFLOW_TLS_CURVE_PREFERENCES", "", "comma-separated key exchanges of the metrics listener and the hub's REST API, by names such as X25519 or by IANA's numbers such as 29; empty for Go's choice", text(&t.curves)},
	}
}

// tlsVersions are the values of tls-min-version and tls-max-version.
var tlsVersions = map[string]uint16{"TLS12": tls.VersionTLS12, "TLS13": tls.VersionTLS13}

// tlsCurves are the key exchanges that Go has.
var tlsCurves = []tls.CurveID{tls.X25519MLKEM768, tls.SecP256r1MLKEM768, tls.SecP384r1MLKEM1024, tls.X25519, tls.CurveP256, tls.CurveP384, tls.CurveP521}

// harden is what the settings do to a listener's TLS.
func (t tlsSettings) harden() (func(*tls.Config), error) {
	oldest, err := tlsVersion("--tls-min-version", t.minVersion, tls.VersionTLS12)
	if err != nil {
		return nil, err
	}
	newest, err := tlsVersion("--tls-max-version", t.maxVersion, 0)
	switch {
	case err != nil:
		return nil, err
	case newest != 0 && newest < oldest:
		return nil, fmt.Errorf("--tls-max-version %s is older than --tls-min-version %s", t.maxVersion, t.minVersion)
	}
	suites, err := t.suites()
	if err != nil {
		return nil, err
	}
	curves, err := t.keyExchanges()
	if err != nil {
		return nil, err
	}
	return func(c *tls.Config) {
		c.MinVersion, c.MaxVersion, c.CipherSuites, c.CurvePreferences = oldest, newest, suites, curves
	}, nil
}

func tlsVersion(flag, name string, usual uint16) (uint16, error) {
	if name == "" {
		return usual, nil
	}
	version, known := tlsVersions[name]
	if !known {
		return 0, fmt.Errorf("%s %q is neither TLS12 nor TLS13", flag, name)
	}
	return version, nil
}

// suites are the cipher suites; none for Go's choice.
func (t tlsSettings) suites() (ids []uint16, err error) {
	all := map[string]uint16{}
	for _, suite := range tls.CipherSuites() {
		all[suite.Name] = suite.ID
	}
	for _, name := range listOf(t.ciphers) {
		id, known := all[name]
		if !known {
			return nil, fmt.Errorf("--tls-cipher-suites: %q is none of %s", name, strings.Join(slices.Sorted(maps.Keys(all)), ", "))
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// keyExchanges are the curves; none for Go's choice.
func (t tlsSettings) keyExchanges() (ids []tls.CurveID, err error) {
	for _, name := range listOf(t.curves) {
		at := slices.IndexFunc(tlsCurves, func(c tls.CurveID) bool { return c.String() == name || strconv.Itoa(int(c)) == name })
		if at < 0 {
			var known []string
			for _, c := range tlsCurves {
				known = append(known, fmt.Sprintf("%s (%d)", c, int(c)))
			}
			return nil, fmt.Errorf("--tls-curve-preferences: %q is none of %s", name, strings.Join(known, ", "))
		}
		ids = append(ids, tlsCurves[at])
	}
	return ids, nil
}
