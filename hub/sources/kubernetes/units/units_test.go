package units_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/sources/kubernetes/units"
)

// machine is a folder that stands for a host's root, with programs that write down how
// they are called.
type machine struct {
	t    *testing.T
	root string
	// said is what the script printed that ran last.
	said string
}

// newMachine has a host's scripts, with the folders of a system below root.
func newMachine(t *testing.T, h units.Host) *machine {
	t.Helper()
	m := &machine{t: t, root: t.TempDir()}
	_, scripts := units.For(h)
	for _, s := range scripts {
		text := strings.NewReplacer("/etc/", m.root+"/etc/", "/var/lib/", m.root+"/var/lib/", "--directory /", "--directory "+m.root).Replace(s.Text)
		m.write(units.Folder+"/"+s.Name, text)
	}
	for _, name := range []string{"systemctl", "kubeadm", "kubelet", "kubectl", "curl", "systemd-sysext", "ip"} {
		m.program(name, "")
	}
	m.etcd()
	m.write("tmp/.keep", "")
	return m
}

func (m *machine) write(path, text string) {
	m.t.Helper()
	file := filepath.Join(m.root, path)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
		m.t.Fatal(err)
	}
}

// program replaces a program by shell text.
func (m *machine) program(name, text string) {
	m.write("bin/"+name, fmt.Sprintf("#!/bin/bash\necho \"%s $*\" >>%s/calls\n%s\n", name, m.root, text))
}

// run runs a script and tells whether it has succeeded.
func (m *machine) run(name string) bool {
	m.t.Helper()
	command := exec.CommandContext(m.t.Context(), "/bin/bash", filepath.Join(m.root, units.Folder, name))
	command.Env = []string{
		"TMPDIR=" + m.root + "/tmp", "PATH=" + m.root + "/bin:/usr/sbin:/usr/bin:/sbin:/bin", "ROOT=" + m.root,
		"NODE=n1", "ENDPOINT=192.0.2.1:6443", "VERSION=v1.37.1", "RUNTIME=containerd.service", "ADDRESS=192.0.2.9",
	}
	out, err := command.CombinedOutput()
	m.t.Logf("%s: %v\n%s", name, err, out)
	m.said = string(out)
	return err == nil
}

// calls are the calls of programs since the last time, that of mere questions left out.
func (m *machine) calls() string {
	raw, _ := os.ReadFile(filepath.Join(m.root, "calls"))
	_ = os.Remove(filepath.Join(m.root, "calls"))
	return strings.ReplaceAll(string(raw), m.root, "")
}

// authorities puts what a host of the control plane gets.
func (m *machine) authorities() {
	for _, name := range []string{"ca.crt", "ca.key", "front-proxy-ca.crt", "front-proxy-ca.key", "sa.key", "sa.pub", "etcd/ca.crt", "etcd/ca.key"} {
		m.write(units.Folder+"/pki/"+name, "ours: "+name)
	}
}

func (m *machine) has(path string) bool {
	_, err := os.Stat(filepath.Join(m.root, path))
	return err == nil
}

const joined = "/var/lib/ironflow/kubernetes/joined"

// TestInitBeginsAgain: what a loss of power has left half written is made anew, and the
// data of etcd stays.
func TestInitBeginsAgain(t *testing.T) {
	g := NewWithT(t)
	m := newMachine(t, units.Host{First: true})
	m.authorities()
	m.program("kubeadm", `[ "$(cat $ROOT/etc/kubernetes/pki/etcd/ca.key)" = "ours: etcd/ca.key" ] && [ "$(stat -c %a $ROOT/etc/kubernetes/pki/sa.key)" = 600 ] && exit 1; exit 2`)
	g.Expect(m.run("init.sh")).To(BeFalse())
	g.Expect(m.calls()).To(ContainSubstring("kubeadm init --config /etc/ironflow/kubernetes/kubeadm.yaml"))
	g.Expect(m.has(joined)).To(BeFalse(), "it did not succeed")

	for _, half := range []string{
		"etc/kubernetes/admin.conf", "etc/kubernetes/kubelet.conf", "etc/kubernetes/pki/apiserver.crt", "etc/kubernetes/pki/ca.key",
		"var/lib/etcd/member/wal/0", "etc/kubernetes/manifests/etcd.yaml",
	} {
		m.write(half, "")
	}
	m.program("kubeadm", `[ ! -e $ROOT/etc/kubernetes/admin.conf ] && [ ! -e $ROOT/etc/kubernetes/pki/apiserver.crt ] && [ "$(cat $ROOT/etc/kubernetes/pki/ca.key)" = "ours: ca.key" ]`)
	g.Expect(m.run("init.sh")).To(BeTrue())
	g.Expect(m.has(joined)).To(BeTrue())
	g.Expect(m.has("var/lib/etcd/member/wal/0")).To(BeTrue())
	g.Expect(m.has("etc/kubernetes/manifests/etcd.yaml")).To(BeTrue())
	g.Expect(m.calls()).NotTo(ContainSubstring("reset"))
}

// TestPodsOfAnEarlierAttemptSeeTheCertificatesOfTheNext: static pods that run have the
// folders mounted. The next attempt's files are in the same folders.
func TestPodsOfAnEarlierAttemptSeeTheCertificatesOfTheNext(t *testing.T) {
	for script, h := range map[string]units.Host{"init.sh": {First: true}, "join.sh": {}} {
		t.Run(script, func(t *testing.T) {
			g := NewWithT(t)
			m := newMachine(t, h)
			m.authorities()
			m.write("etc/kubernetes/pki/etcd/server.crt", "of the earlier attempt")
			mounted, err := os.OpenRoot(filepath.Join(m.root, "etc/kubernetes/pki/etcd"))
			g.Expect(err).NotTo(HaveOccurred())
			defer func() { _ = mounted.Close() }() // it was only read
			m.program("kubeadm", `[ "$1 $2" = "init phase" ] || ! echo "of the next attempt" >$ROOT/etc/kubernetes/pki/etcd/server.crt`)
			g.Expect(m.run(script)).To(BeFalse())
			g.Expect(mounted.ReadFile("server.crt")).To(BeEquivalentTo("of the next attempt\n"))
			g.Expect(mounted.ReadFile("ca.crt")).To(BeEquivalentTo("ours: etcd/ca.crt"))
		})
	}
}

// TestJoinWaitsAndTouchesNothing: the cluster may need the etcd that runs here.
func TestJoinWaitsAndTouchesNothing(t *testing.T) {
	g := NewWithT(t)
	m := newMachine(t, units.Host{})
	m.authorities()
	m.write("etc/kubernetes/kubelet.conf", "kept")
	m.program("curl", "exit 7")
	g.Expect(m.run("join.sh")).To(BeFalse())
	g.Expect(m.calls()).NotTo(Or(ContainSubstring("systemctl"), ContainSubstring("kubeadm"), ContainSubstring("kubectl")))
	g.Expect(m.has("etc/kubernetes/kubelet.conf")).To(BeTrue())
}

func TestAWorkerJoins(t *testing.T) {
	g := NewWithT(t)
	m := newMachine(t, units.Host{})
	m.write(units.Folder+"/pki/ca.crt", "ours: ca.crt")
	g.Expect(m.run("join.sh")).To(BeTrue())
	calls := m.calls()
	g.Expect(calls).To(ContainSubstring("--cacert /etc/ironflow/kubernetes/pki/ca.crt"))
	g.Expect(calls).To(ContainSubstring("kubeadm join --config /etc/ironflow/kubernetes/kubeadm.yaml"))
	g.Expect(calls).NotTo(ContainSubstring("delete node"))
	g.Expect(m.has(joined)).To(BeTrue())
}

// TestAJoinThatWasCompleteIsNotMadeAgain: only the mark was lost.
func TestAJoinThatWasCompleteIsNotMadeAgain(t *testing.T) {
	for name, labels := range map[string]string{"": "a=b", "ca.key": "node-role.kubernetes.io/control-plane="} {
		t.Run("authorities: "+name, func(t *testing.T) {
			g := NewWithT(t)
			m := newMachine(t, units.Host{})
			if name != "" {
				m.authorities()
			}
			m.write("etc/kubernetes/kubelet.conf", "whole")
			m.program("kubectl", "echo 'n1 Ready <none> 1h v1.37.1 "+labels+"'")
			g.Expect(m.run("join.sh")).To(BeTrue())
			g.Expect(m.calls()).NotTo(ContainSubstring("kubeadm"))
			g.Expect(m.has(joined)).To(BeTrue())
		})
	}
}

// TestAControlPlaneThatWasInterruptedJoinsAgain: its node may be there, and is not yet
// one of the control plane. The kubelet is started again whatever happens.
func TestAControlPlaneThatWasInterruptedJoinsAgain(t *testing.T) {
	g := NewWithT(t)
	m := newMachine(t, units.Host{})
	m.authorities()
	m.write("etc/kubernetes/kubelet.conf", "whole")
	m.program("kubectl", `[[ $* == *"get pods"* ]] && echo https://192.0.2.8:2379 || echo 'n1 Ready <none> 1h v1.37.1 a=b'`)
	m.program("kubeadm", `[ "$1" = init ] || exit 1`)
	g.Expect(m.run("join.sh")).To(BeFalse())
	calls := m.calls()
	g.Expect(calls).To(MatchRegexp(`(?s)systemctl stop kubelet.*kubeadm init phase kubeconfig admin.*delete node n1.*kubeadm join.*systemctl start --no-block kubelet`))
	g.Expect(m.has(joined)).To(BeFalse())
	m.program("kubeadm", "")
	g.Expect(m.run("join.sh")).To(BeTrue())
	g.Expect(m.has(joined)).To(BeTrue())
}

// etcd has the cluster's etcd on two hosts, of which the first does not answer, with these members.
func (m *machine) etcd(members ...string) {
	m.nodes("")
	m.program("curl", `[[ $* != *192.0.2.7:2379* ]] || exit 28; [[ $* != */list ]] || cat $ROOT/members`)
	members = append(members, `{"ID":"8","name":"n0","peerURLs":["https://192.0.2.8:2380"],"clientURLs":["https://192.0.2.8:2379"]}`)
	m.write("members", `{"header":{"cluster_id":"77"}, "members":[`+strings.Join(members, ",")+"]}")
}

// nodes has the cluster's nodes besides: a line each with name, whether it is Ready, and addresses.
func (m *machine) nodes(lines string) {
	m.program("kubectl", `[[ $* != *"get pods"* ]] || echo https://192.0.2.7:2379 https://192.0.2.8:2379; [[ $* != *"get nodes"* ]] || printf '`+lines+`'`)
}

// TestAnEtcdThatRunsIsNotRemoved: two hosts have got one address by mistake, and the other one is no lost one.
func TestAnEtcdThatRunsIsNotRemoved(t *testing.T) {
	g := NewWithT(t)
	m := newMachine(t, units.Host{})
	m.authorities()
	m.etcd(`{"ID":"5","name":"n3","peerURLs":["https://192.0.2.9:2380"]}`)
	m.nodes(`n0 True 192.0.2.8 n0\nn3 True 192.0.2.9 n3\n`)
	g.Expect(m.run("join.sh")).To(BeFalse())
	g.Expect(m.calls()).NotTo(Or(ContainSubstring("member/remove"), ContainSubstring("kubeadm join")))
	g.Expect(m.said).To(ContainSubstring("node n3 is Ready and has the address 192.0.2.9, too"))
}

// TestAHostThatTakesAnothersAddress: what the earlier host was in etcd is lost with its disk, and etcd takes nobody for
// it. A member that has its data here stays, as does one that has never run, and those of others.
func TestAHostThatTakesAnothersAddress(t *testing.T) {
	const (
		earlier = `{"ID":"10501334649042878790","name":"n1","peerURLs":["https://192.0.2.9:2380"], "clientURLs":["https://192.0.2.9:2379"]}`
		unnamed = `{"ID": "5", "peerURLs":["https://192.0.2.9:2380"],"isLearner":true}`
		another = `{"ID":"6","name":"n9","peerURLs":["https://192.0.2.99:2380"],"clientURLs":["https://192.0.2.9:2379"]}`
		spaced  = `{"ID": "5", "name": "n1", "peerURLs": ["https://192.0.2.9:2380"]}`
	)
	for name, tc := range map[string]struct {
		members []string
		data    bool
		nodes   string
		removed string
	}{
		"none before":           {nil, false, "", ""},
		"it was there":          {[]string{earlier}, false, "", "10501334649042878790"},
		"in another order":      {[]string{another, spaced}, false, "", "5"},
		"its data are here":     {[]string{earlier}, true, "", ""},
		"it has never run":      {[]string{unnamed}, false, "", ""},
		"one of a like address": {[]string{another}, false, "", ""},
		"others run, and its node is lost": {
			[]string{earlier}, false, `n0 True 192.0.2.8 n0\nn3 Unknown 192.0.2.9 n3\nn4 True 192.0.2.99 n4\n`, "10501334649042878790",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			m := newMachine(t, units.Host{})
			m.authorities()
			m.etcd(tc.members...)
			m.nodes(tc.nodes)
			if tc.data {
				m.write("var/lib/etcd/member/wal/0", "")
			}
			g.Expect(m.run("join.sh")).To(BeTrue())
			calls := m.calls()
			g.Expect(calls).To(ContainSubstring("kubeadm join"))
			if tc.removed == "" {
				g.Expect(calls).NotTo(ContainSubstring("member/remove"))
				return
			}
			g.Expect(strings.Count(calls, "member/remove")).To(Equal(1))
			g.Expect(calls).To(MatchRegexp(`(?s)--data \{"ID":"` + tc.removed + `"\} https://192.0.2.8:2379/v3/cluster/member/remove\n.*kubeadm join`))
		})
	}
}

// TestNobodyJoinsBeforeEtcdHasForgotten: as one that has lost its data, it could make etcd lose what it has written.
func TestNobodyJoinsBeforeEtcdHasForgotten(t *testing.T) {
	for name, curl := range map[string]string{
		"no etcd answers":   `[[ $* != *2379* ]] || exit 7`,
		"it is not removed": `[[ $* != *remove ]] || exit 22; [[ $* != */list ]] || echo '{"members":[{"ID":"1","name":"n1","peerURLs":["https://192.0.2.9:2380"]}]}'`,
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			m := newMachine(t, units.Host{})
			m.authorities()
			m.program("curl", curl)
			g.Expect(m.run("join.sh")).To(BeFalse())
			g.Expect(m.calls()).NotTo(ContainSubstring("kubeadm join"))
			left, err := filepath.Glob(filepath.Join(m.root, "tmp/tmp.*"))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(left).To(BeEmpty(), "an administrator's access")
		})
	}
}

// TestMissingProgramsAreNamed: a person has to put them there.
func TestMissingProgramsAreNamed(t *testing.T) {
	g := NewWithT(t)
	m := newMachine(t, units.Host{First: true})
	m.authorities()
	g.Expect(os.Remove(filepath.Join(m.root, "bin/kubeadm"))).To(Succeed())
	if _, err := exec.LookPath("kubeadm"); err == nil {
		t.Skip("this computer has kubeadm itself")
	}
	g.Expect(m.run("init.sh")).To(BeFalse())
	g.Expect(m.calls()).NotTo(ContainSubstring("systemctl"))
}

// TestManifestsAreAppliedUntilAllAreTaken: each is tried each time.
func TestManifestsAreAppliedUntilAllAreTaken(t *testing.T) {
	g := NewWithT(t)
	m := newMachine(t, units.Host{First: true, Manifests: true})
	m.write(units.Folder+"/manifests/0000-a.yaml", "a")
	m.write(units.Folder+"/manifests/0001-b.yaml", "b")
	m.program("sleep", `[ -e $ROOT/slept ] && mkdir -p $ROOT/var/lib/ironflow/kubernetes && touch $ROOT`+joined+`; touch $ROOT/slept`)
	m.program("kubectl", `[[ "$*" != *0000-a* ]]`)
	g.Expect(m.run("manifests.sh")).To(BeFalse())
	g.Expect(m.calls()).To(MatchRegexp(`(?s)^sleep 5\nsleep 5\nkubectl .*0000-a\.yaml.*0001-b\.yaml`), "it waits until the cluster is there")
	g.Expect(m.has("/var/lib/ironflow/kubernetes/applied")).To(BeFalse())
	m.program("kubectl", "")
	g.Expect(m.run("manifests.sh")).To(BeTrue())
	g.Expect(m.has("/var/lib/ironflow/kubernetes/applied")).To(BeTrue())
}

// TestPrograms: what has another checksum is not installed, and nothing is fetched twice.
func TestPrograms(t *testing.T) {
	g := NewWithT(t)
	const sum = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824" // of hello
	m := newMachine(t, units.Host{})
	m.write(units.Folder+"/"+units.Programs, "sysext kubernetes sha256sum "+sum+" https://mirror.example/k.raw\n")
	fetch := func(text string) {
		m.program("curl", `while [ "$1" != --output ]; do shift; done; printf '`+text+`' >"$2"`)
	}
	fetch("hullo")
	g.Expect(m.run("programs.sh")).To(BeFalse())
	g.Expect(m.has("/var/lib/extensions/kubernetes.raw")).To(BeFalse())
	g.Expect(m.calls()).NotTo(ContainSubstring("systemctl"))
	fetch("hello")
	g.Expect(m.run("programs.sh")).To(BeTrue())
	g.Expect(m.has("/var/lib/extensions/kubernetes.raw")).To(BeTrue())
	g.Expect(m.calls()).To(MatchRegexp(`(?s)curl .*systemd-sysext refresh.*daemon-reload.*systemctl start containerd.service`))
	g.Expect(m.run("programs.sh")).To(BeTrue(), "at the next start")
	g.Expect(m.calls()).NotTo(ContainSubstring("curl"))
}

// TestAnArchiveIsUnpacked: links to folders stay links, as /usr/local is one on CoreOS.
func TestAnArchiveIsUnpacked(t *testing.T) {
	g := NewWithT(t)
	m := newMachine(t, units.Host{})
	m.write("archive/usr/local/bin/tool", "tool")
	archive := filepath.Join(m.root, "a.tgz")
	out, err := exec.CommandContext(t.Context(), "tar", "-czf", archive, "-C", m.root+"/archive", "usr").CombinedOutput()
	g.Expect(err).NotTo(HaveOccurred(), string(out))
	out, err = exec.CommandContext(t.Context(), "sha512sum", archive).Output()
	g.Expect(err).NotTo(HaveOccurred())
	m.write("var/usrlocal/bin/other", "other")
	g.Expect(os.Mkdir(filepath.Join(m.root, "usr"), 0o700)).To(Succeed())
	g.Expect(os.Symlink("../var/usrlocal", filepath.Join(m.root, "usr/local"))).To(Succeed())
	m.write(units.Folder+"/"+units.Programs, "archive cni sha512sum "+strings.Fields(string(out))[0]+" https://mirror.example/a.tgz\n")
	m.program("curl", `while [ "$1" != --output ]; do shift; done; cp `+archive+` "$2"`)
	g.Expect(m.run("programs.sh")).To(BeTrue())
	g.Expect(m.has("var/usrlocal/bin/tool")).To(BeTrue())
	g.Expect(m.has("var/usrlocal/bin/other")).To(BeTrue())
	g.Expect(m.calls()).NotTo(ContainSubstring("systemd-sysext"))
}

// TestTheCardWithTheHostsAddressCarriesTheVIP: its name is known on the host alone.
func TestTheCardWithTheHostsAddressCarriesTheVIP(t *testing.T) {
	for name, tc := range map[string]struct{ template, target, restarted string }{
		"keepalived": {units.Keepalived, "etc/keepalived/keepalived.conf", "systemctl restart keepalived.service"},
		"kube-vip":   {units.KubeVIP, "etc/kubernetes/manifests/kube-vip.yaml", ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			m := newMachine(t, units.Host{VIP: true, Keepalived: name == "keepalived"})
			m.write(units.Folder+"/"+tc.template, "interface @INTERFACE@\n")
			g.Expect(m.run("vip.sh")).To(BeFalse(), "no card has the address yet")
			g.Expect(m.has(tc.target)).To(BeFalse())
			m.program("ip", `echo "3: bond0    inet 192.0.2.9/24 brd 192.0.2.255 scope global bond0"`)
			g.Expect(m.run("vip.sh")).To(BeTrue())
			raw, err := os.ReadFile(filepath.Join(m.root, tc.target))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(string(raw)).To(Equal("interface bond0\n"))
			g.Expect(m.calls()).To(ContainSubstring(tc.restarted))
		})
	}
}

// TestScriptsAreBash has bash read every script.
func TestScriptsAreBash(t *testing.T) {
	for _, h := range []units.Host{{First: true, Manifests: true, VIP: true, Keepalived: true}, {}} {
		_, scripts := units.For(h)
		for _, s := range scripts {
			command := exec.CommandContext(t.Context(), "/bin/bash", "-n")
			command.Stdin = strings.NewReader(s.Text)
			out, err := command.CombinedOutput()
			NewWithT(t).Expect(err).NotTo(HaveOccurred(), "%s: %s", s.Name, out)
		}
	}
}
