package configured

import (
	"crypto/tls"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ironflow/ironflow/api/config/v1alpha1"
)

// tlsVersions are the values of tls-min-version and tls-max-version.
var tlsVersions = map[string]uint16{"TLS12": tls.VersionTLS12, "TLS13": tls.VersionTLS13}

// tlsCurves are the key exchanges that Go has.
var tlsCurves = []tls.CurveID{tls.X25519MLKEM768, tls.SecP256r1MLKEM768, tls.SecP384r1MLKEM1024, tls.X25519, tls.CurveP256, tls.CurveP384, tls.CurveP521}

// TLS is what the settings do to a listener's TLS.
func TLS(t v1alpha1.TLS) (func(*tls.Config), error) {
	oldest, err := tlsVersion("--tls-min-version", t.MinVersion, tls.VersionTLS12)
	if err != nil {
		return nil, err
	}
	newest, err := tlsVersion("--tls-max-version", t.MaxVersion, 0)
	switch {
	case err != nil:
		return nil, err
	case newest != 0 && newest < oldest:
		return nil, fmt.Errorf("--tls-max-version %s is older than --tls-min-version %s", t.MaxVersion, t.MinVersion)
	}
	suites, err := cipherSuites(t)
	if err != nil {
		return nil, err
	}
	curves, err := keyExchanges(t)
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

// cipherSuites are those that are named; none for Go's choice.
func cipherSuites(t v1alpha1.TLS) (ids []uint16, err error) {
	all := map[string]uint16{}
	for _, suite := range tls.CipherSuites() {
		all[suite.Name] = suite.ID
	}
	for _, name := range t.CipherSuites {
		id, known := all[name]
		if !known {
			return nil, fmt.Errorf("--tls-cipher-suites: %q is none of %s", name, strings.Join(slices.Sorted(maps.Keys(all)), ", "))
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// keyExchanges are the curves; none for Go's choice.
func keyExchanges(t v1alpha1.TLS) (ids []tls.CurveID, err error) {
	for _, name := range t.CurvePreferences {
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
