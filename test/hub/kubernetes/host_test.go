//go:build e2e

package kubernetes

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/google/uuid"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/scenario"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/needs"
	"github.com/ironflow/ironflow/test/output"
	"github.com/ironflow/ironflow/test/systemd/systemdtest"
)

// host is a machine: its agent in the live system, and then its installed system.
type host struct {
	w *world
	n int
	// at is whose address it has, its own or that of a host before it.
	at      int
	pool    wire.InfraEnv
	live    *exec.Cmd
	said    output.Buffer
	ended   chan error
	machine *systemdtest.Machine
	// lost tells that it was killed.
	lost bool
	// found is what the hub has of it.
	found wire.Host
}

func (h *host) name() string { return fmt.Sprintf("node-%d", h.n) }

// boot boots the live system of the next host, in the pool.
func (w *world) boot(pool wire.InfraEnv) *host {
	w.Helper()
	return w.bootAt(pool, len(w.hosts)+1)
}

// bootAt is [world.boot] for a host that has the address of that number.
func (w *world) bootAt(pool wire.InfraEnv, at int) *host {
	w.Helper()
	h := &host{w: w, n: len(w.hosts) + 1, at: at, pool: pool, ended: make(chan error, 1)}
	w.hosts = append(w.hosts, h)
	root := hostfile.Dir{Root: filepath.Join(w.dir, h.name(), "live")}
	put := func(path string, content []byte) {
		w.Expect(os.MkdirAll(filepath.Dir(root.Path(path)), 0o755)).To(Succeed())
		w.Expect(os.WriteFile(root.Path(path), content, 0o600)).To(Succeed())
	}
	ca, err := os.ReadFile(w.hub.CA)
	w.Expect(err).NotTo(HaveOccurred())
	put("/ca.crt", ca)
	put(hostfile.BootIDPath(), []byte(uuid.NewString()+"\n"))
	hardware := &scenario.Scenario{
		Name: h.name(),
		Hardware: scenario.Hardware{
			System:    scenario.System{Manufacturer: "Example", Product: "Box", Serial: "SER-" + h.name()},
			CPU:       scenario.CPU{Architecture: "x86_64", Model: "Example CPU", Count: 32, MHz: 2400, Flags: []string{"vmx", "sse4_2", "avx2"}},
			MemoryMiB: 131072,
			NICs:      []scenario.NIC{{Name: "eno1", MAC: mac(h.n), IPv4: []string{address(h.at) + "/24"}, Gateway: gateway.Addr().String(), SpeedMbps: 25000}},
			Disks:     []scenario.Disk{{Name: "nvme0n1", SizeGiB: 960, Type: "NVME", Serial: "N-" + h.name(), WWN: fmt.Sprintf("eui.%016x", h.n)}},
		},
		Install: scenario.Install{DefaultStage: scenario.Duration{Duration: 300 * time.Millisecond}},
	}
	file := filepath.Join(root.Root, "scenario.yaml")
	w.Expect(hardware.Save(file)).To(Succeed())
	token, err := w.hub.AgentToken(pool.ID)
	w.Expect(err).NotTo(HaveOccurred())
	h.live = exec.CommandContext(context.WithoutCancel(w.Context()), needs.Shipped(w.T, "ironflow-agent"), "agent", "--url", w.hub.URL, "--infra-env-id", pool.ID, "--cacert", "/ca.crt",
		"--agent-version", "quay.example/ironflow/agent:test", "--interval", "1", "--with-journal-logging=false", "--with-text-logging=false", "--with-stdout-logging",
		"--dry-run", "--dry-scenario", file)
	h.live.Env = append(os.Environ(), hostfile.RootEnv+"="+root.Root, "PULL_SECRET_TOKEN="+token, "INVOCATION_ID="+strings.ReplaceAll(uuid.NewString(), "-", ""))
	h.live.Stdout, h.live.Stderr = &h.said, &h.said
	h.live.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	w.Expect(h.live.Start()).To(Succeed())
	go func() { h.ended <- h.live.Wait() }()
	w.Cleanup(func() { _ = h.live.Process.Kill() })
	return h
}

// known waits until the hub could install the host.
func (h *host) known(cluster string) {
	h.w.Helper()
	h.w.Eventually(func() string {
		h.look()
		return h.found.Status
	}, patience, look).Should(Equal(wire.HostStatusKnown), "%s: %s", h.name(), lazily(func() string { return h.w.story(cluster) }))
}

// look asks the hub for the host.
func (h *host) look() {
	h.w.Helper()
	var all []wire.Host
	h.w.get("/infra-envs/"+h.pool.ID+"/hosts", &all)
	for _, one := range all {
		if strings.Contains(one.Inventory, `"SER-`+h.name()+`"`) {
			h.found = one
		}
	}
}

// path is that of the host in the REST API.
func (h *host) path() string { return "/infra-envs/" + h.pool.ID + "/hosts/" + h.found.ID }

// cgroupV1 lets the kubelet run on a kernel whose controllers are those of the older cgroups,
// in the way that docs/kubernetes.md has for a kubelet's arguments.
func (h *host) cgroupV1() {
	h.w.Helper()
	if !systemdtest.CgroupV1() {
		return
	}
	config, err := json.Marshal(map[string]any{
		"ignition": map[string]any{"version": "3.2.0"},
		"storage": map[string]any{"files": []any{map[string]any{
			"path": "/etc/default/kubelet", "mode": 0o644, "contents": map[string]any{"source": "data:," + url.PathEscape("KUBELET_EXTRA_ARGS=--fail-cgroupv1=false\n")},
		}}},
	})
	h.w.Expect(err).NotTo(HaveOccurred())
	h.w.do(http.MethodPatch, h.path()+"/ignition", wire.HostIgnitionParams{Config: string(config)})
}

// installs waits until the live system is left.
func (h *host) installs(cluster string) {
	h.w.Helper()
	var err error
	h.w.Eventually(h.ended, patience).Should(Receive(&err), "%s is installed: %s", h.name(), lazily(func() string { return h.w.story(cluster) }))
	h.w.Expect(err).NotTo(HaveOccurred(), "%s: %s", h.name(), h.said.String())
}

// start boots the installed system, with the Ignition that the hub hands out for the host.
func (h *host) start() {
	h.w.Helper()
	dir := filepath.Join(h.w.dir, h.name())
	config := filepath.Join(dir, "config.ign")
	h.w.Expect(os.WriteFile(config, h.w.do(http.MethodGet, strings.Replace(h.path(), "infra-envs", "infra-env", 1)+"/downloads/ignition", nil), 0o600)).To(Succeed())
	disk := filepath.Join(dir, "disk")
	h.w.Expect(os.MkdirAll(filepath.Join(disk, "upper", "etc"), 0o755)).To(Succeed())
	// DHCP gives it; nobody answers there.
	h.w.Expect(os.WriteFile(filepath.Join(disk, "upper", "etc", "resolv.conf"), []byte("nameserver "+gateway.Addr().String()+"\n"), 0o644)).To(Succeed())
	h.machine = systemdtest.BootNode(h.w.T, systemdtest.Node{
		Root: h.w.root, Disk: disk, Ignition: h.w.ignition, Config: config,
		Plug: func(m *systemdtest.Machine) error { return h.w.plug(m, h.n, h.at) },
	})
}

// reaches tries from the host, if it runs, as often as it takes to have come to each of three servers.
func (h *host) reaches(address string) error {
	if h.lost {
		return nil
	}
	for range 10 {
		ctx, end := context.WithTimeout(h.w.Context(), 2*time.Second)
		connection, err := h.machine.Dial(ctx, "tcp", address)
		end()
		if err != nil {
			return err
		}
		_ = connection.Close() // it was made
	}
	return nil
}

// story is how far the host is.
func (h *host) story() string {
	if h.machine == nil {
		text := h.said.String()
		return h.name() + ":\n" + text[max(0, len(text)-3000):]
	}
	out, _ := h.machine.Command(context.WithoutCancel(h.w.Context()), "sh", "-c",
		"systemctl --failed --no-legend; journalctl --no-pager --lines 150 --unit 'ironflow*' --unit containerd; journalctl --no-pager --lines 60 --unit kubelet; "+
			"for f in /var/log/pods/*/*/*.log; do echo $f; tail -n 8 $f; done").CombinedOutput()
	return fmt.Sprintf("%s:\n%s\n", h.name(), out)
}

// lazily is a text that is made only for a test that fails.
type lazily func() string

func (l lazily) String() string { return l() }
