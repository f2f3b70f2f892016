package lab_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/labtest"
)

// ironicAPI speaks to Ironic as its own client would.
type ironicAPI struct {
	url  string
	http *http.Client
}

// do makes a request, checks its status and decodes the answer.
func (a ironicAPI) do(ctx context.Context, method, path string, body, answer any, want int) error {
	content, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, method, a.url+path, bytes.NewReader(content))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-OpenStack-Ironic-API-Version", "1.89")
	response, err := a.http.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != want {
		return fmt.Errorf("%s %s: %s: %s", method, path, response.Status, text)
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(text, answer)
}

// node is what the tests read of a node.
type node struct {
	UUID           string  `json:"uuid"`
	ProvisionState string  `json:"provision_state"`
	PowerState     *string `json:"power_state"`
	LastError      *string `json:"last_error"`
}

func TestIronic(t *testing.T) {
	l := labtest.New(t)
	ironic, err := l.StartIronic(t.Context(), lab.IronicOptions{
		Overrides: map[string]map[string]string{"api": {"max_limit": "7"}, "conductor": {"deploy_callback_timeout": "60"}},
	})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	api := ironicAPI{ironic.URL, ironic.HTTPClient()}

	t.Run("asks for credentials", func(t *testing.T) {
		g := NewWithT(t)
		stranger := ironicAPI{ironic.URL, l.Client("", "")}
		g.Expect(stranger.do(t.Context(), "GET", "/v1/nodes", nil, nil, http.StatusUnauthorized)).To(Succeed())
		guesser := ironicAPI{ironic.URL, l.Client(ironic.User, "wrong")}
		g.Expect(guesser.do(t.Context(), "GET", "/v1/nodes", nil, nil, http.StatusUnauthorized)).To(Succeed())
	})
	t.Run("speaks TLS with the lab's authority only", func(t *testing.T) {
		g := NewWithT(t)
		_, err := http.Get(ironic.URL) //nolint:bodyclose // there is no answer
		g.Expect(err).To(MatchError(ContainSubstring("certificate")))
		response, err := http.Get("http" + strings.TrimPrefix(ironic.URL, "https") + "/v1/drivers")
		if err == nil {
			g.Expect(response.StatusCode).NotTo(Equal(http.StatusOK))
			g.Expect(response.Body.Close()).To(Succeed())
		}
	})
	t.Run("leaves the ramdisk's addresses open", func(t *testing.T) {
		stranger := ironicAPI{ironic.URL, l.Client("", "")}
		NewWithT(t).Expect(stranger.do(t.Context(), "GET", "/v1/lookup?addresses=52:54:00:00:00:01", nil, nil, http.StatusNotFound)).To(Succeed())
	})
	t.Run("has the driver with all interfaces", func(t *testing.T) {
		g := NewWithT(t)
		var driver struct {
			Hosts   []string `json:"hosts"`
			Deploy  []string `json:"enabled_deploy_interfaces"`
			Inspect []string `json:"enabled_inspect_interfaces"`
			Boot    []string `json:"enabled_boot_interfaces"`
		}
		g.Expect(api.do(t.Context(), "GET", "/v1/drivers/redfish", nil, &driver, http.StatusOK)).To(Succeed())
		g.Expect(driver.Hosts).To(ConsistOf("lab"))
		g.Expect(driver.Deploy).To(ConsistOf("custom-agent", "direct", "ramdisk"))
		g.Expect(driver.Inspect).To(ConsistOf("agent", "redfish", "no-inspect"))
		g.Expect(driver.Boot).To(ContainElement("redfish-virtual-media"))
	})
	t.Run("obeys overrides", func(t *testing.T) {
		g := NewWithT(t)
		for i := range 8 {
			g.Expect(api.do(t.Context(), "POST", "/v1/nodes", map[string]any{"name": fmt.Sprint("n", i), "driver": "redfish"}, nil, http.StatusCreated)).To(Succeed())
		}
		var list struct{ Nodes []node }
		g.Expect(api.do(t.Context(), "GET", "/v1/nodes?limit=1000", nil, &list, http.StatusOK)).To(Succeed())
		g.Expect(list.Nodes).To(HaveLen(7))
	})
	for _, restart := range []struct {
		name string
		stop func()
	}{
		{"stopped", func() { ironic.Stop(context.Background()) }},
		{"killed", ironic.Kill},
	} {
		t.Run("keeps its nodes when "+restart.name+" and started", func(t *testing.T) {
			g := NewWithT(t)
			restart.stop()
			g.Expect(l.Processes()).To(BeEmpty())
			_, err := api.http.Get(ironic.URL) //nolint:bodyclose // there is no answer
			g.Expect(err).To(HaveOccurred())
			g.Expect(ironic.Start(t.Context())).To(Succeed())
			g.Expect(api.do(t.Context(), "GET", "/v1/nodes/n0", nil, nil, http.StatusOK)).To(Succeed())
		})
	}
	t.Run("stops in good time", func(t *testing.T) {
		g := NewWithT(t)
		g.Expect(ironic.Restart(t.Context())).To(Succeed())
		begin := time.Now()
		ironic.Stop(t.Context())
		t.Logf("Ironic stopped in %s", time.Since(begin).Round(time.Millisecond))
		g.Expect(l.Processes()).To(BeEmpty())
		log, err := os.ReadFile(ironic.Log)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(log)).To(ContainSubstring("Successfully stopped conductor"))
	})
}

func TestIronicThatDoesNotStart(t *testing.T) {
	g := NewWithT(t)
	l := labtest.New(t)
	_, err := l.StartIronic(t.Context(), lab.IronicOptions{
		Overrides: map[string]map[string]string{"DEFAULT": {"enabled_hardware_types": "unheard-of"}},
	})
	g.Expect(err).To(MatchError(And(
		ContainSubstring("ironic did not start: its log says"),
		ContainSubstring("unheard-of"),
		ContainSubstring(filepath.Join("log", "ironic")),
		ContainSubstring("next: "),
	)))
	g.Expect(l.Processes()).To(BeEmpty())
}

// TestIronicOnAnotherAddress: machines with a network of their own reach it there,
// under the name in its certificate and in what it tells of itself.
func TestIronicOnAnotherAddress(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a real Ironic; run without -short")
	}
	g := NewWithT(t)
	const address = "127.0.1.17"
	l, err := lab.New(lab.Options{Address: netip.MustParseAddr(address)})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { g.Expect(l.Stop(context.Background())).To(Succeed()) })
	ironic, err := l.StartIronic(t.Context(), lab.IronicOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	parsed, err := url.Parse(ironic.URL)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(parsed.Hostname()).To(Equal(address))
	var root struct {
		Versions []struct {
			Links []struct{ Href string }
		}
	}
	g.Expect(ironicAPI{ironic.URL, ironic.HTTPClient()}.do(t.Context(), "GET", "/", nil, &root, http.StatusOK)).To(Succeed())
	g.Expect(root.Versions[0].Links[0].Href).To(HavePrefix(ironic.URL))
	_, err = new(net.Dialer).DialContext(t.Context(), "tcp", net.JoinHostPort("127.0.0.1", parsed.Port()))
	g.Expect(err).To(HaveOccurred(), "nobody listens elsewhere")
}
