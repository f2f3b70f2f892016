package image_test

import (
	"net/url"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/controllers/image"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/imagecustomization/ignition"
	"github.com/ironflow/ironflow/imagecustomization/images"
)

func TestAnInfraEnvsOwnImage(t *testing.T) {
	g := NewWithT(t)
	agent := ignition.Agent{URL: "https://hub.example", InfraEnvID: "0ad6d3b0-1111-4222-8333-000000000001", Version: "1", Token: "t"}
	proxy, arguments := "http://proxy.example:3128", `[{"operation":"append","value":"a=b"},{"operation":"delete","value":"quiet"}]`
	env := wire.InfraEnv{
		NTPSources: "ntp1.example, ntp2.example", Proxy: &wire.Proxy{HTTPProxy: &proxy}, KernelArguments: &arguments,
		SSHAuthorizedKey: "# me\nssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f me\n",
	}
	spec, err := image.OfInfraEnv(env, agent, `{"auths":{}}`)
	g.Expect(err).NotTo(HaveOccurred())
	text, err := url.PathUnescape(string(spec.Ignition))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(text).To(And(ContainSubstring("ntp2.example"), ContainSubstring(proxy), ContainSubstring("HR4f me"), ContainSubstring("/etc/authfile.json")))
	g.Expect(text).NotTo(Or(ContainSubstring("ironic-agent.service"), ContainSubstring("agent.gate")), "without Ironic the agent starts by itself")
	g.Expect(spec.Kargs.Append).To(Equal([]string{"a=b"}))
	g.Expect(spec.Kargs.Delete).To(Equal([]string{"quiet"}))

	broken := "["
	env.KernelArguments = &broken
	_, err = image.OfInfraEnv(env, agent, "")
	g.Expect(err).To(MatchError(images.ErrBadSpec))

	env.KernelArguments = nil
	_, err = image.OfInfraEnv(env, agent, "")
	g.Expect(err).NotTo(HaveOccurred())
	env.StaticNetworkConfig = `[{"network_yaml":"interfaces: []"}]`
	_, err = image.OfInfraEnv(env, agent, "")
	g.Expect(err).To(MatchError(images.ErrBadSpec), "a host that waits for an address in vain says nothing")
}
