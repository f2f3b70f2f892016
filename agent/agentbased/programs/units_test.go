package programs

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/agentbased/installed"
	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/agent/agentbased/units"
	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/agent/hostid"
	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/agent/imageref"
	"github.com/ironflow/ironflow/agent/program"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/api/version"
	"github.com/ironflow/ironflow/test/guest"
)

// TestUnitsRunProgramsOfThisBinary: what a unit starts is there.
func TestUnitsRunProgramsOfThisBinary(t *testing.T) {
	g := NewWithT(t)
	started := map[string]bool{}
	for _, workflow := range units.Workflows() {
		rendered, err := units.Render(units.Options{Workflow: workflow})
		g.Expect(err).NotTo(HaveOccurred())
		for _, r := range rendered {
			for _, found := range regexp.MustCompile(`(?m)^ExecStart=`+units.Binary+` (\S+)`).FindAllStringSubmatch(r.Content, -1) {
				started[found[1]] = true
			}
		}
	}
	for _, p := range Programs() {
		g.Expect(started[p.Name]).To(BeTrue(), "no unit runs %s", p.Name)
		delete(started, p.Name)
	}
	g.Expect(started).To(BeEmpty())
}

func TestProgramsOfUnits(t *testing.T) {
	for _, p := range Programs() {
		t.Run(p.Name, func(t *testing.T) {
			g := NewWithT(t)
			if p.Name == "start-agent" || p.Name == "agent-installer-client" {
				return // its arguments are the agent's, or judged in a test of its own
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
			code = p.Run(stopped, program.Streams{In: strings.NewReader(""), Out: &strings.Builder{}, Err: &strings.Builder{}}, p.Name, args)
			g.Expect(code).To(BeZero(), "a unit that is stopped has not failed")
		})
	}
	t.Setenv("CONFIG_IMAGE_FILES", "etc/x")
	code, _, _ := call(t, "check-config-image")
	NewWithT(t).Expect(code).To(Equal(1))
}

// TestMain lets the test binary be start-agent, which gives its process to the agent, or tell the
// id of the host that it runs on, leave the record of an installation, or be the first process of
// a guest.
func TestMain(m *testing.M) {
	if guest.IsInit() {
		guest.Init()
		return
	}
	if disk := os.Getenv("BE_LEAVE_RECORD"); disk != "" {
		leaveRecord(disk)
		os.Exit(0)
	}
	if os.Getenv("BE_HOST_ID") != "" {
		id, err := hostid.Of(hostid.Read(hostfile.Dir{}))
		if err != nil {
			panic(err)
		}
		fmt.Println(id)
		os.Exit(0)
	}
	if os.Getenv("BE_START_AGENT") != "" {
		os.Exit(Main(context.Background(), program.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, os.Args))
	}
	os.Exit(m.Run())
}

// leaveRecord does at the end of an installation of this host what the agent does.
func leaveRecord(disk string) {
	id, err := hostid.Of(hostid.Read(hostfile.Dir{}))
	if err == nil {
		log := slog.New(slog.NewTextHandler(os.Stderr, nil))
		err = installed.Leave(context.Background(), command.Exec(command.Host{Log: log}, log), hostfile.Dir{}, disk, "/dev/disk/by-id/wwn-0x1", id)
	}
	if err != nil {
		panic(err)
	}
}

// TestFlagsOfTheAgentComeBehindTheDashes: a dry run that the agent does not hear of would be an
// installation.
func TestFlagsOfTheAgentComeBehindTheDashes(t *testing.T) {
	t.Setenv(hostfile.RootEnv, t.TempDir())
	for _, flag := range []string{"--dry-run", "--force-id=11111111-1111-4111-8111-111111111111"} {
		code, _, errs := call(t, "start-agent", flag)
		NewWithT(t).Expect(code).To(Equal(2))
		NewWithT(t).Expect(errs).To(ContainSubstring("is a flag of agent: write it behind --"))
	}
}

// TestStartAgent: the process becomes the agent of the hub's first infra-env, which comes late; with the hub's token.
func TestStartAgent(t *testing.T) {
	const env = "11111111-1111-4111-8111-111111111111"
	g := NewWithT(t)
	root := t.TempDir()
	dir := hostfile.Dir{Root: root}
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.Expect(r.URL.Path).To(Equal("/api/assisted-install/v2/infra-envs"))
		if asked++; asked == 1 {
			_, _ = w.Write([]byte(`[]`))
			return
		}
		_, _ = w.Write([]byte(`[{"id":"` + env + `"}]`))
	}))
	defer server.Close()
	g.Expect(places.Write(dir, places.NodeZero, nil, 0o644)).To(Succeed())
	g.Expect(places.Write(dir, places.RendezvousHost, []byte("SERVICE_BASE_URL="+server.URL+"/\n"), 0o644)).To(Succeed())
	g.Expect(places.Write(dir, places.ServiceSettings+"/agent-auth.env", []byte("AGENT_AUTH_TOKEN=token-1\n"), 0o600)).To(Succeed())
	start := func() (string, error) {
		self, err := os.Executable()
		g.Expect(err).NotTo(HaveOccurred())
		command := exec.CommandContext(t.Context(), self, "start-agent", "--", "--interval", "1")
		command.Args[0] = BinaryName
		command.Env = append(os.Environ(), "BE_START_AGENT=1", hostfile.RootEnv+"="+root, hubclient.TokenEnv+"=")
		out, err := command.CombinedOutput()
		return string(out), err
	}
	out, err := start()
	g.Expect(err).To(MatchError("exit status 1"), "an image without the agent")
	g.Expect(out).To(ContainSubstring(hostfile.AgentBinary + ": no such file"))
	g.Expect(places.Exists(dir, places.AnotherHub)).To(BeFalse(), "the hub is this host's own")
	g.Expect(places.Remove(dir, places.NodeZero)).To(Succeed())

	g.Expect(places.Write(dir, hostfile.AgentBinary, []byte("#!/bin/sh\necho \"pid $$, $"+hubclient.TokenEnv+", $*\"\nexit 91\n"), 0o755)).To(Succeed())
	out, err = start()
	g.Expect(err).To(MatchError("exit status 91"), "the agent's end is the unit's")
	g.Expect(places.Exists(dir, places.AnotherHub)).To(BeTrue(), "this host becomes no hub any more")
	g.Expect(out).To(MatchRegexp(`pid \d+, token-1, agent --url ` + regexp.QuoteMeta(server.URL) + `/? --infra-env-id ` + env + ` --agent-version (\S+) --insecure=false --interval 1`))
	g.Expect(places.Write(dir, hostfile.HubCA, []byte("certificate"), 0o644)).To(Succeed())
	agentVersion := "ironflow/ironflow-agent:" + version.Release()
	g.Expect(imageref.Valid(agentVersion)).To(BeTrue(), "it comes back with the hub's answer to the registration")
	g.Expect(agentWords(dir, "https://hub.example", env)).To(Equal([]string{
		"agent", "--url", "https://hub.example", "--infra-env-id", env, "--agent-version", agentVersion, "--insecure=false", "--cacert", hostfile.HubCA,
	}))
}
