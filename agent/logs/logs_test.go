package logs_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/agent/logs"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/hostexec"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/played"
)

const id = "11111111-1111-4111-8111-111111111111"

var host = hubclient.Host{InfraEnvID: id, HostID: id}

// untar returns the archive's files, without the folder, which is checked.
func untar(t *testing.T, raw []byte) map[string]string {
	t.Helper()
	g := NewWithT(t)
	zip, err := gzip.NewReader(bytes.NewReader(raw))
	g.Expect(err).NotTo(HaveOccurred())
	files := map[string]string{}
	for archive := tar.NewReader(zip); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		g.Expect(err).NotTo(HaveOccurred())
		text, err := io.ReadAll(archive)
		g.Expect(err).NotTo(HaveOccurred())
		name, inside := strings.CutPrefix(header.Name, "logs_host_"+id+"/")
		g.Expect(inside).To(BeTrue(), header.Name)
		files[name] = string(text)
	}
}

// upload is one archive as the hub got it.
type upload struct {
	name  string
	bytes []byte
}

// hub records what it is sent.
type hub struct {
	mu      sync.Mutex
	states  []wire.LogsState
	uploads []upload
	at      []time.Time
	// refuse answers so many uploads with the error.
	refuse int
	with   error
	// max refuses larger archives, as hubs do; zero takes all.
	max int
}

func (h *hub) LogsProgress(_ context.Context, _ hubclient.Host, s wire.LogsState) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.states = append(h.states, s)
	return nil
}

func (h *hub) UploadLogs(_ context.Context, _ hubclient.Host, _, name string, write func(io.Writer) error) error {
	var out bytes.Buffer
	err := write(&out)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.at = append(h.at, time.Now())
	switch {
	case err != nil:
		return err
	case h.refuse > 0:
		h.refuse--
		return h.with
	case h.max > 0 && out.Len() > h.max:
		return &hubclient.StatusError{Code: 400, Reason: "too large"}
	}
	h.uploads = append(h.uploads, upload{name, out.Bytes()})
	return nil
}

// machine is a host's folder with the given files.
func machine(t *testing.T, files map[string]string) hostfile.Dir {
	t.Helper()
	dir := hostfile.Dir{Root: t.TempDir()}
	for name, text := range files {
		played.Write(t, dir, name, text)
	}
	return dir
}

// programs are the only ones that the host has, by name.
type programs map[string]played.Program

func (p programs) Run(ctx context.Context, c command.Command) error {
	run, ok := p[c.Name]
	if !ok {
		return hostexec.ErrMissing
	}
	return run(ctx, c)
}

// journal is a journalctl that tells with what it was called.
func journal(_ context.Context, c command.Command) error {
	_, err := io.WriteString(c.Stdout, "journal "+strings.Join(c.Args, " ")+"\n")
	return err
}

func sender(h *hub, sources logs.Sources) logs.Sender {
	return logs.Sender{Hub: h, Sources: sources, Log: slog.New(slog.DiscardHandler)}
}

func TestContentsOfABundle(t *testing.T) {
	always := []string{"agent.logs", "installer.logs", "ironic-agent.logs", "mount.logs", "network.logs", "inventory.json", "step.json"}
	for name, tc := range map[string]struct {
		order logs.Order
		more  []string
	}{
		"always":           {logs.Order{}, nil},
		"bootstrap":        {logs.Order{Bootstrap: true}, []string{"bootkube.logs"}},
		"installer gather": {logs.Order{InstallerGather: true}, []string{"dmesg.logs", "journal.logs", "coredumps.logs", "coredump_exe_httpd_pid_4711.zst"}},
		"installer gather, bootstrap": {
			logs.Order{InstallerGather: true, Bootstrap: true},
			[]string{"bootkube.logs", "dmesg.logs", "journal.logs", "coredumps.logs", "coredump_exe_httpd_pid_4711.zst", "installer-gather.logs", "ovs.logs"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			dir := machine(t, map[string]string{
				"/proc/1/mountinfo": "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n", "/proc/1/net/route": "eth0\n", "/run/ironflow/step.json": "{}",
				"/var/log/openvswitch/ovs-vswitchd.log": "ovs\n", "/var/lib/systemd/coredump/core.httpd.0.b00t.4711.1700000000000000.zst": "core",
			})
			h := &hub{}
			order := tc.order
			order.ClusterID, order.Host = id, host
			s := sender(h, logs.Sources{
				Dir: dir, Inventory: func(context.Context) ([]byte, error) { return []byte("{}"), nil },
				Commands: programs{"journalctl": journal, "lsblk": played.Says("sda\n"), "lvm": played.Says(""), "installer-gather.sh": played.Says("gathered\n")},
			})
			g.Expect(s.Send(t.Context(), order)).To(Succeed())
			want := []wire.LogsState{"requested", "collecting", "completed"}
			if order.Bootstrap && order.InstallerGather { // what is there goes up before the script has ended
				want = []wire.LogsState{"requested", "collecting", "collecting", "completed"}
			}
			g.Expect(h.states).To(Equal(want))
			g.Expect(h.uploads).To(HaveLen(len(want) - 2))
			last := h.uploads[len(h.uploads)-1]
			g.Expect(last.name).To(Equal("logs.tar.gz"))
			files := untar(t, last.bytes)
			g.Expect(slices.Sorted(maps.Keys(files))).To(ConsistOf(append(slices.Clone(always), tc.more...)))
			g.Expect(files["agent.logs"]).To(HaveSuffix("--all --output=short-iso-precise TAG=agent\n"))
			g.Expect(files["installer.logs"]).To(HaveSuffix(" TAG=installer\n"))
			g.Expect(files["ironic-agent.logs"]).To(HaveSuffix(" --unit=ironic-agent.service\n"))
			g.Expect(files["mount.logs"]).To(And(ContainSubstring("# block devices (lsblk)\nsda\n"), ContainSubstring("8:1"), Not(ContainSubstring("pvdisplay"))))
			if tc.order.InstallerGather {
				g.Expect(files["coredump_exe_httpd_pid_4711.zst"]).To(Equal("core"))
				g.Expect(files["journal.logs"]).To(HaveSuffix("short-iso-precise\n"), "the whole journal")
			}
		})
	}
}

func TestSince(t *testing.T) {
	g := NewWithT(t)
	h := &hub{}
	s := sender(h, logs.Sources{Dir: machine(t, nil), Commands: programs{"journalctl": journal}})
	g.Expect(s.Send(t.Context(), logs.Order{ClusterID: id, Host: host, Since: "5 hours ago"})).To(Succeed())
	g.Expect(untar(t, h.uploads[0].bytes)["agent.logs"]).To(ContainSubstring(" --since=5 hours ago TAG=agent"))
}

func TestAHostWithoutAJournalSendsItsOwnLog(t *testing.T) {
	g := NewWithT(t)
	h := &hub{}
	s := sender(h, logs.Sources{Dir: machine(t, nil), Own: func() []byte { return []byte("own") }})
	g.Expect(s.Send(t.Context(), logs.Order{ClusterID: id, Host: host})).To(Succeed())
	g.Expect(untar(t, h.uploads[0].bytes)).To(Equal(map[string]string{"agent.logs": "own"}), "a file that is not there is no failure")
}

func TestWhatFailsOrHangsNeverStopsTheRest(t *testing.T) {
	endless := func(ctx context.Context, c command.Command) error {
		_, _ = io.WriteString(c.Stdout, "first lines\n")
		<-ctx.Done()
		return context.Cause(ctx)
	}
	for name, tc := range map[string]struct {
		journalctl func(context.Context, command.Command) error
		agent      string
		report     string
		took       time.Duration
	}{
		"fails":   {func(context.Context, command.Command) error { return errors.New("exit status 1: password=hunter22") }, "own", "agent.logs: exit status 1: password=***", 0},
		"hangs":   {endless, "first lines\n", "agent.logs: took longer than 30s", 30 * time.Second},
		"panics":  {func(context.Context, command.Command) error { panic("odd") }, "", "agent.logs: internal failure: odd", 0},
		"missing": {func(context.Context, command.Command) error { return hostexec.ErrMissing }, "own", "agent.logs: this host has no such program", 0},
		"does not even die": {func(_ context.Context, c command.Command) error {
			_, _ = io.WriteString(c.Stdout, "first lines\n")
			<-time.After(time.Hour)
			_, err := io.WriteString(c.Stdout, "late lines\n")
			return err
		}, "first lines\n", "agent.logs: took longer than 30s, and does not end", 42 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				h := &hub{}
				s := sender(h, logs.Sources{
					Dir: machine(t, map[string]string{"/run/ironflow/reason.json": "why"}), Own: func() []byte { return []byte("own") },
					Commands: programs{"lsblk": played.Says("sda"), "lvm": played.Says(""), "journalctl": tc.journalctl},
				})
				start := time.Now()
				g.Expect(s.Send(t.Context(), logs.Order{ClusterID: id, Host: host})).To(Succeed())
				g.Expect(time.Since(start)).To(Equal(3*tc.took), "three exports, each with its limit")
				files := untar(t, h.uploads[0].bytes)
				g.Expect(files["agent.logs"]).To(Equal(tc.agent))
				g.Expect(files["report.logs"]).To(And(ContainSubstring(tc.report), ContainSubstring("installer.logs: "), ContainSubstring("ironic-agent.logs: ")))
				g.Expect(files["reason.json"]).To(Equal("why"))
				g.Expect(files["mount.logs"]).To(ContainSubstring("sda"))
				<-time.After(2 * time.Hour) // what was left behind ends some day
			})
		})
	}
}

// slow is a hub that notes when bytes came.
type slow struct {
	*hub
	at []time.Time
}

func (s *slow) Write(p []byte) (int, error) { s.at = append(s.at, time.Now()); return len(p), nil }

func (s *slow) UploadLogs(ctx context.Context, h hubclient.Host, cluster, name string, write func(io.Writer) error) error {
	return s.hub.UploadLogs(ctx, h, cluster, name, func(w io.Writer) error { return write(io.MultiWriter(w, s)) })
}

func TestAnUploadIsNeverSilentForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		h := &slow{hub: &hub{}}
		s := logs.Sender{Hub: h, Log: slog.New(slog.DiscardHandler), Sources: logs.Sources{Dir: machine(t, nil), Commands: programs{
			"lsblk": played.Says(""), "lvm": played.Says(""), "journalctl": func(ctx context.Context, _ command.Command) error { <-ctx.Done(); return context.Cause(ctx) },
		}}}
		g.Expect(s.Send(t.Context(), logs.Order{ClusterID: id, Host: host})).To(Succeed())
		g.Expect(h.at[len(h.at)-1].Sub(h.at[0])).To(BeNumerically(">", 80*time.Second))
		for i := 1; i < len(h.at); i++ {
			g.Expect(h.at[i].Sub(h.at[i-1])).To(BeNumerically("<=", 5*time.Second))
		}
		g.Expect(untar(t, h.uploads[0].bytes)).To(HaveKey("report.logs"), "the archive is sound")
	})
}

func TestSecretsStayOnTheHost(t *testing.T) {
	g := NewWithT(t)
	dir := machine(t, map[string]string{
		"/run/ironflow/agent.json":  `{"install":{"request":{"proxy":{"https_proxy":"http://user:hunter22@proxy.example"}}}}`,
		"/etc/ironflow/agent.env":   "PULL_SECRET_TOKEN=\"plain.old.token\"\nHTTPS_PROXY=http://u:pr0xypass@proxy.example:3128\n",
		"/run/ironflow/reason.json": "podman: the registry refused plain.old.token, sent through pr0xypass",
		"/var/lib/systemd/coredump/core.ironflow-agent.0.b00t.1.1700000000000000.zst": "plain.old.token",
		"/var/lib/systemd/coredump/core.podman.0.b00t.2.1700000000000000.zst":         "hunter22",
	})
	h := &hub{}
	t.Setenv(hubclient.TokenEnv, "newer.token")
	known := logs.HostSecrets(dir, hubclient.NewToken(dir), func(name string) string {
		return map[string]string{"HTTPS_PROXY": "http://u:0therpass@proxy.example"}[name]
	})
	s := sender(h, logs.Sources{Dir: dir, Secrets: known, Commands: programs{
		"journalctl": played.Says("the hub said newer.token\nAuthorization: Bearer hunter22\nproxy said 0therpass\n"), "lsblk": played.Says("plain.old.token"), "lvm": played.Says(""),
	}})
	g.Expect(s.Send(t.Context(), logs.Order{ClusterID: id, Host: host, InstallerGather: true})).To(Succeed())
	files := untar(t, h.uploads[0].bytes)
	g.Expect(files).To(And(HaveKey("agent.json"), HaveKey("reason.json"), HaveKey("report.logs")))
	for name, text := range files {
		for _, secret := range []string{"hunter22", "plain.old.token", "newer.token", "pr0xypass", "0therpass"} {
			g.Expect(text).NotTo(ContainSubstring(secret), name)
		}
	}
	g.Expect(files["report.logs"]).To(ContainSubstring("coredump_exe_ironflow-agent_pid_1.zst (15 bytes) stays on the host: it may hold secrets"))
}

// Open vSwitch's user owns the folder of its logs: what lies there is not believed.
func TestOddFilesAmongLogs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		dir := machine(t, map[string]string{"/etc/precious": "hunter22", "/var/log/openvswitch/good.log": "good\n"})
		folder := dir.Path("/var/log/openvswitch")
		g.Expect(os.Symlink(dir.Path("/etc/precious"), filepath.Join(folder, "link.log"))).To(Succeed())
		g.Expect(syscall.Mkfifo(filepath.Join(folder, "pipe.log"), 0o600)).To(Succeed())
		g.Expect(os.Mkdir(filepath.Join(folder, "folder.log"), 0o700)).To(Succeed())
		sparse, err := os.Create(filepath.Join(folder, "sparse.log"))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(sparse.Truncate(1 << 40)).To(Succeed())
		g.Expect(sparse.Close()).To(Succeed())
		h := &hub{}
		s := sender(h, logs.Sources{Dir: dir, Commands: programs{"journalctl": played.Says(""), "lsblk": played.Says(""), "lvm": played.Says(""), "installer-gather.sh": played.Says("")}})
		start := time.Now()
		g.Expect(s.Send(t.Context(), logs.Order{ClusterID: id, Host: host, Bootstrap: true, InstallerGather: true})).To(Succeed())
		g.Expect(time.Since(start)).To(BeZero(), "a pipe without a writer is not waited for")
		files := untar(t, h.uploads[0].bytes)
		g.Expect(files["ovs.logs"]).To(ContainSubstring("good\n"))
		g.Expect(len(files["ovs.logs"])).To(BeNumerically("<=", 32<<20))
		for name, text := range files {
			g.Expect(strings.Contains(text, "hunter22")).To(BeFalse(), name)
		}
		g.Expect(files["report.logs"]).To(And(ContainSubstring("link.log"), ContainSubstring("pipe.log is not a plain file"), ContainSubstring("folder.log is not a plain file")))
	})
}

func TestUploadsAreTriedAgain(t *testing.T) {
	for name, tc := range map[string]struct {
		refuse  int
		with    error
		err     string
		uploads int
		states  []wire.LogsState
	}{
		"a moment's trouble": {2, &hubclient.StatusError{Code: 503}, "", 1, []wire.LogsState{"requested", "collecting", "completed"}},
		"a hub that is away": {9, errors.New("hub unreachable"), "hub unreachable", 0, []wire.LogsState{"requested", "collecting"}},
		"a hub that says no": {9, &hubclient.StatusError{Code: 409, Reason: "other cluster"}, "other cluster", 0, []wire.LogsState{"requested", "collecting"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				h := &hub{refuse: tc.refuse, with: tc.with}
				err := sender(h, logs.Sources{Dir: machine(t, nil)}).Send(t.Context(), logs.Order{ClusterID: id, Host: host})
				if tc.err == "" {
					g.Expect(err).NotTo(HaveOccurred())
				} else {
					g.Expect(err).To(MatchError(ContainSubstring(tc.err)))
				}
				g.Expect(h.uploads).To(HaveLen(tc.uploads))
				g.Expect(h.states).To(Equal(tc.states))
				if hubclient.Code(tc.with) == 409 {
					g.Expect(h.at).To(HaveLen(1), "a final answer is not asked for again")
				} else {
					g.Expect(h.at).To(HaveLen(3))
				}
			})
		})
	}
}

func TestALogBeyondItsBoundKeepsItsEnd(t *testing.T) {
	g := NewWithT(t)
	h := &hub{}
	line := strings.Repeat("x", 99) + "\n"
	s := sender(h, logs.Sources{Dir: machine(t, nil), Commands: programs{"journalctl": func(_ context.Context, c command.Command) error {
		for range 350_000 {
			_, _ = io.WriteString(c.Stdout, line)
		}
		_, err := io.WriteString(c.Stdout, "the end\n")
		return err
	}}})
	g.Expect(s.Send(t.Context(), logs.Order{ClusterID: id, Host: host})).To(Succeed())
	text := untar(t, h.uploads[0].bytes)["agent.logs"]
	g.Expect(len(text)).To(Equal(32 << 20))
	g.Expect(text).To(HaveSuffix("the end\n"))
}
