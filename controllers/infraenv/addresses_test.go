package infraenv

import (
	"io"
	"net/http"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/controllers/hubid"
	"github.com/ironflow/ironflow/hub/service"
)

// get asks for an address as somebody without any token of the hub.
func (w *world) get(address string) string {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, address, nil)
	w.Expect(err).NotTo(HaveOccurred())
	answer, err := w.hub.Client().Do(r)
	w.Expect(err).NotTo(HaveOccurred())
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(answer.StatusCode).To(Equal(http.StatusOK), "%s: %s", address, raw)
	return string(raw)
}

// TestDebugInfoOpens: the addresses in the status open what they name, without anything
// else, and stay the same.
func TestDebugInfoOpens(t *testing.T) {
	w := newWorld(t, pullSecret(goodSecret), nmstate("m0", "52:54:00:00:00:0a", "192.0.2.7"), infraEnv(ofSite))
	_, env := w.pass()
	id, info := hubid.InfraEnv(env), env.Status.InfraEnvDebugInfo
	w.Expect(w.hub.ImageFailed(t.Context(), id, "no base image fits")).To(Succeed())
	w.Expect(w.get(info.EventsURL)).To(And(ContainSubstring("no base image fits"), ContainSubstring(id)))
	w.Expect(w.get(info.StaticNetworkDownloadURL)).To(ContainSubstring("192.0.2.7"))
	w.Expect(env.Status.BootArtifacts).To(Equal(agentv1.BootArtifacts{}), "this hub has no images")
	_, again := w.pass()
	w.Expect(again.ResourceVersion).To(Equal(env.ResourceVersion), "a pass without news writes nothing")

	w.Expect(w.kube.Delete(t.Context(), nmstate("m0", "", ""))).To(Succeed())
	_, env = w.pass()
	w.Expect(env.Status.InfraEnvDebugInfo.StaticNetworkDownloadURL).To(BeEmpty(), "there is no static network")
	w.Expect(env.Status.InfraEnvDebugInfo.EventsURL).To(Equal(info.EventsURL))
	w.Expect(w.hub.RevokeImageTokens(t.Context(), id)).To(Succeed())
	_, env = w.pass()
	w.Expect(env.Status.InfraEnvDebugInfo.EventsURL).NotTo(Equal(info.EventsURL))
	w.Expect(w.get(env.Status.InfraEnvDebugInfo.EventsURL)).To(ContainSubstring("no base image fits"))
}

func TestTheFilesOfNetworkBootAreShown(t *testing.T) {
	w := newWorld(t, pullSecret(goodSecret), infraEnv(func(e *agentv1.InfraEnv) { e.Spec.IPXEScriptType = agentv1.BootOrderControl }))
	w.r.hub = &imaged{Hub: w.hub, urls: service.ImageURLs{ISO: "http://i/1.iso"}}
	_, env := w.pass()
	boot := env.Status.BootArtifacts
	w.Expect(w.get(boot.IpxeScriptURL)).To(And(HavePrefix("#!ipxe\nchain "), HaveSuffix("&mac=${net0/mac}\n")))
	w.Expect(boot.DiscoveryIgnitionURL).To(And(ContainSubstring("file_name=discovery.ign"), HavePrefix(strings.Split(boot.IpxeScriptURL, "?")[0])))
}
