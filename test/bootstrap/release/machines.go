package release

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/systemd/systemdtest"
)

// Installs gives a machine etcd, kube-apiserver and kubectl, and what sees to etcd's members: the calling test binary, which
// has to call [Main].
func (p *Plane) Installs(m *systemdtest.Machine) {
	p.t.Helper()
	assets, err := lab.Assets(p.t.Context(), "", nil)
	p.must(err)
	for _, name := range []string{"etcd", "kube-apiserver", "kubectl"} {
		path, err := filepath.EvalSymlinks(filepath.Join(assets, name))
		p.must(err)
		p.Bind(m, path, ProgramDir+"/"+name)
	}
	self, err := os.Executable()
	p.must(err)
	p.Bind(m, self, ProgramDir+"/"+membersProgram)
}

// Lives gives a bootstrap host's live system what a release's has: a container engine that has its images already, and a
// NetworkManager, which leaves the network as it is.
func (p *Plane) Lives(m *systemdtest.Machine) {
	p.t.Helper()
	p.Put(m, ProgramDir+"/podman", p.script("podman.sh"))
	m.Run(p.t, "chmod", "0755", ProgramDir+"/podman")
	p.Put(m, hostfile.UnitDir+"/NetworkManager.service", "[Service]\nType=oneshot\nExecStart=/bin/true\n")
	m.Run(p.t, "systemctl", "daemon-reload")
}

// Bind shows a program of this computer in the machine, which has no room for copies of large ones.
func (p *Plane) Bind(m *systemdtest.Machine, from, to string) {
	p.t.Helper()
	p.Put(m, to, "")
	beside, root := m.Beside()
	if out, err := exec.CommandContext(p.t.Context(), beside[0], append(beside[1:], "mount", "--bind", from, root+to)...).CombinedOutput(); err != nil {
		p.t.Fatalf("show %s in the machine: %v: %s", from, err, out)
	}
}

// Put writes a file of the machine.
func (p *Plane) Put(m *systemdtest.Machine, path, text string) {
	p.t.Helper()
	path = m.Host.Path(path)
	p.must(os.MkdirAll(filepath.Dir(path), 0o755))
	p.must(os.WriteFile(path, []byte(text), 0o600))
}

// Joins has the services of an installed system join the control plane, of which one has the address of the endpoint, and
// waits until they have. The story is what a test that fails says.
func (p *Plane) Joins(m *systemdtest.Machine, name, address, endpoint string, patience time.Duration, story func() string) {
	p.t.Helper()
	for path, text := range p.files("/etc/kubernetes") {
		p.Put(m, path, text)
	}
	p.Put(m, AdminConfig, p.Kubeconfig("https://"+address+":6443"))
	p.Put(m, ProgramDir+"/join.sh", p.script("join.sh"))
	all := p.units(name, address, "/etc/kubernetes", "existing")
	all["join.service"] = "[Unit]\nDescription=Join the control plane\nStartLimitIntervalSec=0\n[Service]\nType=oneshot\nRemainAfterExit=yes\nRestart=on-failure\nRestartSec=2\n" +
		"ExecStart=/bin/sh " + ProgramDir + "/join.sh " + name + " " + address + " " + endpoint + "\n"
	for unit, text := range all {
		p.Put(m, hostfile.UnitDir+"/"+unit, text)
	}
	m.Run(p.t, "systemctl", "daemon-reload")
	m.Run(p.t, "systemctl", "start", "--no-block", "join.service")
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	for {
		state, err := m.Units(p.t).Unit(ctx, "join.service")
		if err == nil && state.ActiveState == "active" {
			return
		}
		select {
		case <-ctx.Done():
			p.t.Fatalf("%s does not join: %v: %s: %v\n%s", name, ctx.Err(), state.ActiveState, err, story())
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// BootstrapAPI is what kubectl says on the bootstrap host, also that it cannot.
func BootstrapAPI(ctx context.Context, m *systemdtest.Machine, args ...string) string {
	return Kubectl(ctx, m, bootstrapConfig, args...)
}

// Kubectl is what kubectl says in a machine, also that it cannot.
func Kubectl(ctx context.Context, m *systemdtest.Machine, config string, args ...string) string {
	out, err := m.Command(ctx, ProgramDir+"/kubectl", append([]string{"--kubeconfig", config}, args...)...).CombinedOutput()
	if err != nil {
		return err.Error() + ": " + string(out)
	}
	return string(out)
}

// Members is how many members of etcd have begun, as one of them says.
func (p *Plane) Members(m *systemdtest.Machine) string {
	p.t.Helper()
	return m.Run(p.t, ProgramDir+"/"+membersProgram, "count", "http://127.0.0.1:2379")
}
