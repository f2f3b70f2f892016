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
