package rest_test

import (
	"io"
	"net/http"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// TestKnownFiguresAtTheAPIsPort: dashboards and alerts that read an installation service of
// this protocol find its names, and nobody's hosts.
func TestKnownFiguresAtTheAPIsPort(t *testing.T) {
	g := NewWithT(t)
	f := newFixture(t)
	f.agent.Progress(t, f.host, wire.HostStageWritingImageToDisk, "50%")
	f.agent.Progress(t, f.host, wire.HostStageRebooting, "")
	newClient(t, f.User()).do("POST", "/clusters", `{"name":"edge","openshift_version":"4.20.1","pull_secret":"{\"auths\":{}}"}`, 201)
	text := figures(t, f.Hub)
	for _, line := range []string{
		"# TYPE service_assisted_installer_cluster_creations counter\n",
		`service_assisted_installer_cluster_creations{openshiftVersion="4.20.1"} 1` + "\n",
		`service_assisted_installer_cluster_installation_started{openshiftVersion=""} 1` + "\n",
		`service_assisted_installer_host_installation_phase_seconds_count{phase="Writing image to disk",result="success"} 1` + "\n",
		`service_assisted_installer_operation_duration_miliseconds_count{operation="v2RegisterHost"} 1` + "\n",
		"service_assisted_installer_filesystem_usage_percentage ",
	} {
		g.Expect(text).To(ContainSubstring(line))
	}
	for _, name := range []string{f.host.HostID, f.env, f.cluster} {
		g.Expect(text).NotTo(ContainSubstring(name))
	}
}

// figures are what the hub answers whoever asks, without a token.
func figures(t *testing.T, hub *testhub.Hub) string {
	t.Helper()
	g := NewWithT(t)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, hub.URL+"/metrics", nil)
	g.Expect(err).NotTo(HaveOccurred())
	answer, err := hub.Client().Do(r)
	g.Expect(err).NotTo(HaveOccurred())
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(answer.StatusCode).To(Equal(http.StatusOK))
	return string(raw)
}
