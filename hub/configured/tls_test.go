package configured

import (
	"crypto/tls"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/config/v1alpha1"
)

func TestTLSSettings(t *testing.T) {
	for name, c := range map[string]struct {
		settings v1alpha1.TLS
		version  uint16
		newest   uint16
		suites   []uint16
		curves   []tls.CurveID
		says     string
	}{
		"by default":        {version: tls.VersionTLS12},
		"the newest":        {settings: v1alpha1.TLS{MinVersion: "TLS13"}, version: tls.VersionTLS13},
		"an old one":        {settings: v1alpha1.TLS{MinVersion: "TLS10"}, says: "neither TLS12 nor TLS13"},
		"none newer":        {settings: v1alpha1.TLS{MaxVersion: "TLS12"}, version: tls.VersionTLS12, newest: tls.VersionTLS12},
		"none at all":       {settings: v1alpha1.TLS{MinVersion: "TLS13", MaxVersion: "TLS12"}, says: "--tls-max-version TLS12 is older"},
		"a misspelt newest": {settings: v1alpha1.TLS{MaxVersion: "1.3"}, says: "--tls-max-version"},
		"suites": {
			settings: v1alpha1.TLS{CipherSuites: []string{"TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"}},
			version:  tls.VersionTLS12, suites: []uint16{tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384},
		},
		"an insecure suite":  {settings: v1alpha1.TLS{CipherSuites: []string{"TLS_RSA_WITH_RC4_128_SHA"}}, says: "is none of TLS_AES_128_GCM_SHA256"},
		"a misspelt version": {settings: v1alpha1.TLS{MinVersion: "1.2"}, says: "--tls-min-version"},
		"curves": {
			settings: v1alpha1.TLS{CurvePreferences: []string{"4588", "X25519", "CurveP256"}},
			version:  tls.VersionTLS12, curves: []tls.CurveID{tls.X25519MLKEM768, tls.X25519, tls.CurveP256},
		},
		"an unknown curve": {settings: v1alpha1.TLS{CurvePreferences: []string{"7"}}, says: "X25519 (29)"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			harden, err := TLS(c.settings)
			if c.says != "" {
				g.Expect(err).To(MatchError(ContainSubstring(c.says)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			var config tls.Config
			harden(&config)
			g.Expect([]uint16{config.MinVersion, config.MaxVersion}).To(Equal([]uint16{c.version, c.newest}))
			g.Expect(config.CipherSuites).To(Equal(c.suites))
			g.Expect(config.CurvePreferences).To(Equal(c.curves))
		})
	}
}
