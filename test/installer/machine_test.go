//go:build e2e

package installer_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/agent/outcome"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/imagecustomization/ignition"
	"github.com/ironflow/ironflow/test/hub/testhub"
	"github.com/ironflow/ironflow/test/liveimage"
	"github.com/ironflow/ironflow/test/livesystem"
	"github.com/ironflow/ironflow/test/output"
	"github.com/ironflow/ironflow/test/systemd/systemdtest"
)

const (
	// patience bounds a whole installation.
	patience = 10 * time.Minute
	// diskBytes is a little more than the hub's minimum.
	diskBytes = 10 << 30
	nodeUUID  = "33333333-3333-4333-8333-333333333333"
)

// roleIgnition is what the hub's source has for the role; the hub adds the name.
const roleIgnition = `{"ignition": {"version": "3.4.0"}, "storage": {"files": [{"path": "/etc/motd", "contents": {"source": "data:,installed%20by%20the%20agent"}}]}}`

// world is a hub, an infra-env and a machine in its live system.
type world struct {
	g      *WithT
	t      *testing.T
	hub    *testhub.Hub
	env    string
	token  string
	url    string // the hub's, inside the machine
	system *livesystem.System
	image  string
}

func newWorld(t *testing.T, disk livesystem.Disk) *world {
	t.Helper()
	livesystem.Need(t)
	w := &world{g: NewWithT(t), t: t}
	sources := t.TempDir()
	w.g.Expect(os.WriteFile(filepath.Join(sources, "master.ign"), []byte(roleIgnition), 0o600)).To(Succeed())
	w.hub = testhub.Start(t, testhub.Options{IgnitionDir: sources})
	w.env = "11111111-1111-4111-8111-111111111111"
	_, err := w.hub.EnsureInfraEnv(t.Context(), service.InfraEnvSpec{ID: w.env, Name: "pool", SingleHost: true})
	w.g.Expect(err).NotTo(HaveOccurred())
	w.token, err = w.hub.AgentToken(t.Context(), w.env)
	w.g.Expect(err).NotTo(HaveOccurred())

	if disk.Bytes == 0 {
		disk.Bytes = diskBytes
	}
	w.system = livesystem.New(t, systemdtest.Boot(t), disk)
	w.image = livesystem.MakeImage(t, "../fixtures/coreos-disk/make.sh")
	w.system.AddImage(t, w.image)
	systemdtest.Install(t, w.system.Host, program(t, "ironflow-agent"), hostfile.AgentBinary)
	systemdtest.Install(t, w.system.Host, program(t, "ironflow-step"), hostfile.StepBinary)
	w.system.AddNIC(t, "02:00:00:00:00:01")
	w.url = w.serveHub()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("hub:\n%s", w.hub.Timeline(t))
		}
	})
	return w
}

// programsEnv names a folder with the programs, for where nobody wants to wait for a compiler.
const programsEnv = "IRONFLOW_INSTALLER_PROGRAMS"

// program returns the path of one of our programs.
func program(t *testing.T, name string) string {
	t.Helper()
	if dir := os.Getenv(programsEnv); dir != "" {
		return filepath.Join(dir, name)
	}
	return systemdtest.Build(t, "github.com/ironflow/ironflow/cmd/"+name)
}

// serveHub lets the machine, whose network is its own, reach the hub.
func (w *world) serveHub() string {
	target, err := url.Parse(w.hub.URL)
	w.g.Expect(err).NotTo(HaveOccurred())
	listener := w.system.Listen(w.t)
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }, Transport: w.hub.Client().Transport,
	}}
	go func() { _ = server.Serve(listener) }()
	w.t.Cleanup(func() { _ = server.Close() })
	return "http://" + listener.Addr().String()
}

// agent is the agent's command inside the machine, as no unit starts it.
func (w *world) agent(ctx context.Context) *exec.Cmd {
	cmd := w.system.Command(ctx, hostfile.AgentBinary, "agent", "--url", w.url, "--infra-env-id", w.env,
		"--agent-version", "ironflow-agent:test", "--with-stdout-logging")
	cmd.Env = append(cmd.Env, hubclient.TokenEnv+"="+w.token, outcome.InvocationEnv+"=0123456789abcdef0123456789abcdef")
	return cmd
}

// start starts the agent; the returned function waits for its end and returns
// its exit code.
func (w *world) start() (wait func() int) {
	w.t.Helper()
	var log output.Buffer
	cmd := w.agent(w.t.Context())
	cmd.Stdout, cmd.Stderr = &log, &log
	w.g.Expect(cmd.Start()).To(Succeed())
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	w.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		if w.t.Failed() {
			w.t.Logf("agent:\n%s", log.String())
		}
	})
	return func() int {
		w.t.Helper()
		w.g.Eventually(done).WithTimeout(patience).Should(Receive(), "the agent ends")
		return cmd.ProcessState.ExitCode()
	}
}

// approve waits for the host, has it written from the machine's image, and lets
// the installation begin.
func (w *world) approve() store.HostKey {
	w.t.Helper()
	var key store.HostKey
	w.g.Eventually(func() string {
		hosts, err := w.hub.Hosts(w.t.Context(), store.HostFilter{InfraEnvID: w.env})
		if err != nil || len(hosts) == 0 {
			return "not registered"
		}
		key = store.HostKey{InfraEnvID: w.env, HostID: hosts[0].ID}
		return hosts[0].Status + ": " + hosts[0].StatusInfo + " " + hosts[0].ValidationsInfo
	}).WithTimeout(patience).WithPolling(100*time.Millisecond).Should(HavePrefix("known"), "the host registers and is validated")
	_, err := w.hub.SetInstallerArgs(w.t.Context(), key, []string{"--image-file", livesystem.ImageFile})
	w.g.Expect(err).NotTo(HaveOccurred())
	w.g.Expect(w.hub.ApproveHost(w.t.Context(), key, true)).To(Succeed())
	return key
}

func (w *world) view(key store.HostKey) service.HostView {
	w.t.Helper()
	view, _, err := w.hub.View(w.t.Context(), key)
	w.g.Expect(err).NotTo(HaveOccurred())
	return view
}

// sectors of the image's partitions that nobody changes (test/fixtures/coreos-disk).
var untouched = map[string][2]int64{"BIOS boot": {2048, 2048}, "EFI system": {4096, 16384}, "root": {69632, 40960}}

// installed proves that the disk holds the image and the hub's Ignition, byte for byte.
func (w *world) installed(key store.HostKey) {
	w.t.Helper()
	for name, at := range untouched {
		same := bytes.Equal(w.system.Section(w.t, at[0]*512, at[1]*512), livesystem.Section(w.t, w.image, at[0]*512, at[1]*512))
		w.g.Expect(same).To(BeTrue(), "partition %s", name)
	}
	rendered, err := w.hub.HostIgnition(w.t.Context(), key)
	w.g.Expect(err).NotTo(HaveOccurred())
	w.g.Expect(string(rendered.Content)).To(ContainSubstring("installed%20by%20the%20agent"), "the role's own")
	w.g.Expect(w.system.Boot(w.t, "ignition/config.ign")).To(Equal(string(rendered.Content)))
	w.g.Expect(w.system.Boot(w.t, "loader/entries/ostree-1-test.conf")).To(ContainSubstring("title Test CoreOS 1"))
}

// marker reads the done marker.
func (w *world) marker() (hostfile.Installed, error) {
	var m hostfile.Installed
	return m, w.system.Host.Read(hostfile.InstalledFile, &m)
}

// addIPA makes Ironic's agent a unit that runs.
func (w *world) addIPA() {
	w.t.Helper()
	w.put(hostfile.UnitDir+"/"+hostfile.IPAUnit, "[Service]\nExecStart=/bin/sleep infinity\n")
	w.system.Run(w.t, "systemctl", "daemon-reload")
	w.system.Run(w.t, "systemctl", "start", hostfile.IPAUnit)
}

// addAgentUnit puts agent.service into the machine as imagecustomization renders it.
func (w *world) addAgentUnit() {
	w.t.Helper()
	raw, err := ignition.Build(ignition.HostConfig{
		IPA:   &ignition.IPA{APIURLs: []string{"https://192.0.2.1"}, Insecure: true, Command: []string{"/bin/true"}},
		Agent: &ignition.Agent{URL: w.url, InfraEnvID: w.env, Version: "ironflow-agent:test", Token: ignition.Secret(w.token), Gate: true},
	})
	w.g.Expect(err).NotTo(HaveOccurred())
	config, err := liveimage.Decode(raw)
	w.g.Expect(err).NotTo(HaveOccurred())
	files := map[string][]byte{}
	for _, f := range config.Files {
		if strings.HasPrefix(f.Path, hostfile.ConfigDir) {
			files[f.Path] = f.Data
		}
	}
	for _, u := range config.Units {
		if u.Name == hostfile.AgentUnit {
			files[filepath.Join(hostfile.UnitDir, u.Name)] = []byte(u.Contents)
		}
	}
	for path, data := range files {
		w.put(path, string(data))
	}
	w.system.Run(w.t, "systemctl", "daemon-reload")
}

// put writes a file of the machine.
func (w *world) put(path, text string) {
	w.t.Helper()
	path = w.system.Host.Path(path)
	w.g.Expect(errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600))).To(Succeed())
}
