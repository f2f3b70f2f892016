package bootstrap_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/agent/install"
	"github.com/ironflow/ironflow/agent/install/bootstrap"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/systemd"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/played"
)

var update = flag.Bool("update", false, "write the golden files")

const id = "11111111-1111-4111-8111-111111111111"

// host is a bootstrap host whose programs, systemd and hub the test plays.
type host struct {
	played.Programs
	dir hostfile.Dir

	mu       sync.Mutex
	units    map[string]systemd.Properties
	did      []string
	names    []string
	ignition string
	code     int
	hosts    []wire.Host
	told     []string
	log      string // of the machine config server
	started  func(unit string)
}

func newHost(t *testing.T) *host {
	t.Helper()
	loaded := systemd.Properties{LoadState: "loaded", ActiveState: "inactive"}
	h := &host{dir: hostfile.Dir{Root: t.TempDir()}, units: map[string]systemd.Properties{}, ignition: config(t)}
	for _, name := range []string{"bootkube.service", "approve-csr.service", "progress.service"} {
		h.units[name] = loaded
	}
	h.On("podman ps", played.Says("0123456789ab\n"))
	h.On("podman logs", func(_ context.Context, c command.Command) error {
		_, err := io.WriteString(c.Stderr, h.log)
		return err
	})
	h.write(t, "/proc/sys/kernel/hostname", "localhost\n")
	return h
}

func (h *host) write(t *testing.T, path, text string) {
	t.Helper()
	played.Write(t, h.dir, path, text)
}

// failContainers makes that many runs of podman fail.
func (h *host) failContainers(n int) {
	h.On("podman run", played.Times(n, played.Fails(125, ""), played.Says("")))
}

func (h *host) read(t *testing.T, path string) (text string, mode os.FileMode) {
	t.Helper()
	raw, err := os.ReadFile(h.dir.Path(path))
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(h.dir.Path(path))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw), info.Mode().Perm()
}

func (h *host) ClusterFile(context.Context, string, string) ([]byte, error) {
	if h.code != 0 {
		return nil, &hubclient.StatusError{Code: h.code}
	}
	return []byte(h.ignition), nil
}

func (h *host) ClusterInventories(context.Context, string) ([]wire.Host, error) { return h.hosts, nil }

func (h *host) Progress(_ context.Context, host hubclient.Host, p wire.HostProgress) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.told = append(h.told, host.HostID+" "+string(p.CurrentStage))
	return nil
}

func (h *host) Unit(_ context.Context, name string) (systemd.Properties, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if p, ok := h.units[name]; ok {
		return p, nil
	}
	return systemd.Properties{LoadState: "not-found", ActiveState: "inactive"}, nil
}

func (h *host) note(what string) (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.did = append(h.did, what)
	return systemd.JobDone, nil
}

func (h *host) Start(_ context.Context, name string) (string, error) {
	if h.started != nil {
		h.started(name)
	}
	return h.note("start " + name)
}

func (h *host) Restart(_ context.Context, name string) (string, error) {
	return h.note("restart " + name)
}
func (h *host) Reload(context.Context) error { _, err := h.note("reload"); return err }

func (h *host) SetHostname(_ context.Context, name string) error {
	h.names = append(h.names, name)
	return nil
}

func (h *host) role() *bootstrap.Role {
	return &bootstrap.Role{
		Dir: h.dir, Commands: h, Env: []string{"HOME=/root"}, Hub: h, Units: h, Log: slog.New(slog.DiscardHandler),
		Controller: controller(),
	}
}

func controller() bootstrap.Controller {
	return bootstrap.Controller{HubURL: "https://hub.example:8090", Token: func() string { return "agents-secret" }, CA: "-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----\n"}
}

func request(change func(*wire.InstallCmdRequest)) wire.InstallCmdRequest {
	no, proxy := false, "http://proxy.example:3128"
	r := wire.InstallCmdRequest{
		ClusterID: id, InfraEnvID: id, HostID: id, Role: wire.HostRoleBootstrap, ControlPlaneCount: 3, OpenshiftVersion: "4.20.1",
		ControllerImage: "quay.example/controller@sha256:0123", McoImage: "quay.example/mco:1", MustGatherImage: "quay.example/gather:1",
		CheckCvo: &no, Proxy: &wire.Proxy{HTTPProxy: &proxy},
	}
	if change != nil {
		change(&r)
	}
	return r
}

func packed(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return "data:;base64," + base64.StdEncoding.EncodeToString(b.Bytes())
}

// config is a bootstrap.ign with everything that one has.
func config(t *testing.T) string {
	t.Helper()
	return `{"ignition": {"version": "3.2.0"},
		"storage": {"files": [
			{"path": "/root/.docker/config.json", "mode": 384, "contents": {"source": "data:;base64,` + base64.StdEncoding.EncodeToString([]byte(`{"auths":{}}`)) + `"}},
			{"path": "/usr/local/bin/bootkube.sh", "mode": 365, "contents": {"source": "data:,%23!%2Fbin%2Fsh%0A"}},
			{"path": "/opt/openshift/big", "contents": {"source": "` + packed("unpacked") + `", "compression": "gzip"}},
			{"path": "/etc/motd", "append": [{"source": "data:,bootstrap%0A"}]}]},
		"systemd": {"units": [
			{"name": "bootkube.service", "enabled": true, "contents": "[Service]\nExecStart=/usr/local/bin/bootkube.sh\n"},
			{"name": "kubelet.service", "dropins": [{"name": "10-env.conf", "contents": "[Service]\nEnvironment=A=b\n"}]}]}}`
}

// run does the named tasks in the order of the graph.
func (h *host) run(t *testing.T, r *bootstrap.Role, request wire.InstallCmdRequest, upTo string) error {
	t.Helper()
	tasks, _, err := r.Tasks(t.Context(), install.Job{Request: request}, request.ControlPlaneCount == 1)
	if err != nil {
		return err
	}
	for _, task := range tasks {
		if err := task.Run(t.Context(), func(int, string) {}); err != nil {
			return fmt.Errorf("%s: %w", task.Name, err)
		}
		if task.Name == upTo {
			return nil
		}
	}
	return nil
}

const started = "start-bootstrap-services"

func TestServicesAreStarted(t *testing.T) {
	g := NewWithT(t)
	h := newHost(t)
	h.failContainers(2)
	h.write(t, "/etc/x", "")
	r := h.role()
	tasks, before, err := r.Tasks(t.Context(), install.Job{Request: request(nil)}, false)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(before).To(BeEmpty(), "the disk waits for nothing")
	names := map[wire.HostStage][]string{}
	for _, task := range tasks {
		names[task.Stage] = append(names[task.Stage], task.Name)
	}
	g.Expect(names[wire.HostStageWaitingForBootkube]).To(Equal([]string{"wait-bootkube"}))
	g.Expect(names[wire.HostStageWaitingForController]).To(Equal([]string{"wait-controller"}))
}

func TestTheMachineConfigDaemonHasThreeTries(t *testing.T) {
	// The exact arguments, as existing installers give them.
	const line = "podman run --rm --net host --pid host --privileged --volume /:/rootfs:rw --volume /run/dbus/system_bus_socket:/run/dbus/system_bus_socket " +
		"--authfile /root/.docker/config.json --entrypoint /usr/bin/machine-config-daemon quay.example/mco:1 " +
		"start --node-name localhost --root-mount /rootfs --once-from /run/ironflow/bootstrap.ign --skip-reboot"
	NewWithT(t).Expect(strings.Join(bootstrap.MachineConfigArgs("quay.example/mco:1"), " ")).To(Equal(line))
	for fails, want := range map[int]string{0: "", 3: "write-machine-config: podman: exit status 125"} {
		t.Run(fmt.Sprint(fails), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				h := newHost(t)
				h.failContainers(fails)
				err := h.run(t, h.role(), request(nil), "write-machine-config")
				if want == "" {
					g.Expect(err).NotTo(HaveOccurred())
					g.Expect(h.Lines()).To(Equal([]string{line}))
					g.Expect(h.Ran("podman run")[0].Env).To(Equal([]string{"HOME=/root", "HTTP_PROXY=http://proxy.example:3128", "http_proxy=http://proxy.example:3128"}), "the image is pulled")
				} else {
					g.Expect(err).To(MatchError(want))
					g.Expect(h.Lines()).To(Equal([]string{line, line, line}))
				}
				secret, mode := h.read(t, "/root/.docker/config.json")
				g.Expect(secret).To(Equal(`{"auths":{}}`))
				g.Expect(mode).To(Equal(os.FileMode(0o600)))
				_, mode = h.read(t, "/run/ironflow/bootstrap.ign")
				g.Expect(mode).To(Equal(os.FileMode(0o600)))
			})
		})
	}
}

func TestWithoutAnImageFilesAndUnitsAreWritten(t *testing.T) {
	g := NewWithT(t)
	h := newHost(t)
	h.write(t, "/etc/motd", "welcome\n")
	g.Expect(os.Chmod(h.dir.Path("/etc/motd"), 0o644)).To(Succeed())
	own := request(func(r *wire.InstallCmdRequest) { r.McoImage = "" })
	for range 2 { // a second run changes nothing more
		g.Expect(h.run(t, h.role(), own, started)).To(Succeed())
	}
	for path, want := range map[string]struct {
		text string
		mode os.FileMode
	}{
		"/usr/local/bin/bootkube.sh":                        {"#!/bin/sh\n", 0o555},
		"/opt/openshift/big":                                {"unpacked", 0o644},
		"/etc/motd":                                         {"welcome\nbootstrap\n", 0o644},
		"/etc/systemd/system/bootkube.service":              {"[Service]\nExecStart=/usr/local/bin/bootkube.sh\n", 0o644},
		"/etc/systemd/system/kubelet.service.d/10-env.conf": {"[Service]\nEnvironment=A=b\n", 0o644},
	} {
		text, mode := h.read(t, path)
		g.Expect(text).To(Equal(want.text), path)
		g.Expect(mode).To(Equal(want.mode), path)
	}
	g.Expect(h.did[:5]).To(Equal([]string{"reload", "restart NetworkManager.service", "start bootkube.service", "start approve-csr.service", "start progress.service"}))
	g.Expect(h.names[0]).To(Equal("host-11111111"))
	_, mode := h.read(t, "/opt/openshift/manifests/assisted-installer-controller-secret.yaml")
	g.Expect(mode).To(Equal(os.FileMode(0o600)))
}

// TestNamesThatNoNodeCanHave: the temporary control plane would fail under them, whatever
// name the host was given in the hub (assisted-installer#788).
func TestNamesThatNoNodeCanHave(t *testing.T) {
	for name, renamed := range map[string]bool{
		"localhost": true, "MASTER-0": true, "master_0": true, "Node.Example.COM": true, "master-0": false, "master-0.example.com": false,
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			h := newHost(t)
			h.write(t, "/proc/sys/kernel/hostname", name+"\n")
			g.Expect(h.run(t, h.role(), request(nil), started)).To(Succeed())
			if renamed {
				g.Expect(h.names).To(Equal([]string{"host-11111111"}))
			} else {
				g.Expect(h.names).To(BeEmpty())
			}
		})
	}
}

func TestServicesThatRunAreLeftAlone(t *testing.T) {
	for name, prepare := range map[string]func(t *testing.T, h *host){
		"they run": func(_ *testing.T, h *host) {
			for unit := range h.units {
				h.units[unit] = systemd.Properties{LoadState: "loaded", ActiveState: "active"}
			}
		},
		"they have ended": func(t *testing.T, h *host) { h.write(t, "/opt/openshift/.bootkube.done", "") },
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			h := newHost(t)
			prepare(t, h)
			g.Expect(h.run(t, h.role(), request(nil), started)).To(Succeed())
			g.Expect(h.did).To(BeEmpty())
			g.Expect(h.Lines()).To(BeEmpty())
			g.Expect(h.dir.Path("/opt/openshift/manifests")).NotTo(BeADirectory())
		})
	}
}

func TestBadBootstrapIgnition(t *testing.T) {
	for name, tc := range map[string]struct{ ignition, want string }{
		"no JSON":        {"secret", "bootstrap.ign: it is not the JSON of an Ignition configuration"},
		"no version":     {"{}", "no ignition.version"},
		"detour":         {`{"ignition": {"version": "3.2.0"}, "storage": {"files": [{"path": "/etc/../x"}]}}`, "storage.files.0.path: path is not fully simplified"},
		"not absolute":   {`{"ignition": {"version": "3.2.0"}, "storage": {"files": [{"path": "x"}]}}`, "storage.files.0.path: path not absolute"},
		"remote content": {`{"ignition": {"version": "3.2.0"}, "storage": {"files": [{"path": "/x", "contents": {"source": "http://x"}}]}}`, "no data URL"},
		"broken base64": {
			`{"ignition": {"version": "3.2.0"}, "storage": {"files": [{"path": "/x", "contents": {"source": "data:;base64,secret"}}]}}`,
			"storage.files.0.contents.source: illegal base64 data",
		},
		"odd packing": {
			`{"ignition": {"version": "3.2.0"}, "storage": {"files": [{"path": "/x", "contents": {"source": "data:,x", "compression": "xz"}}]}}`,
			"storage.files.0.contents.compression: invalid compression method",
		},
		"unit with path": {`{"ignition": {"version": "3.2.0"}, "systemd": {"units": [{"name": "../x.service", "contents": ""}]}}`, "no unit's name"},
		"bomb": {
			`{"ignition": {"version": "3.2.0"}, "storage": {"files": [{"path": "/x", "contents": {"compression": "gzip", "source": "` + packed(strings.Repeat("0", 33<<20)) + `"}}]}}`,
			"more than 32 MiB",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			h := newHost(t)
			h.ignition = tc.ignition
			err := h.run(t, h.role(), request(func(r *wire.InstallCmdRequest) { r.McoImage = "" }), started)
			g.Expect(err).To(MatchError(ContainSubstring(tc.want)))
			g.Expect(err.Error()).NotTo(ContainSubstring("secret"))
			g.Expect(h.did).To(BeEmpty())
		})
	}
}

func TestAClusterWithoutBootstrapRole(t *testing.T) {
	for name, tc := range map[string]struct {
		code    int
		version string
		want    string
	}{
		"no release, no file":          {409, "", ""},
		"no release, another hub":      {404, "", ""},
		"a release must have the file": {409, "4.20.1", "fetch bootstrap.ign: hub answered 409"},
		"refused":                      {403, "", "403"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			h := newHost(t)
			h.code = tc.code
			err := h.run(t, h.role(), request(func(r *wire.InstallCmdRequest) { r.OpenshiftVersion = tc.version }), "")
			if tc.want != "" {
				g.Expect(err).To(MatchError(ContainSubstring(tc.want)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred(), "no task waits for anything")
			g.Expect(h.did).To(BeEmpty())
		})
	}
}

func TestControllerManifests(t *testing.T) {
	g := NewWithT(t)
	manifests, err := controller().Manifests(request(nil))
	g.Expect(err).NotTo(HaveOccurred())
	var all strings.Builder
	for _, m := range manifests {
		g.Expect(json.Valid(m.Content)).To(BeTrue())
		g.Expect(m.Secret).To(Equal(strings.Contains(string(m.Content), "agents-secret")), m.Name)
		fmt.Fprintf(&all, "--- %s\n%s", m.Name, m.Content)
	}
	golden := filepath.Join("testdata", "manifests.golden")
	if *update {
		g.Expect(os.MkdirAll("testdata", 0o755)).To(Succeed())
		g.Expect(os.WriteFile(golden, []byte(all.String()), 0o644)).To(Succeed())
	}
	want, err := os.ReadFile(golden)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(all.String()).To(Equal(string(want)), "run with -update after a change that is meant")
}

// TestWaiting plays a temporary control plane over TLS: nodes come up, bootkube
// ends, the controller says that it is ready; the hub hears of the other hosts.
func TestWaiting(t *testing.T) {
	g := NewWithT(t)
	h := newHost(t)
	var mu sync.Mutex
	var asked []string
	api := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, r.URL.Path)
		switch r.URL.Path {
		case "/api/v1/nodes":
			_, _ = io.WriteString(w, `{"items": [
				{"metadata": {"name": "m1", "labels": {"node-role.kubernetes.io/master": ""}}, "status": {"conditions": [{"type": "Ready", "status": "True"}]}},
				{"metadata": {"name": "m2", "labels": {"node-role.kubernetes.io/control-plane": ""}},
					"status": {"conditions": [{"type": "MemoryPressure", "status": "False"}, {"type": "Ready", "status": "True"}]}},
				{"metadata": {"name": "w1", "labels": {}}, "status": {"conditions": [{"type": "Ready", "status": "False"}]}}]}`)
		case "/api/v1/namespaces/assisted-installer/events":
			_, _ = io.WriteString(w, `{"items": [{"reason": "Scheduled"}, {"reason": "AssistedControllerIsReady"}]}`)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer api.Close()
	h.write(t, "/opt/openshift/auth/kubeconfig-loopback", kubeconfig(t, api))
	h.write(t, "/opt/openshift/.bootkube.done", "")
	inventory := func(name, address string) string {
		return `{"hostname":"` + name + `","interfaces":[{"ipv4_addresses":["` + address + `/24"]}]}`
	}
	h.hosts = []wire.Host{
		{ID: id, InfraEnvID: id, Inventory: inventory("m0", "192.0.2.10")},
		{ID: "h1", InfraEnvID: id, RequestedHostname: "m1", Inventory: inventory("x", "192.0.2.11")},
		{ID: "h2", InfraEnvID: id, Inventory: inventory("m2", "192.0.2.12")},
		{ID: "h3", InfraEnvID: id, Inventory: inventory("w1", "192.0.2.13")},
	}
	h.log = "I1011 09:26:03.1 api.go:65] Pool worker requested by address:\"192.0.2.13:40112\" User-Agent:\"Ignition/2.14.0\"\n" +
		"I1011 09:26:04.1 api.go:65] Pool master requested by address:\"[::ffff:192.0.2.1]:40112\" User-Agent:\"Ignition/2.14.0\"\n"
	g.Expect(h.run(t, h.role(), request(nil), "")).To(Succeed())
	g.Expect(h.told).To(Equal([]string{"h3 Configuring", "h1 Joined", "h1 Done", "h2 Joined", "h2 Done"}))
	g.Expect(slices.Compact(asked)).To(Equal([]string{"/api/v1/nodes", "/api/v1/namespaces/assisted-installer/events"}))
}

// TestAnOrderWithoutAController puts none into the cluster, and waits for none.
func TestAnOrderWithoutAController(t *testing.T) {
	g := NewWithT(t)
	h := newHost(t)
	order := request(func(r *wire.InstallCmdRequest) { r.ControllerImage, r.McoImage = "", "" })
	g.Expect(h.run(t, h.role(), order, "write-controller-manifests")).To(Succeed())
	g.Expect(h.dir.Path("/opt/openshift/big")).To(BeAnExistingFile())
	g.Expect(h.dir.Path("/opt/openshift/manifests")).NotTo(BeADirectory())
	tasks, _, err := h.role().Tasks(t.Context(), install.Job{Request: order}, false)
	g.Expect(err).NotTo(HaveOccurred())
	for _, task := range tasks {
		g.Expect(task.Stage).NotTo(Equal(wire.HostStageWaitingForController))
	}
}

// kubeconfig is one for the server; its certificate serves as the client's, too.
func kubeconfig(t *testing.T, server *httptest.Server) string {
	t.Helper()
	pair := server.TLS.Certificates[0]
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate[0]})
	key, err := keyPEM(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	b64 := base64.StdEncoding.EncodeToString
	return "apiVersion: v1\nkind: Config\nclusters:\n- name: local\n  cluster:\n    server: " + server.URL + "\n    certificate-authority-data: " + b64(certificate) +
		"\nusers:\n- name: loopback\n  user:\n    client-certificate-data: " + b64(certificate) + "\n    client-key-data: " + b64(key) + "\n"
}
