package coreos

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/blockdev"
	"github.com/ironflow/ironflow/customdeploy/step"
)

var disks = []blockdev.Disk{
	{Path: "/dev/sda", SizeBytes: 480 << 30, Rotational: true, Model: "Kestrel HDD", Vendor: "Kestrel", Serial: "S1", HCTL: "0:0:0:0", WWN: "0x5000a"},
	{Path: "/dev/sdb", SizeBytes: 120 << 30, Model: "Granite SSD", Vendor: "Granite", Serial: "S2", HCTL: "0:0:1:0", WWN: "0x5000b", Links: []string{"/dev/disk/by-path/pci-2"}},
	{Path: "/dev/sdc", SizeBytes: 2 << 30, Model: "Tiny", Serial: "S3", HCTL: "0:0:2:0"},
}

func TestChoose(t *testing.T) {
	for name, tc := range map[string]struct {
		hints Hints
		want  string
		err   string
	}{
		"no hints: the smallest that is big enough": {nil, "/dev/sdb", ""},
		"name":                             {Hints{"name": "s== /dev/sda"}, "/dev/sda", ""},
		"name by path":                     {Hints{"name": "/dev/disk/by-path/pci-2"}, "/dev/sdb", ""},
		"by_path":                          {Hints{"by_path": "/dev/disk/by-path/pci-2"}, "/dev/sdb", ""},
		"case does not count":              {Hints{"serial": "s== s2"}, "/dev/sdb", ""},
		"part of the model":                {Hints{"model": "<in> ssd"}, "/dev/sdb", ""},
		"all parts of the model":           {Hints{"model": "<all-in> ssd granite"}, "/dev/sdb", ""},
		"one of several":                   {Hints{"hctl": "<or> 9:9:9:9 <or> 0:0:1:0"}, "/dev/sdb", ""},
		"wwn":                              {Hints{"wwn": "0x5000a"}, "/dev/sda", ""},
		"rotational as text":               {Hints{"rotational": "true"}, "/dev/sda", ""},
		"at least":                         {Hints{"size": ">= 200"}, "/dev/sda", ""},
		"size as number":                   {Hints{"size": 120.0}, "/dev/sdb", ""},
		"less than":                        {Hints{"size": "< 120"}, "/dev/sdc", ""},
		"not that one, and not rotational": {Hints{"serial": "s!= S3", "rotational": false}, "/dev/sdb", ""},
		"no match":                         {Hints{"serial": "S9"}, "", "no disk fits the root device hints serial=S9; there are: /dev/sda (480 GiB, Kestrel Kestrel HDD)"},
		"everything matches: the first":    {Hints{"size": ">= 1"}, "/dev/sda", ""},
		"several sizes":                    {Hints{"size": "<or> 100 <or> 120"}, "/dev/sdb", ""},
		"empty value":                      {Hints{"model": ""}, "", "root device hint model: the value is empty"},
		"unknown hint":                     {Hints{"colour": "red"}, "", `root device hint "colour" is not known`},
		"no number":                        {Hints{"size": ">= big"}, "", `"big" is not a number`},
		"wrong type":                       {Hints{"serial": 7.0}, "", "7 is not a text"},
		"wrong operator":                   {Hints{"size": "<in> 1"}, "", "operator <in> does not compare numbers"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			d, why, err := tc.hints.Choose(append([]blockdev.Disk(nil), disks...))
			if tc.err != "" {
				g.Expect(err).To(MatchError(ContainSubstring(tc.err)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(d.Path).To(Equal(tc.want))
			g.Expect(why).NotTo(BeEmpty())
		})
	}
}

// machine is a host whose commands the test plays.
type machine struct {
	host     hostfile.Dir
	mu       sync.Mutex
	ran      []string
	commands []string
	install  func(ctx context.Context, argv []string, line func(string)) error
	progress []string
	// hangs is a program that ends only with its context.
	hangs string
	// version answers coreos-installer --version; nil: it is there.
	version error
	// clean is the node's automated_clean.
	clean *bool
	// tree is what lies on the disks, as lsblk shows it; export is what mdadm says of an array,
	// brief what it says of a member in the form of its configuration.
	tree, export, brief string
	// groups are the volume groups by their physical volumes; broken is a program that fails.
	groups map[string]string
	broken string
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	m := &machine{host: hostfile.Dir{Root: t.TempDir()}}
	path := m.host.Path(hostfile.BootIDPath())
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("boot-1"), 0o600); err != nil {
		t.Fatal(err)
	}
	own := m.host.Path(imageDir + "/coreos-x86_64.osmet")
	if err := os.MkdirAll(filepath.Dir(own), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(own, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return m
}

func (m *machine) exec(ctx context.Context, argv []string, line func(string)) error {
	if len(argv) == 2 && argv[1] == "--version" {
		return m.version
	}
	m.mu.Lock()
	m.ran = append(m.ran, argv[0])
	m.commands = append(m.commands, strings.Join(argv, " "))
	m.mu.Unlock()
	switch argv[0] {
	case m.broken:
		return exit(5)
	case "lvm":
		if argv[1] == "pvs" {
			line("  " + m.groups[argv[len(argv)-1]] + "  ")
		}
	case m.hangs:
		<-ctx.Done()
		return exit(-1) // killed
	case "lsblk":
		if argv[len(argv)-1] == blockdev.TreeColumns {
			if m.tree != "" {
				line(m.tree)
				return nil
			}
		}
		line(`{"blockdevices": [
			{"path": "/dev/sda", "type": "disk", "size": 21474836480, "rota": true, "ro": false, "model": "QEMU  ", "serial": "A"},
			{"path": "/dev/sdb", "type": "disk", "size": "10737418240", "rota": "0", "ro": "0", "serial": "B"},
			{"path": "/dev/sr0", "type": "rom", "size": 1000, "rota": true, "ro": false},
			{"path": "/dev/sdd", "type": "disk", "size": 10737418240, "rota": true, "ro": true}]}`)
	case "udevadm":
		line("ID_WWN=0x" + filepath.Base(argv[len(argv)-1]))
	case "mdadm":
		switch {
		case argv[1] == "--examine" && argv[2] == "--brief":
			line(m.brief)
		case argv[1] == "--detail" || argv[1] == "--examine":
			line(m.export)
		}
	case "coreos-installer":
		return m.install(ctx, argv, line)
	}
	return nil
}

func (m *machine) run(ctx context.Context, info map[string]any) step.Report {
	req := &step.Request{Host: m.host, Log: slog.New(slog.DiscardHandler), Progress: func(stage string, percent int, _ string) {
		m.progress = append(m.progress, fmt.Sprintf("%s %d", stage, percent))
	}}
	req.Node = step.Node{UUID: "node-1", InstanceInfo: info, AutomatedClean: m.clean}
	s := &Step{Exec: m.exec, Hostname: func() (string, error) { return "node-1", nil }}
	return s.Run(ctx, req)
}

func (m *machine) installs() (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, name := range m.ran {
		if name == "coreos-installer" {
			n++
		}
	}
	return n
}

// exit is an exit status as exec.ExitError has it.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit status %d", int(e)) }
func (e exit) ExitCode() int { return int(e) }

func TestInstall(t *testing.T) {
	g := NewWithT(t)
	m := newMachine(t)
	m.install = func(_ context.Context, argv []string, line func(string)) error {
		g.Expect(argv[len(argv)-1]).To(Equal("/dev/sdb"))
		file := m.host.Path(argv[4])
		info, err := os.Stat(file)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(info.Mode().Perm()).To(Equal(os.FileMode(0o600)))
		line("Installing from the live system")
		line("> Read disk 512.0 MiB/2.5 GiB (20%)")
		line("> Read disk 2.5 GiB/2.5 GiB (100%)")
		return nil
	}
	r := m.run(t.Context(), map[string]any{"root_device": map[string]any{"serial": "s== B"}})
	g.Expect(r.Outcome).To(Equal(step.Done), "%+v", r)
	g.Expect(r.Result).To(HaveKeyWithValue("disk", "/dev/sdb"))
	g.Expect(m.commands).To(ContainElements("blockdev --rereadpt /dev/sdb", "udevadm settle"))
	g.Expect(m.progress).To(Equal([]string{"write image 0", "write image 20", "write image 100", "boot entry 0"}))
	var marker hostfile.Installed
	var state hostfile.StepState
	g.Expect(m.host.Read(hostfile.InstalledFile, &marker)).To(Succeed())
	g.Expect(m.host.Read(hostfile.StepFile, &state)).To(Succeed())
	g.Expect(marker.InvocationID).To(Equal(state.InvocationID))
	g.Expect(state.Step).To(Equal(Name))
	left, err := filepath.Glob(m.host.Path(hostfile.RunDir + "/*.ign"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(left).To(BeEmpty(), "the Ignition may hold secrets and is removed")
}

func TestWrongInputWritesNothing(t *testing.T) {
	for name, info := range map[string]map[string]any{
		"hint that fits nothing": {"root_device": map[string]any{"serial": "s== Z"}},
		"broken Ignition":        {"configdrive": map[string]any{"user_data": "{"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			m := newMachine(t)
			r := m.run(t.Context(), info)
			g.Expect(r.Outcome).To(Or(Equal(step.Failed), Equal(step.BadInput)))
			g.Expect(m.installs()).To(BeZero())
			g.Expect(m.host.Path(hostfile.InstalledFile)).NotTo(BeAnExistingFile())
		})
	}
}

// TestNothingIsTouchedBeforeAllIsThere: a machine with software RAIDs, which the
// step would remove, lacks something that the installation needs.
func TestNothingIsTouchedBeforeAllIsThere(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	secret := strings.Replace(server.URL, "http://", "http://user:hunter2@", 1) + "/coreos.raw?token=hunter2"
	for name, tc := range map[string]struct {
		lacks   func(m *machine)
		info    map[string]any
		outcome step.Outcome
		reason  string
	}{
		"no coreos-installer":                  {func(m *machine) { m.version = exit(127) }, nil, step.ImageUnfit, "no coreos-installer"},
		"a coreos-installer that does not run": {func(m *machine) { m.version = exit(1) }, nil, step.Failed, "coreos-installer: exit status 1"},
		"no image of the live system":          {func(m *machine) { _ = os.RemoveAll(m.host.Path(imageDir)) }, nil, step.ImageUnfit, "brings no image to install along"},
		"no such image on the server": {
			func(*machine) {}, map[string]any{"image_source": secret}, step.Failed, "fetch the image: " + server.URL + "/coreos.raw answers 404 Not Found",
		},
		"no such server": {
			func(*machine) {}, map[string]any{"image_source": "http://user:hunter2@127.0.0.1:1/i?token=hunter2"}, step.Failed, "fetch the image from http://127.0.0.1:1/i: dial tcp",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			m := newMachine(t)
			m.tree = mirrored
			tc.lacks(m)
			info := map[string]any{"root_device": map[string]any{"serial": "s== B"}}
			maps.Copy(info, tc.info)
			r := m.run(t.Context(), info)
			g.Expect(r.Outcome).To(Equal(tc.outcome), "%+v", r)
			g.Expect(r.Reason).To(ContainSubstring(tc.reason))
			g.Expect(r.Reason).NotTo(ContainSubstring("hunter2"))
			g.Expect(m.commands).NotTo(ContainElement(MatchRegexp("^(wipefs|mdadm|coreos-installer)")))
			left, err := filepath.Glob(m.host.Path(hostfile.RunDir + "/*.ign"))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(left).To(BeEmpty())
		})
	}
}

func TestInstallerFailures(t *testing.T) {
	for name, tc := range map[string]struct {
		install func(ctx context.Context, try int, line func(string)) error
		tries   int
		outcome step.Outcome
		reason  string
		after   time.Duration
	}{
		"fails three times": {func(_ context.Context, _ int, line func(string)) error {
			line("Error: install failed")
			line("Caused by: no space left")
			return exit(1)
		}, 3, step.Failed, "/dev/sdb: coreos-installer: Caused by: no space left (exit status 1)", 25 * time.Second},
		"works the second time": {func(_ context.Context, try int, _ func(string)) error {
			if try == 1 {
				return exit(1)
			}
			return nil
		}, 2, step.Done, "", 5 * time.Second},
		"gone in between": {func(context.Context, int, func(string)) error { return exit(127) }, 1, step.ImageUnfit, "no coreos-installer", 0},
		"silent": {func(ctx context.Context, _ int, line func(string)) error {
			line("> Read disk (5%)")
			<-ctx.Done()
			return ctx.Err()
		}, 3, step.Deadline, "idle deadline", 30*time.Minute + 25*time.Second},
		"endless": {func(ctx context.Context, _ int, line func(string)) error {
			for ctx.Err() == nil {
				line("> Read disk (5%)")
				select {
				case <-time.After(time.Minute):
				case <-ctx.Done():
				}
			}
			return ctx.Err()
		}, 1, step.Deadline, "total deadline", time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				m := newMachine(t)
				m.install = func(ctx context.Context, _ []string, line func(string)) error {
					return tc.install(ctx, m.installs(), line)
				}
				begin := time.Now()
				r := m.run(t.Context(), nil)
				g.Expect(r.Outcome).To(Equal(tc.outcome), "%+v", r)
				g.Expect(r.Reason).To(ContainSubstring(tc.reason))
				g.Expect(m.installs()).To(Equal(tc.tries))
				g.Expect(time.Since(begin)).To(Equal(tc.after))
			})
		})
	}
}

// TestDeadlineInAHelper: the deadline may come while a small program hangs on a
// broken disk, and is the reason then.
func TestDeadlineInAHelper(t *testing.T) {
	for _, program := range []string{"lsblk", "blockdev"} {
		t.Run(program, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				m := newMachine(t)
				m.hangs = program
				m.install = func(context.Context, []string, func(string)) error { return nil }
				begin := time.Now()
				r := m.run(t.Context(), nil)
				if program == "blockdev" { // nobody needs its answer
					g.Expect(r.Outcome).To(Equal(step.Done), "%+v", r)
					g.Expect(time.Since(begin)).To(Equal(time.Minute))
					return
				}
				g.Expect(r.Outcome).To(Equal(step.Deadline), "%+v", r)
				g.Expect(r.Reason).To(Equal("list the disks: lsblk: the installation took too long (total deadline)"))
			})
		})
	}
}

func TestCancel(t *testing.T) {
	g := NewWithT(t)
	m := newMachine(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	m.install = func(ctx context.Context, _ []string, _ func(string)) error {
		cancel(errors.New("the signal terminated"))
		<-ctx.Done()
		return ctx.Err()
	}
	r := m.run(ctx, nil)
	g.Expect(r.Outcome).To(Equal(step.Cancelled))
	g.Expect(r.Reason).To(Equal("cancelled by the signal terminated"))
}

func TestImageDigest(t *testing.T) {
	image := strings.Repeat("CoreOS image ", 20000)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, image) }))
	defer server.Close()
	sum := sha256.Sum256([]byte(image))
	for name, tc := range map[string]struct {
		value   string
		outcome step.Outcome
		reason  string
	}{
		"right": {hex.EncodeToString(sum[:]), step.Done, ""},
		"wrong": {strings.Repeat("00", 32), step.Failed, "the image's sha256 is " + hex.EncodeToString(sum[:])},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			retryAfter = nil // one try
			t.Cleanup(func() { retryAfter = []time.Duration{5 * time.Second, 20 * time.Second} })
			m := newMachine(t)
			m.install = func(ctx context.Context, argv []string, line func(string)) error {
				url := argv[len(argv)-2]
				g.Expect(url).To(HavePrefix("http://127.0.0.1:"))
				signature, err := http.Get(url + ".sig")
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(signature.Body.Close()).To(Succeed())
				g.Expect(signature.StatusCode).To(Equal(http.StatusNotFound), "the image is not its own signature")
				resp, err := http.Get(url)
				g.Expect(err).NotTo(HaveOccurred())
				defer resp.Body.Close()
				got, err := io.ReadAll(resp.Body)
				if err != nil {
					g.Expect(len(got)).To(BeNumerically("<", len(image)), "no complete image may arrive")
					return exit(1)
				}
				g.Expect(string(got)).To(Equal(image))
				return nil
			}
			r := m.run(t.Context(), map[string]any{"image_source": server.URL, "image_os_hash_algo": "sha256", "image_os_hash_value": tc.value})
			g.Expect(r.Outcome).To(Equal(tc.outcome), "%+v", r)
			g.Expect(r.Reason).To(ContainSubstring(tc.reason))
		})
	}
}
