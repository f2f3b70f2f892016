package certificate_test

import (
	"crypto/x509"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/ironflow/ironflow/bmc/credentials/certificate"
	"github.com/ironflow/ironflow/bmc/credentials/reason"
)

// TestWhenACertificateIsReplaced has what begins a replacement and what keeps it from
// being made.
func TestWhenACertificateIsReplaced(t *testing.T) {
	g := gomega.NewWithT(t)
	k := key(g)
	served := issue(g, func(c *x509.Certificate) { c.NotBefore, c.NotAfter = noon.AddDate(0, 0, -30), noon.AddDate(0, 0, 60) }, nil, k.Public(), k)
	digest := certificate.Digest(served.Raw)
	ours := func(o *certificate.Observed) { o.Request, o.Scheduled, o.Record.Installed = "", true, digest }
	for name, c := range map[string]struct {
		change func(o *certificate.Observed)
		reason reason.Reason // empty: it begins
	}{
		"asked":                          {func(*certificate.Observed) {}, ""},
		"asked and done":                 {func(o *certificate.Observed) { o.Record.Asked = "1" }, reason.Current},
		"no issuer":                      {func(o *certificate.Observed) { o.Issuer = "" }, reason.NoIssuer},
		"not of the issuer, by schedule": {func(o *certificate.Observed) { o.Request, o.Scheduled = "", true }, ""},
		"not of the issuer, no schedule": {func(o *certificate.Observed) { o.Request = "" }, reason.Current},
		"of the issuer, and young":       {ours, reason.Current},
		"of the issuer, a third left":    {func(o *certificate.Observed) { ours(o); o.Now = noon.AddDate(0, 0, 31) }, ""},
		"of the issuer, 10 days asked":   {func(o *certificate.Observed) { ours(o); o.Now, o.RenewBefore = noon.AddDate(0, 0, 31), 10*24*time.Hour }, reason.Current},
		"given up an hour ago": {func(o *certificate.Observed) {
			o.Request, o.Scheduled, o.Record.GaveUp = "", true, noon.Add(-time.Hour)
			o.Record.Trouble.Reason = reason.Refused
		}, reason.Refused},
		"the BMC cannot":         {func(o *certificate.Observed) { o.Unsupported = "no CertificateService" }, reason.Unsupported},
		"Ironic would refuse":    {func(o *certificate.Observed) { o.IronicRefuses = true }, reason.IronicRefuses},
		"in quarantine":          {func(o *certificate.Observed) { o.Barred = "quarantine" }, reason.WaitingForTurn},
		"through another host":   {func(o *certificate.Observed) { o.Through = "metal3/host-0" }, reason.Current},
		"an issuer that is none": {func(o *certificate.Observed) { o.IssuerProblem = "no key" }, reason.IssuerFails},
		"at work":                {func(o *certificate.Observed) { o.AtRest = false }, reason.NotAtRest},
		"too many":               {func(o *certificate.Observed) { o.Turn = false }, reason.WaitingForTurn},
		"the BMC shows nothing":  {func(o *certificate.Observed) { o.Served = nil }, reason.BMCSilent},
		"the BMC shows nothing, by schedule": {func(o *certificate.Observed) {
			o.Request, o.Scheduled, o.Served = "", true, nil
		}, reason.BMCSilent},
		"failed a minute ago, by schedule": {func(o *certificate.Observed) {
			o.Request, o.Scheduled, o.Served = "", true, nil // nobody looks meanwhile
			o.Record.NotBefore, o.Record.Trouble = noon.Add(time.Minute), reason.BadRequest.Trouble("not now")
		}, reason.BadRequest},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			o := &certificate.Observed{
				Now: noon, Host: "metal3/host-1", Record: &certificate.Record{}, Served: served, Issuer: "site", Names: []string{"192.0.2.1"},
				Request: "1", AtRest: true, Turn: true,
			}
			c.change(o)
			action := certificate.Decide(o)
			if c.reason == "" {
				g.Expect(action).To(gomega.BeAssignableToTypeOf(certificate.Generate{}))
				return
			}
			wait, is := action.(certificate.Wait)
			g.Expect(is).To(gomega.BeTrue(), "%#v", action)
			g.Expect(wait.Condition.Reason).To(gomega.Equal(c.reason), wait.Condition.Message)
			g.Expect(wait.Condition.Status).NotTo(gomega.BeEmpty())
			if o.Scheduled {
				g.Expect(wait.For).To(gomega.BeNumerically(">", 0), "a schedule is looked at again")
			}
		})
	}
}
