package main

import (
	"testing"

	. "github.com/onsi/gomega"
	"github.com/spf13/pflag"

	"github.com/ironflow/ironflow/api/commands/settings"
	"github.com/ironflow/ironflow/api/config/topics"
	"github.com/ironflow/ironflow/api/config/v1alpha1"
	"github.com/ironflow/ironflow/controllers/parts"
)

// TestAddressesOfTheClusterAreNotPublished has addresses that look right to who
// installs Ironflow, and that no BMC and no machine reaches.
func TestAddressesOfTheClusterAreNotPublished(t *testing.T) {
	t.Setenv("IRONFLOW_SERVICE_HOST", "10.96.7.7")
	good := []string{"--ironic-endpoint=https://ironic.example:6385", "--base-image=/images/live.iso"}
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"the hub by its Service": {
			[]string{"--hub-publish-url=https://ironflow.ironflow-system.svc:8090"},
			`--hub-publish-url "https://ironflow.ironflow-system.svc:8090": "ironflow.ironflow-system.svc" is a name that only pods of the cluster resolve; ` +
				"set it to a URL by which machines reach the hub, such as that of a load balancer, a node or an ingress, " +
				"or set --machines-in-cluster if they do reach this one",
		},
		"images by their Service":              {[]string{"--images-publish-url=http://ironflow.ironflow-system.svc.cluster.local:8080"}, "by which BMCs reach live images"},
		"a cluster IP":                         {[]string{"--images-publish-url=http://10.96.7.7:8080"}, `"10.96.7.7" is the address of a Service`},
		"the address of install.yaml":          {[]string{"--images-publish-url=http://address-to-set.invalid:8080"}, "was not filled in"},
		"Ironic's Service for machines":        {[]string{"--ironic-endpoint=https://ironic.ironflow-system.svc:6385"}, `--ironic-base-url "https://ironic.ironflow-system.svc:6385"`},
		"one of the Ironics of machines":       {[]string{"--ironic-base-url=https://ironic.example:6385,https://ironic.metal3.svc:6385"}, "machines reach Ironic"},
		"events of BMCs":                       {[]string{"--bmc", "--bmc-events-addr=:8092", "--bmc-events-publish-url=https://ironflow.ironflow-system.svc:8092"}, "--bmc-events-publish-url"},
		"a placeholder, wherever machines are": {[]string{"--machines-in-cluster", "--images-publish-url=http://address-to-set.invalid:8080"}, "was not filled in"},
		"machines in the cluster": {
			[]string{
				"--machines-in-cluster", "--hub-publish-url=https://ironflow.ironflow-system.svc:8090",
				"--images-publish-url=http://10.96.7.7:8080", "--ironic-endpoint=https://ironic.ironflow-system.svc:6385",
			},
			"",
		},
		"Ironic's Service for us alone":      {[]string{"--ironic-endpoint=https://ironic.ironflow-system.svc:6385", "--ironic-base-url=https://ironic.example:6385"}, ""},
		"addresses from outside":             {[]string{"--hub-publish-url=https://192.0.2.10:8090", "--images-publish-url=http://svc.example:8080"}, ""},
		"none, on a developer's own machine": {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var s v1alpha1.IronflowConfiguration
			flags := pflag.NewFlagSet("run", pflag.ContinueOnError)
			settings.Bind(flags, topics.All(&s))
			g.Expect(flags.Parse(append(good[:len(good):len(good)], tc.args...))).To(Succeed())
			if tc.want == "" {
				g.Expect(processOf("run").Check(&s)).To(Succeed())
			} else {
				g.Expect(processOf("run").Check(&s)).To(MatchError(ContainSubstring(tc.want)))
			}
		})
	}
}

// TestPartsRefuseAddressesOfTheClusterToo: they run apart with the same settings.
func TestPartsRefuseAddressesOfTheClusterToo(t *testing.T) {
	for _, c := range processes[2:] {
		t.Run(c.Use, func(t *testing.T) {
			g := NewWithT(t)
			p := new(parts.Program)
			s := &p.Settings
			settings.Bind(pflag.NewFlagSet(c.Use, pflag.ContinueOnError), c.Flags(p))
			s.Images.BaseImage, s.LiveSystem.IronicBaseURLs, s.Hub.Auth = "/images", []string{"https://ironic.example:6385"}, "token"
			s.Hub.PublishURL = "https://ironflow.ironflow-system.svc:8090"
			g.Expect(c.Check(&p.Settings)).To(MatchError(ContainSubstring("--hub-publish-url")))
		})
	}
}
