package openshiftinstall_test

import (
	"context"
	"encoding/base64"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/sources/openshiftinstall"
	"github.com/ironflow/ironflow/hub/wire"
)

func TestWhatAnOrderLacks(t *testing.T) {
	master, worker := wire.HostRoleMaster, wire.HostRoleWorker
	for name, tc := range map[string]struct {
		order  func() *sources.Order
		change func(*sources.Order)
		want   string
	}{
		"no pull secret":                {three, func(o *sources.Order) { o.PullSecret = "" }, "no pull secret"},
		"a pull secret of another form": {three, func(o *sources.Order) { o.PullSecret = "{}" }, "no such JSON document"},
		"nobody brings up":              {three, func(o *sources.Order) { o.Hosts[0].Bootstrap = false }, "0 hosts are to bring up the others"},
		"two bring up":                  {three, func(o *sources.Order) { o.Hosts[1].Bootstrap = true }, "2 hosts are to bring up the others"},
		"a worker brings up":            {three, func(o *sources.Order) { o.Hosts[0].Bootstrap, o.Hosts[3].Bootstrap = false, true }, `host-3 is to bring up the others and has the role "worker"`},
		"a host without role":           {three, func(o *sources.Order) { o.Hosts[3].Role = wire.HostRoleAutoAssign }, `host-3 has the role "auto-assign"`},
		"no control plane":              {func() *sources.Order { return order(worker) }, func(*sources.Order) {}, "no control plane"},
		"two masters":                   {func() *sources.Order { return order(master, master) }, func(*sources.Order) {}, "no quorum"},
		"in place with a worker":        {func() *sources.Order { return order(master, worker) }, func(*sources.Order) {}, "is installed alone"},
		"in place without a disk":       {func() *sources.Order { return order(master) }, func(o *sources.Order) { o.Hosts[0].Disk = "" }, "no installation disk"},
		"one joins too early":           {three, func(o *sources.Order) { o.Hosts[3].Joins = true }, "host-3 joins the cluster, which is still to be installed"},
		"a foreign folder":              {three, func(o *sources.Order) { o.Manifests = []sources.Manifest{{Folder: "../auth", Name: "a.yaml"}} }, "no such folder"},
		"a name with folders":           {three, func(o *sources.Order) { o.Manifests = []sources.Manifest{{Folder: "manifests", Name: "../../a.yaml"}} }, "no file name"},
		"the folder's own name":         {three, func(o *sources.Order) { o.Manifests = []sources.Manifest{{Folder: "manifests", Name: ".."}} }, "no file name"},
		"a patch": {three, func(o *sources.Order) {
			o.Manifests = []sources.Manifest{{Folder: "manifests", Name: "cluster-network-03-config.yml.patch_mtu"}}
		}, "is a patch, and the hub applies none"},
		"a name twice": {three, func(o *sources.Order) {
			o.Manifests = []sources.Manifest{{Folder: "manifests", Name: "a.yaml"}, {Folder: "manifests", Name: "a.yaml"}}
		}, "is there twice"},
		"overrides that are none":    {three, func(o *sources.Order) { o.Cluster.InstallConfigOverrides = "[" }, "install_config_overrides"},
		"settings of another source": {three, func(o *sources.Order) { o.Kubernetes = &sources.KubernetesSettings{} }, "plain Kubernetes"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s, o := newScene(t), tc.order()
			tc.change(o)
			lacks := s.Lacks(t.Context(), o)
			g.Expect(lacks).To(ContainElement(And(HaveField("What", ContainSubstring(tc.want)), HaveField("Next", Not(BeEmpty())))))
			_, err := s.Make(t.Context(), o)
			g.Expect(err).To(MatchError(sources.Lacking(lacks).Error()))
			g.Expect(s.program.Runs()).To(BeEmpty())
		})
	}
}

func TestAProgramThatIsNoneIsSaid(t *testing.T) {
	g := NewWithT(t)
	s := newScene(t)
	g.Expect(os.Chmod(s.program.Path, 0o600)).To(Succeed())
	g.Expect(s.Lacks(t.Context(), three())).To(ConsistOf(HaveField("What", ContainSubstring("is no program"))))
	g.Expect(os.Remove(s.program.Path)).To(Succeed())
	g.Expect(s.Lacks(t.Context(), three())).To(ConsistOf(HaveField("What", ContainSubstring("no such file"))))
	g.Expect(os.WriteFile(s.program.Path, []byte("no program"), 0o700)).To(Succeed())
	_, err := s.Make(t.Context(), three())
	g.Expect(err).To(MatchError(And(ContainSubstring("exec format error"), ContainSubstring("a program for this machine"))))
	s.nothingLeft(g)
}

func TestRunsThatFail(t *testing.T) {
	for behaviour, want := range map[string][]string{
		"refuse":                        {"openshift-install create manifests: exit status 3", "baseDomain: Invalid value", "correct what it says"},
		"killed":                        {"killed by the signal killed", "check the machine's memory"},
		"compute":                       {"computed for longer than 1s", "more CPU time"},
		"file":                          {"create manifests: ", "its last lines: "},
		"missing:bootstrap.ign":         {"said that it was done, but bootstrap.ign is missing", "check that the program"},
		"missing:worker.ign":            {"worker.ign is missing"},
		"missing:metadata.json":         {"metadata.json is missing"},
		"missing:auth/kubeconfig":       {"auth/kubeconfig is missing"},
		"empty:auth/kubeadmin-password": {"auth/kubeadmin-password: it is empty"},
		"empty:master.ign":              {"master.ign: it is empty"},
		"half:bootstrap.ign":            {"bootstrap.ign: it is no Ignition"},
		"half:metadata.json":            {"metadata.json: it is no JSON object"},
		"half:auth/kubeconfig":          {"auth/kubeconfig: it is no kubeconfig"},
		"empty:auth/kubeconfig":         {"auth/kubeconfig: it is no kubeconfig"},
		"link:worker.ign":               {"worker.ign: it is no file"},
		"link:auth/kubeadmin-password":  {"auth/kubeadmin-password: it is no file"},
	} {
		t.Run(behaviour, func(t *testing.T) {
			g := NewWithT(t)
			s := newScene(t, func(o *openshiftinstall.Options) {
				o.Limits = openshiftinstall.Limits{CPU: time.Second, File: 1 << 20}
				if behaviour != "compute" {
					o.Limits.CPU = time.Minute
				}
			})
			s.program.Behave(behaviour)
			made, err := s.Make(t.Context(), three())
			s.nothingLeft(g)
			g.Expect(made).To(BeNil())
			for _, text := range want {
				g.Expect(err).To(MatchError(ContainSubstring(text)))
			}
			g.Expect(err.Error()).NotTo(ContainSubstring("\n"))

			if behaviour != "half:bootstrap.ign" {
				return
			}
			s.program.Behave("")
			_, err = s.Make(t.Context(), three())
			g.Expect(err).NotTo(HaveOccurred(), "what failed is not kept")
		})
	}
}

func TestMemoryIsLimited(t *testing.T) {
	g := NewWithT(t)
	s := newScene(t, func(o *openshiftinstall.Options) { o.Limits.Memory = 64 << 20 })
	s.program.Behave("memory")
	_, err := s.Make(t.Context(), three())
	g.Expect(err).To(MatchError(ContainSubstring("openshift-install create manifests: ")))
	g.Expect(err).To(MatchError(ContainSubstring("allocate")), "the shell's word for it")
	s.nothingLeft(g)
}

// gone expects the process to have ended; one that only waits to be buried has.
func gone(g *WithT, id int) {
	g.Eventually(func() string {
		raw, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(id), "stat"))
		if err != nil {
			return "gone"
		}
		_, state, _ := strings.Cut(string(raw), ") ")
		return state[:1]
	}, time.Minute).Should(Or(Equal("gone"), Equal("Z"), Equal("X")))
}

func TestARunThatIsCalledOffLeavesNothing(t *testing.T) {
	g := NewWithT(t)
	s := newScene(t)
	s.program.Behave("hang")
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := s.Make(ctx, three())
		ended <- err
	}()
	g.Eventually(s.lines, time.Minute).Should(ContainElement(ContainSubstring("Waiting for the registry")), "its output comes while it runs")
	why := errors.New("the installation was cancelled")
	cancel(why)
	var err error
	g.Eventually(ended, time.Minute).Should(Receive(&err))
	g.Expect(err).To(MatchError(why))
	g.Expect(err).To(MatchError(ContainSubstring("it was called off")))
	gone(g, s.program.Child())
	s.nothingLeft(g)
}

func TestARunThatHangsIsEnded(t *testing.T) {
	g := NewWithT(t)
	s := newScene(t, func(o *openshiftinstall.Options) { o.Limits.Wall = 2 * time.Second })
	s.program.Behave("hang")
	_, err := s.Make(t.Context(), three())
	g.Expect(err).To(MatchError(And(ContainSubstring("it was killed after 2s"), ContainSubstring("allow it more time"))))
	if id := s.program.Child(); id > 0 {
		gone(g, id)
	}
	s.nothingLeft(g)
}

func TestWhatAProgramLeavesBehindIsKilled(t *testing.T) {
	g := NewWithT(t)
	s := newScene(t)
	s.program.Behave("leave")
	_, err := s.Make(t.Context(), three())
	g.Expect(err).NotTo(HaveOccurred())
	gone(g, s.program.Child())
	s.nothingLeft(g)
}

func TestSecretsStayOutOfOutputAndErrors(t *testing.T) {
	g := NewWithT(t)
	s := newScene(t)
	o := three()
	o.Cluster.InstallConfigOverrides = `{"platform":{"vsphere":{"password":"vsphere-hunter2"}}}`
	o.Manifests = []sources.Manifest{{Folder: "openshift", Name: "secret.yaml", Content: []byte(
		"kind: ConfigMap\n---\nkind: Secret\nmetadata: {name: chrony-key}\nstringData: {key: manifest-hunter3}\ndata: {other: " +
			base64.StdEncoding.EncodeToString([]byte("manifest-hunter4")) + "}\n")}}
	s.program.Behave("tell")
	_, err := s.Make(t.Context(), o)
	g.Expect(err).To(MatchError(ContainSubstring("it told all")))
	all := strings.Join(s.lines(), "\n") + err.Error()
	g.Expect(all).To(ContainSubstring("baseDomain: example.com"), "what is no secret is told")
	for _, secret := range []string{
		secretPassword, base64.StdEncoding.EncodeToString([]byte("robot:" + secretPassword)), proxyPassword, "vsphere-hunter2", "aaaaa-bbbbb-ccccc-ddddd",
		"abcdefghijklmnop", "MIIEverysecret", "manifest-hunter3", "manifest-hunter4", "\x1b",
	} {
		g.Expect(all).NotTo(ContainSubstring(secret))
	}
}

func TestAKilledHubsFoldersAreRemoved(t *testing.T) {
	g := NewWithT(t)
	state := t.TempDir()
	g.Expect(os.MkdirAll(filepath.Join(state, "run-left", "assets"), 0o700)).To(Succeed())
	g.Expect(os.MkdirAll(filepath.Join(state, "of-somebody-else"), 0o700)).To(Succeed())
	s, err := openshiftinstall.New(openshiftinstall.Options{Program: "/none", State: state})
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = s.Close() }()
	g.Expect(filepath.Join(state, "run-left")).NotTo(BeADirectory())
	g.Expect(filepath.Join(state, "of-somebody-else")).To(BeADirectory())
}

// TestAKilledHubsProcessesAreEnded: what the program has started does not end with its hub.
func TestAKilledHubsProcessesAreEnded(t *testing.T) {
	g := NewWithT(t)
	state := t.TempDir()
	left := exec.CommandContext(t.Context(), "sleep", "10000")
	left.Dir = filepath.Join(state, "run-left", "assets")
	g.Expect(os.MkdirAll(left.Dir, 0o700)).To(Succeed())
	other := exec.CommandContext(t.Context(), "sleep", "10000")
	other.Dir = state
	g.Expect(left.Start()).To(Succeed())
	g.Expect(other.Start()).To(Succeed())
	s, err := openshiftinstall.New(openshiftinstall.Options{Program: "/none", State: state})
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = s.Close() }()
	g.Expect(left.Wait()).To(MatchError("signal: killed"))
	g.Expect(filepath.Join(state, "run-left")).NotTo(BeADirectory())
	g.Expect(other.Process.Signal(syscall.Signal(0))).To(Succeed(), "it is of no run")
}

func TestAnotherHubsRunIsLeftAlone(t *testing.T) {
	g := NewWithT(t)
	s := newScene(t)
	s.program.Behave("hang")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = s.Make(ctx, three())
	}()
	g.Eventually(s.program.Child, time.Minute).Should(BeNumerically(">", 0))
	other, err := openshiftinstall.New(openshiftinstall.Options{Program: s.program.Path, State: s.state})
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = other.Close() }()
	g.Expect(filepath.Dir(s.program.Folder())).To(BeADirectory(), "the folder of a run that is under way")
	g.Expect(syscall.Kill(s.program.Child(), 0)).To(Succeed())
	cancel()
	g.Eventually(ended, time.Minute).Should(BeClosed())
}
