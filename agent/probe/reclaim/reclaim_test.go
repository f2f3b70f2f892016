package reclaim

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/probe"
	"github.com/ironflow/ironflow/agent/probe/artifacts"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/test/played"
)

// lines are the commands that were started, with | between their arguments, and
// the root directories that they ran in.
func lines(p *played.Programs) (ran, roots []string) {
	for _, c := range p.Ran("") {
		ran = append(ran, strings.Join(append([]string{c.Name}, c.Args...), "|"))
		roots = append(roots, c.Root)
	}
	return ran, roots
}

const entry = `title Assisted Installer Discovery
version 999
options random.trust_cpu=on ai.ip_cfg_override=1 ignition.firstboot ignition.platform.id=metal coreos.live.rootfs_url=https://hub.example/rootfs
linux /boot/discovery/vmlinuz
initrd /boot/discovery/initrd
`

// live is the command line of a host on IBM Z.
const live = "rd.neednet=1 ip=10.0.0.2::10.0.0.1:255.255.255.0:z1:enc1000:none nameserver=10.0.0.53 rd.znet=qeth,0.0.1000,0.0.1001,0.0.1002,layer2=1 " +
	"zfcp.allow_lun_scan=0 rd.zfcp=0.0.1900,0x500507680b214ac7,0x0000000000000000 rd.zfcp=0.0.1940,0x500507680b214ac7,0x0000000000000000 rd.dasd=0.0.3434 rd.dasd=0.0.3434 " +
	"root=UUID=1 ostree=/ostree/boot.1/rhcos/x ipv6.disable=1 ip6=auto rd.dasdx=1\n"

func host(t *testing.T, entry string) probe.Env {
	t.Helper()
	root := t.TempDir()
	for name, text := range map[string]string{"host/boot/" + artifacts.Entry: entry, "proc/cmdline": live} {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if text == "" {
			continue
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return probe.Env{Dir: hostfile.Dir{Root: root}, Log: slog.New(slog.DiscardHandler)}
}

func TestTheHostIsRebootedFromInsideItsFileSystem(t *testing.T) {
	g := NewWithT(t)
	env, programs := host(t, entry), &played.Programs{}
	env.Commands = programs
	g.Expect(reboot(t.Context(), env, "/host", "amd64")).To(Succeed())
	ran, roots := lines(programs)
	g.Expect(ran).To(Equal([]string{"systemctl|reboot"}))
	g.Expect(roots).To(Equal([]string{"/host"}))
}

func TestIBMZGetsABootRecordFirst(t *testing.T) {
	g := NewWithT(t)
	env, programs := host(t, entry), &played.Programs{}
	env.Commands = programs
	g.Expect(reboot(t.Context(), env, "/host", "s390x")).To(Succeed())
	ran, roots := lines(programs)
	g.Expect(ran).To(Equal([]string{
		"zipl|-V|-t|/boot|-i|/boot/discovery/vmlinuz|-r|/boot/discovery/initrd|-P|" +
			"random.trust_cpu=on ai.ip_cfg_override=1 ignition.firstboot ignition.platform.id=metal coreos.live.rootfs_url=https://hub.example/rootfs " +
			"ip=10.0.0.2::10.0.0.1:255.255.255.0:z1:enc1000:none nameserver=10.0.0.53 rd.znet=qeth,0.0.1000,0.0.1001,0.0.1002,layer2=1 zfcp.allow_lun_scan=0 " +
			"rd.zfcp=0.0.1900,0x500507680b214ac7,0x0000000000000000 rd.zfcp=0.0.1940,0x500507680b214ac7,0x0000000000000000 rd.dasd=0.0.3434",
		"systemctl|reboot",
	}))
	g.Expect(roots).To(Equal([]string{"/host", "/host"}))
}

func TestNoRebootIntoNothing(t *testing.T) {
	for name, tc := range map[string]struct{ entry, fails, want string }{
		"nothing downloaded": {"", "", "the boot artifacts are not there"},
		"empty entry":        {"title x\n", "", "has no options"},
		"endless options":    {"options " + strings.Repeat("x=y ", 2000), "", "more than 4096"},
		"zipl fails":         {entry, "zipl", "zipl: exit status 1: no device"},
		"reboot fails":       {entry, "systemctl", "systemctl: exit status 1: no device"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			env, programs := host(t, tc.entry), &played.Programs{}
			env.Commands = programs
			if tc.fails != "" {
				programs.On(tc.fails, played.Fails(1, "no device"))
			}
			g.Expect(reboot(t.Context(), env, "/host", "s390x")).To(MatchError(ContainSubstring(tc.want)))
			if tc.fails != "systemctl" {
				g.Expect(programs.Lines()).NotTo(ContainElement("systemctl reboot"))
			}
		})
	}
}

func TestTheStep(t *testing.T) {
	g := NewWithT(t)
	env := host(t, "")
	result := Check.Runner(env).Run(t.Context(), []string{`{"host_fs_mount_dir":"/host"}`})
	g.Expect(result.Exit).To(BeEquivalentTo(-1))
	g.Expect(result.Error).To(ContainSubstring("the boot artifacts are not there"))
	for _, request := range []string{`{}`, `{"host_fs_mount_dir":"host"}`, `{"host_fs_mount_dir":"/host/.."}`, `[]`} {
		g.Expect(Check.Runner(env).Run(t.Context(), []string{request}).Exit).To(BeEquivalentTo(-1), request)
	}
	env.DryRun = true
	g.Expect(Check.Runner(env).Run(t.Context(), []string{`{"host_fs_mount_dir":"/host"}`}).Exit).To(BeZero())
}

// FuzzBootParameters: whatever stands in the entry or on the command line, zipl gets one line of at most 4 KiB.
func FuzzBootParameters(f *testing.F) {
	f.Add(entry, live)
	f.Add("options a\noptions b", "ip= ip=\tip=x\x00")
	f.Fuzz(func(t *testing.T, entry, live string) {
		text, err := bootParameters(entry, live)
		if err == nil && (text == "" || len(text) > maxParameters || strings.ContainsAny(text, "\n\r\t")) {
			t.Errorf("%q", text)
		}
	})
}
