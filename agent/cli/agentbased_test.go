package cli

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/agent/agentbased/units"
	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/api/hostfile"
)

// TestUnitsRunProgramsOfThisBinary: what a unit starts is there. The client is a program of its own table.
func TestUnitsRunProgramsOfThisBinary(t *testing.T) {
	g := NewWithT(t)
	started := map[string]bool{}
	for _, workflow := range units.Workflows() {
		rendered, err := units.Render(units.Options{Workflow: workflow})
		g.Expect(err).NotTo(HaveOccurred())
		for _, r := range rendered {
			for _, found := range regexp.MustCompile(`(?m)^ExecStart=`+hostfile.AgentBinary+` (\S+)`).FindAllStringSubmatch(r.Content, -1) {
				started[found[1]] = true
			}
		}
	}
	delete(started, "agent-installer-client")
	for _, p := range agentBased() {
		g.Expect(started[p.Name]).To(BeTrue(), "no unit runs %s", p.Name)
		delete(started, p.Name)
	}
	g.Expect(started).To(BeEmpty())
}

func TestProgramsOfUnits(t *testing.T) {
	for _, p := range agentBased() {
		t.Run(p.Name, func(t *testing.T) {
			g := NewWithT(t)
			if p.Name == "start-agent" {
				return // its arguments are the agent's
			}
			code, _, errs := call(t, p.Name, "--dry-run", "/dev/sr0")
			g.Expect(code).To(Equal(2), errs)
			code, _, errs = call(t, p.Name, "a", "b")
			g.Expect(code).To(Equal(2))
			g.Expect(errs).To(ContainSubstring("Usage: " + p.Name))

			stopped, stop := context.WithCancel(t.Context())
			stop()
			var args []string
			if p.Name == "load-config-iso" {
				args = []string{"/dev/sr0"}
			}
			code = p.Run(stopped, Streams{In: strings.NewReader(""), Out: &strings.Builder{}, Err: &strings.Builder{}}, p.Name, args)
			g.Expect(code).To(BeZero(), "a unit that is stopped has not failed")
		})
	}
	t.Setenv("CONFIG_IMAGE_FILES", "etc/x")
	code, _, _ := call(t, "check-config-image")
	NewWithT(t).Expect(code).To(Equal(1))
}

// TestStartAgent: the agent registers in the hub's first infra-env, which comes late.
func TestStartAgent(t *testing.T) {
	const env = "11111111-1111-4111-8111-111111111111"
	g := NewWithT(t)
	root := t.TempDir()
	t.Setenv(hostfile.RootEnv, root)
	t.Setenv(hubclient.TokenEnv, "")
	dir := hostfile.Dir{Root: root}
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	var mu sync.Mutex
	var calls []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		calls = append(calls, strings.TrimSpace(r.Method+" "+strings.TrimPrefix(r.URL.Path, "/api/assisted-install/v2")+" "+r.Header.Get("X-Secret-Key")))
		mu.Unlock()
		if r.URL.Path == "/api/assisted-install/v2/infra-envs" {
			_, _ = w.Write([]byte(`[{"id":"` + env + `"}]`))
			return
		}
		stop()
	}))
	defer server.Close()
	g.Expect(places.Write(dir, places.RendezvousHost, []byte("SERVICE_BASE_URL="+server.URL+"/\n"), 0o644)).To(Succeed())
	g.Expect(places.Write(dir, places.ServiceSettings+"/agent-auth.env", []byte("AGENT_AUTH_TOKEN=token-1\n"), 0o600)).To(Succeed())
	g.Expect(places.Write(dir, "/sys/class/dmi/id/board_serial", []byte("serial-1\n"), 0o644)).To(Succeed())
	g.Expect(os.MkdirAll(dir.Path("/proc/sys/kernel/random"), 0o755)).To(Succeed())
	g.Expect(os.WriteFile(dir.Path(hostfile.BootIDPath()), []byte("b"), 0o600)).To(Succeed())
	Main(ctx, Streams{In: strings.NewReader(""), Out: &strings.Builder{}, Err: &strings.Builder{}}, []string{BinaryName, "start-agent"})
	server.Close()
	mu.Lock()
	defer mu.Unlock()
	g.Expect(slices.Contains(calls, "GET /infra-envs")).To(BeTrue())
	g.Expect(slices.Contains(calls, "POST /infra-envs/"+env+"/hosts token-1")).To(BeTrue(), "%v", calls)
}
