package pointer_test

import (
	"encoding/base64"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/sources/pointer"
	"github.com/ironflow/ironflow/test/ignitioncheck"
)

// authority is a certificate as far as it is looked at.
const authority = "-----BEGIN CERTIFICATE-----\nTUlJQg==\n-----END CERTIFICATE-----\n"

func TestMake(t *testing.T) {
	whole := &sources.Endpoint{
		URL: "https://ign.example/config/infra", CA: base64.StdEncoding.EncodeToString([]byte(authority)), Token: "s3cret",
		Headers: []sources.Header{{Name: "X-Pool", Value: "p"}},
	}
	for name, tc := range map[string]struct {
		host sources.Host
		want []string
		err  string
	}{
		"all of it": {sources.Host{Joins: true, Endpoint: whole}, []string{
			`"source":"https://ign.example/config/infra"`, `"name":"Authorization","value":"Bearer s3cret"`, `"name":"X-Pool","value":"p"`, `"certificateAuthorities":[{`, whole.CA,
		}, ""},
		"an address alone":     {sources.Host{Joins: true, Endpoint: &sources.Endpoint{URL: "http://[2001:db8::1]:22624/config/worker"}}, []string{"http://[2001:db8::1]:22624/config/worker"}, ""},
		"nobody has it":        {sources.Host{Name: "a", Joins: true}, nil, "ignition_endpoint.url"},
		"a new cluster":        {sources.Host{Name: "a", Endpoint: whole}, nil, "does not join"},
		"no address":           {sources.Host{Joins: true, Endpoint: &sources.Endpoint{URL: "somewhere"}}, nil, "is no address"},
		"a file of the host":   {sources.Host{Joins: true, Endpoint: &sources.Endpoint{URL: "file:///etc/shadow"}}, nil, "is no address"},
		"no certificate as CA": {sources.Host{Joins: true, Endpoint: &sources.Endpoint{URL: "https://a", CA: "AAAA"}}, nil, "is no certificate"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			tc.host.ID = "h"
			o := &sources.Order{Hosts: []sources.Host{tc.host}}
			made, err := pointer.Source{}.Make(t.Context(), o)
			if tc.err != "" {
				g.Expect(err).To(MatchError(And(ContainSubstring(tc.err), Not(ContainSubstring("s3cret")))))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			for _, want := range tc.want {
				g.Expect(string(made.Hosts["h"])).To(ContainSubstring(want))
			}
			ignitioncheck.Valid(t, made.Hosts["h"])
			g.Expect(pointer.Source{}.Ending(o)).To(Equal(sources.EndsWithHosts))
		})
	}
}
