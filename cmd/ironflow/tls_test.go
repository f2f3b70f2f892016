package main

import (
	"crypto/tls"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func TestTLSSettings(t *testing.T) {
	for name, c := range map[string]struct {
		settings tlsSettings
		version  uint16
		newest   uint16
		suites   []uint16
		curves   []tls.CurveID
		says     string
	}{
		"by default":         {version: tls.VersionTLS12},
		"the newest":         {settings: tlsSettings{MinVersion: "TLS13"}, version: tls.VersionTLS13},
		"an old one":         {settings: tlsSettings{MinVersion: "TLS10"}, says: "neither TLS12 nor TLS13"},
		"none newer":         {settings: tlsSettings{MaxVersion: "TLS12"}, version: tls.VersionTLS12, newest: tls.VersionTLS12},
		"none at all":        {settings: tlsSettings{MinVersion: "TLS13", MaxVersion: "TLS12"}, says: "--tls-max-version TLS12 is older"},
		"a misspelt newest":  {settings: tlsSettings{MaxVersion: "1.3"}, says: "--tls-max-version"},
		"suites":             {settings: tlsSettings{CipherSuites: []string{"TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"}}, version: tls.VersionTLS12, suites: []uint16{tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384}},
		"an insecure suite":  {settings: tlsSettings{CipherSuites: []string{"TLS_RSA_WITH_RC4_128_SHA"}}, says: "is none of TLS_AES_128_GCM_SHA256"},
		"a misspelt version": {settings: tlsSettings{MinVersion: "1.2"}, says: "--tls-min-version"},
		"curves":             {settings: tlsSettings{CurvePreferences: []string{"4588", "X25519", "CurveP256"}}, version: tls.VersionTLS12, curves: []tls.CurveID{tls.X25519MLKEM768, tls.X25519, tls.CurveP256}},
		"an unknown curve":   {settings: tlsSettings{CurvePreferences: []string{"7"}}, says: "X25519 (29)"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			harden, err := c.settings.harden()
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

func TestElectionTimes(t *testing.T) {
	g := NewWithT(t)
	lease, renew, retry, err := electionSettings{}.times()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect([]time.Duration{lease, renew, retry}).To(Equal([]time.Duration{15 * time.Second, 10 * time.Second, 2 * time.Second}))
	lease, renew, retry, err = electionSettings{LeaseDurationSeconds: 60, RenewDeadlineSeconds: 40, RetryPeriodSeconds: 5}.times()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect([]time.Duration{lease, renew, retry}).To(Equal([]time.Duration{time.Minute, 40 * time.Second, 5 * time.Second}))
	for _, wrong := range []electionSettings{{LeaseDurationSeconds: 5}, {RenewDeadlineSeconds: 15}, {RetryPeriodSeconds: 9}, {RetryPeriodSeconds: -1}} {
		_, _, _, err = wrong.times()
		g.Expect(err).To(MatchError(ContainSubstring("--lease-duration-seconds")))
	}
}
