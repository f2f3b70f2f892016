package envurl_test

import (
	"net/url"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/envurl"
)

func TestAddresses(t *testing.T) {
	g := NewWithT(t)
	open := envurl.InfraEnv{API: envurl.API("https://hub.example:8443/"), ID: "7f"}
	g.Expect(open.Events()).To(Equal("https://hub.example:8443/api/assisted-install/v2/events?infra_env_id=7f"))
	g.Expect(open.File(envurl.StaticNetworks, nil)).To(Equal("https://hub.example:8443/api/assisted-install/v2/infra-envs/7f/downloads/files?file_name=static-network-config"))
	closed := open
	closed.Token = "a&b"
	g.Expect(closed.Events()).To(HaveSuffix("/events?api_key=a%26b&infra_env_id=7f"))
	kind := url.Values{"ipxe_script_type": {"boot-order-control"}}
	g.Expect(closed.File(envurl.Script, kind)).To(HaveSuffix("/downloads/files?api_key=a%26b&file_name=ipxe-script&ipxe_script_type=boot-order-control"))
	g.Expect(kind).To(HaveLen(1), "it is the caller's")
}

// TestAddressesWithoutAToken: what leads to one host or cluster opens nothing.
func TestAddressesWithoutAToken(t *testing.T) {
	g := NewWithT(t)
	const api = "https://hub.example:8443/api/assisted-install/v2"
	events := envurl.InfraEnv{API: api, ID: "7f", Token: "secret"}.Events()
	g.Expect(envurl.APIOf(events)).To(Equal(api))
	g.Expect(envurl.APIOf("")).To(BeEmpty())
	g.Expect(envurl.HostEvents(api, "7f", "h1")).To(Equal(api + "/events?host_id=h1&infra_env_id=7f"))
	g.Expect(envurl.ClusterEvents(api, "c1")).To(Equal(api + "/events?cluster_id=c1"))
	g.Expect(envurl.Logs(api, "c1", "")).To(Equal(api + "/clusters/c1/logs"))
	g.Expect(envurl.Logs(api, "c1", "h1")).To(Equal(api + "/clusters/c1/logs?host_id=h1&logs_type=host"))
}
