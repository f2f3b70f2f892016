package ntp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/steps"
	"github.com/ironflow/ironflow/test/needs"
	"github.com/ironflow/ironflow/test/netns"
)

func TestMain(m *testing.M) {
	netns.Main(m, map[string]netns.Program{
		// exec becomes another program, which then sees the given resolver configuration.
		"exec": func(_ context.Context, args []string, _ io.Writer) error {
			return syscall.Exec(args[0], args, os.Environ())
		},
		"synchronize": func(ctx context.Context, args []string, stdout io.Writer) error {
			return json.NewEncoder(stdout).Encode(synchronize(ctx, args[0], args[1]))
		},
	})
}

// A machine with Debian's chronyd, two time servers that are one chronyd with
// two addresses, and a DNS server that knows them.
func TestARealChronyd(t *testing.T) {
	chronyd, chronyc, dnsmasq := needs.Program(t, "chronyd", "chrony"), needs.Program(t, "chronyc", "chrony"), needs.Program(t, "dnsmasq", "dnsmasq-base")
	network := netns.Topology{Hosts: []netns.HostSpec{
		{Name: "machine", NICs: []netns.NIC{{Name: "eth0", Segment: "lan", Addresses: []string{"192.0.2.10/24"}}}},
		{Name: "server", NICs: []netns.NIC{{Name: "eth0", Segment: "lan", Addresses: []string{"192.0.2.1/24", "192.0.2.2/24"}}}},
	}}.Build(t)
	machine, server := network.Host("machine"), network.Host("server")
	g := NewWithT(t)
	g.Expect(server.Start(exec.CommandContext(t.Context(), dnsmasq, "--keep-in-foreground", "--conf-file=/dev/null", "--pid-file=", "--user=root", "--no-resolv", "--no-hosts",
		"--local=/#/", "--host-record=ntp1.example,192.0.2.1", "--host-record=ntp2.example,192.0.2.2"))).To(Succeed())
	resolv := netns.Options{ResolvConf: filepath.Join(t.TempDir(), "resolv.conf")}
	g.Expect(os.WriteFile(resolv.ResolvConf, []byte("nameserver 192.0.2.1\n"), 0o644)).To(Succeed())
	start(t, server, netns.Options{}, chronyd, "local stratum 5", "allow all")
	root := start(t, machine, resolv, chronyd)
	control := filepath.Join(root, "run/chrony/chronyd.sock")

	run := func(request string) (result steps.Result) {
		t.Helper()
		out, err := machine.Run(resolv, "synchronize", root, request)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(json.Unmarshal([]byte(out), &result)).To(Succeed())
		g.Expect(result.Error).To(BeEmpty())
		return result
	}
	// asked is what chronyc says of all sources: lines of values separated by commas.
	asked := func() []string {
		out, err := exec.CommandContext(t.Context(), chronyc, "-h", control, "-n", "-c", "sources", "-a").Output()
		g.Expect(err).NotTo(HaveOccurred())
		return strings.Fields(string(out))
	}

	g.Expect(run(`{"ntp_source":""}`).Output).To(MatchJSON(`{"ntp_sources":[]}`))
	run(`{"ntp_source":"ntp1.example,192.0.2.2,192.0.2.99,nowhere.example"}`)

	// What the step says is what chronyc says, with the marks in the protocol's words.
	words := map[string]string{"*": "synced", "+": "combined", "-": "not_combined", "?": "unreachable", "x": "error", "~": "variable"}
	names := map[string]string{"192.0.2.1": "ntp1.example", "192.0.2.2": "ntp2.example", "192.0.2.99": "192.0.2.99"}
	g.Eventually(func(g Gomega) {
		before := asked()
		output := run(`{"ntp_source":""}`).Output
		g.Expect(asked()).To(Or(Equal(before), HaveLen(4)))
		var want []string
		for _, line := range before {
			field := strings.Split(line, ",")
			if name, known := names[field[2]]; known {
				want = append(want, fmt.Sprintf(`{"source_name":%q,"source_state":%q}`, name, words[field[1]]))
			}
		}
		g.Expect(output).To(MatchJSON(`{"ntp_sources":[` + strings.Join(want, ",") + `]}`))
		g.Expect(output).To(And(ContainSubstring(`"synced"`), ContainSubstring("ntp1.example"), ContainSubstring("ntp2.example"), ContainSubstring(`{"source_name":"192.0.2.99","source_state":"unreachable"}`)))
	}).WithTimeout(2 * time.Minute).WithPolling(time.Second).Should(Succeed())

	before := asked()
	g.Expect(before).To(HaveLen(4), "nowhere.example waits for its address")
	run(`{"ntp_source":"ntp1.example,ntp2.example,192.0.2.1,192.0.2.2,192.0.2.99,nowhere.example,NTP1.example."}`)
	g.Expect(asked()).To(HaveLen(4), "known by the same text or by an address")
	left, err := filepath.Glob(filepath.Join(root, "run/chrony/ironflow.*"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(left).To(BeEmpty(), "no socket stays behind")
}

// start runs a chronyd of its own in the host, with a folder of its own and
// without touching the clock, and returns the root directory that it lives in.
func start(t *testing.T, h *netns.Host, o netns.Options, chronyd string, config ...string) string {
	t.Helper()
	root, folder := shortRoot(t)
	owner, err := user.Lookup("_chrony")
	if err != nil {
		t.Fatal(err)
	}
	uid, _ := strconv.Atoi(owner.Uid)
	gid, _ := strconv.Atoi(owner.Gid)
	// chronyd gives its root rights away and wants a folder of its own.
	for path, mode := range map[string]os.FileMode{root: 0o755, filepath.Dir(folder): 0o755, folder: 0o750} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chown(folder, uid, gid); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(folder, "chronyd.sock")
	args := append([]string{chronyd, "-d", "-x", "bindcmdaddress " + socket, "cmdport 0", "pidfile " + filepath.Join(folder, "chronyd.pid")}, config...)
	if _, err := h.StartProgram(o, "exec", args...); err != nil {
		t.Fatal(err)
	}
	NewWithT(t).Eventually(socket).WithTimeout(time.Minute).Should(BeAnExistingFile())
	return root
}
