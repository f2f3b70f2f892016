package artifacts

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"

	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/agent/probe"
	"github.com/ironflow/ironflow/agent/steps"
	"github.com/ironflow/ironflow/api/hostfile"
)

// answer makes the n-th answer; nil is the file.
type answer func(n int, r *http.Request) *http.Response

// server answers requests without a network, so that time can be the test's.
type server struct {
	files map[string][]byte
	// each is called with the number of the request; what it returns is answered instead of the file.
	each  answer
	asked []*http.Request
}

func (s *server) RoundTrip(r *http.Request) (*http.Response, error) {
	s.asked = append(s.asked, r)
	if s.each != nil {
		if response := s.each(len(s.asked), r); response != nil {
			return response, nil
		}
	}
	return s.file(r), nil
}

// file answers as Go's file server does, ranges included.
func (s *server) file(r *http.Request) *http.Response {
	w := httptest.NewRecorder()
	content, ok := s.files[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return w.Result()
	}
	w.Header().Set("ETag", fmt.Sprintf(`"%d-%d"`, len(content), content[0]))
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	return w.Result()
}

// broken cuts a body off.
func broken(r *http.Response, after int64) *http.Response {
	r.Body = io.NopCloser(io.MultiReader(io.LimitReader(r.Body, after), failing{errors.New("connection reset by peer")}))
	return r
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

type noPrograms struct{ t *testing.T }

func (n noPrograms) Run(_ context.Context, c command.Command) error {
	n.t.Errorf("started: %s %v", c.Name, c.Args)
	return nil
}

const request = `{"kernel_url":"https://hub.example/vmlinuz","initrd_url":"https://hub.example/initrd?token=secret","rootfs_url":"https://hub.example/rootfs","host_fs_mount_dir":"/host"}`

func newHost(t *testing.T) (root string) {
	t.Helper()
	root = t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "host/boot"), 0o755); err != nil {
		t.Fatal(err)
	}
	return root
}

func run(t *testing.T, root string, s *server, programs command.Runner) steps.Result {
	t.Helper()
	env := probe.Env{Dir: hostfile.Dir{Root: root}, HTTP: &http.Client{Transport: s}, Commands: programs, Log: slog.New(slog.NewTextHandler(t.Output(), nil))}
	return Check.Runner(env).Run(t.Context(), []string{request})
}

func files() map[string][]byte {
	return map[string][]byte{"/vmlinuz": bytes.Repeat([]byte("kernel"), 1000), "/initrd": bytes.Repeat([]byte("initrd"), 20_000)}
}

// expectComplete checks what is on /boot in the end.
func expectComplete(t *testing.T, root string) {
	t.Helper()
	g := NewWithT(t)
	for name, want := range map[string]string{
		"discovery/vmlinuz": strings.Repeat("kernel", 1000),
		"discovery/initrd":  strings.Repeat("initrd", 20_000),
		"loader/entries/00-assisted-discovery.conf": `title Assisted Installer Discovery
version 999
options random.trust_cpu=on ignition.firstboot ignition.platform.id=metal coreos.live.rootfs_url=https://hub.example/rootfs
linux /boot/discovery/vmlinuz
initrd /boot/discovery/initrd
`,
	} {
		got, err := os.ReadFile(filepath.Join(root, "host/boot", name))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(got) == want).To(BeTrue(), "%s is what was served", name)
	}
	for _, folder := range []string{"discovery", "loader/entries"} {
		left, err := filepath.Glob(filepath.Join(root, "host/boot", folder, "*.part"))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(left).To(BeEmpty())
	}
}

func TestArtifactsAreBroughtToBoot(t *testing.T) {
	g := NewWithT(t)
	root, s := newHost(t), &server{files: files()}
	result := run(t, root, s, noPrograms{t})
	g.Expect(result.Error).To(BeEmpty())
	g.Expect(result.Exit).To(BeZero())
	g.Expect(result.Output).To(Equal("Successfully downloaded boot artifacts"))
	expectComplete(t, root)

	again := run(t, root, s, noPrograms{t})
	g.Expect(again.Output).To(Equal("Successfully downloaded boot artifacts"))
	g.Expect(s.asked).To(HaveLen(2), "what is there is not asked for again")

	g.Expect(os.Remove(filepath.Join(root, "host/boot", Entry))).To(Succeed())
	g.Expect(run(t, root, s, noPrograms{t}).Exit).To(BeZero())
	g.Expect(s.asked).To(HaveLen(4), "without the entry nothing is complete")
}

func TestTheEntryOfOtherMachinesAndURLs(t *testing.T) {
	g := NewWithT(t)
	g.Expect(entry("https://hub.example/rootfs?arch=s390x&version=4.16", "s390x")).To(Equal(`title Assisted Installer Discovery
version 999
options random.trust_cpu=on ai.ip_cfg_override=1 ignition.firstboot ignition.platform.id=metal coreos.live.rootfs_url=https://hub.example/rootfs?arch=s390x&version=4.16
linux /boot/discovery/vmlinuz
initrd /boot/discovery/initrd
`))
	g.Expect(entry("https://hub.example/rootfs?arch=x86_64&version=4.16", "amd64")).To(ContainSubstring(
		" 'coreos.live.rootfs_url=https://hub.example/rootfs?arch=x86_64&version=4.16'\n"), "GRUB would end the command at the &")
}

func TestABrokenDownloadGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		root := newHost(t)
		s := &server{files: files()}
		s.each = func(n int, r *http.Request) *http.Response {
			if n == 2 {
				return broken(s.file(r), 50_000)
			}
			return nil
		}
		start := time.Now()
		result := run(t, root, s, noPrograms{t})
		g.Expect(result.Error).To(BeEmpty())
		g.Expect(time.Since(start)).To(Equal(time.Minute))
		expectComplete(t, root)
		g.Expect(s.asked).To(HaveLen(3))
		g.Expect(s.asked[1].Header).NotTo(HaveKey("Range"))
		g.Expect(s.asked[2].Header.Get("Range")).To(Equal("bytes=50000-"))
		g.Expect(s.asked[2].Header.Get("If-Range")).To(Equal(`"120000-105"`))
	})
}

func TestAFileThatChangesMeanwhileBeginsAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		root := newHost(t)
		s := &server{files: files()}
		s.files["/initrd"] = bytes.Repeat([]byte("old"), 40_000)
		s.each = func(n int, r *http.Request) *http.Response {
			if n != 2 {
				return nil
			}
			response := broken(s.file(r), 50_000)
			s.files = files()
			return response
		}
		NewWithT(t).Expect(run(t, root, s, noPrograms{t}).Error).To(BeEmpty())
		expectComplete(t, root)
	})
}

func TestServersThatFail(t *testing.T) {
	long := strings.Repeat("x", 2000)
	for name, tc := range map[string]struct {
		each func(s *server) answer
		want string
	}{
		"not there": {func(s *server) answer {
			delete(s.files, "/initrd")
			return nil
		}, "download initrd: answered 404 Not Found: 404 page not found"},
		"always broken": {func(s *server) answer {
			return func(n int, r *http.Request) *http.Response {
				if n == 1 {
					return nil
				}
				r.Header.Del("Range")
				return broken(s.file(r), 10)
			}
		}, "download initrd: connection reset by peer"},
		"shorter than announced": {func(s *server) answer {
			return func(n int, r *http.Request) *http.Response {
				response := s.file(r)
				response.Body = io.NopCloser(strings.NewReader("x"))
				return response
			}
		}, "download vmlinuz: 5 of 6000 bytes came"},
		"longer than announced": {func(s *server) answer {
			return func(_ int, r *http.Request) *http.Response {
				response := s.file(r)
				response.ContentLength = 1000
				response.Body = io.NopCloser(strings.NewReader(long))
				return response
			}
		}, "download vmlinuz: the file is larger than 1000 bytes"},
		"empty": {func(s *server) answer {
			return func(_ int, r *http.Request) *http.Response {
				response := s.file(r)
				response.ContentLength, response.Body = -1, http.NoBody
				return response
			}
		}, "download vmlinuz: the file is empty"},
		"another part than asked for": {func(s *server) answer {
			return func(n int, r *http.Request) *http.Response {
				response := s.file(r)
				if n > 1 {
					response.StatusCode = http.StatusPartialContent
					response.Header.Set("Content-Range", "bytes 7-8/9")
				}
				return response
			}
		}, "download initrd: the server goes on at another place"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				root, s := newHost(t), &server{files: files()}
				s.each = tc.each(s)
				start := time.Now()
				result := run(t, root, s, noPrograms{t})
				g.Expect(result.Exit).To(BeEquivalentTo(-1))
				g.Expect(result.Output).To(BeEmpty())
				g.Expect(result.Error).To(Equal(tc.want))
				g.Expect(time.Since(start)).To(Equal(4*time.Minute), "five tries, a minute apart")
				left, err := filepath.Glob(filepath.Join(root, "host/boot/*/*.part"))
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(left).To(BeEmpty())
				g.Expect(filepath.Join(root, "host/boot", Entry)).NotTo(BeAnExistingFile())
			})
		})
	}
}

func TestADownloadThatStandsStill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		root, s := newHost(t), &server{files: files()}
		s.each = func(n int, r *http.Request) *http.Response {
			if n != 1 {
				return nil
			}
			response := s.file(r)
			response.Body = io.NopCloser(io.MultiReader(strings.NewReader("kernel"), silent{r.Context()}))
			return response
		}
		start := time.Now()
		g.Expect(run(t, root, s, noPrograms{t}).Error).To(BeEmpty())
		g.Expect(time.Since(start)).To(Equal(3*time.Minute), "two minutes of silence, one of pause")
		expectComplete(t, root)
	})
}

// silent is a body that brings nothing until its request is cancelled.
type silent struct{ ctx context.Context }

func (s silent) Read([]byte) (int, error) {
	<-s.ctx.Done()
	return 0, s.ctx.Err()
}

// tidy is rpm-ostree: it removes a file.
type tidy struct {
	t    *testing.T
	file string
	ran  []command.Command
}

func (r *tidy) Run(_ context.Context, c command.Command) error {
	r.ran = append(r.ran, c)
	if r.file == "" {
		return &command.ExitError{Name: c.Name, Code: 1, Last: "error: no deployment"}
	}
	return os.Remove(r.file)
}

// A real file system of 3 MiB that is mounted read-only, as /boot is.
func TestASmallReadOnlyBoot(t *testing.T) {
	if os.Getuid() != 0 {
		if os.Getenv("CI") == "true" {
			t.Fatal("mounting needs root")
		}
		t.Skip("mounting needs root")
	}
	small := func(t *testing.T) (root string) {
		root = newHost(t)
		boot := filepath.Join(root, "host/boot")
		if err := unix.Mount("tmpfs", boot, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "size=3m"); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = unix.Unmount(boot, unix.MNT_DETACH) })
		if err := os.WriteFile(filepath.Join(boot, "old-initrd"), make([]byte, 2<<20), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := unix.Mount("", boot, "", unix.MS_REMOUNT|unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV, ""); err != nil {
			t.Fatal(err)
		}
		return root
	}
	t.Run("made writable, room made", func(t *testing.T) {
		g := NewWithT(t)
		root := small(t)
		programs := &tidy{t: t, file: filepath.Join(root, "host/boot/old-initrd")}
		g.Expect(run(t, root, &server{files: files()}, programs).Error).To(BeEmpty())
		expectComplete(t, root)
		g.Expect(programs.ran).To(HaveLen(1))
		g.Expect(programs.ran[0].Name + " " + strings.Join(programs.ran[0].Args, " ")).To(Equal("rpm-ostree cleanup --os=rhcos -r"))
		g.Expect(programs.ran[0].Root).To(Equal("/host"))
		var s unix.Statfs_t
		g.Expect(unix.Statfs(filepath.Join(root, "host/boot"), &s)).To(Succeed())
		g.Expect(s.Flags&(unix.ST_RDONLY|unix.ST_NOSUID|unix.ST_NODEV)).To(BeEquivalentTo(unix.ST_NOSUID|unix.ST_NODEV), "only the one flag has changed")
	})
	t.Run("no room to be had", func(t *testing.T) {
		g := NewWithT(t)
		result := run(t, small(t), &server{files: files()}, &tidy{t: t})
		g.Expect(result.Exit).To(BeEquivalentTo(-1))
		g.Expect(result.Error).To(Equal("download vmlinuz: make room on /boot: rpm-ostree: exit status 1: error: no deployment"), "another try would not help")
	})
}

func TestRefused(t *testing.T) {
	for name, tc := range map[string]struct{ old, replacement, want string }{
		"relative folder":  {`"/host"`, `"host"`, "not the path of a folder"},
		"detour":           {`"/host"`, `"/host/../etc"`, "not the path of a folder"},
		"kernel by file":   {"https://hub.example/vmlinuz", "file:///etc/shadow", "kernel_url"},
		"two arguments":    {"https://hub.example/rootfs", "https://hub.example/rootfs init=/bin/sh", "rootfs_url"},
		"a command":        {"https://hub.example/rootfs", "https://hub.example/rootfs;reboot", "rootfs_url"},
		"end of the quote": {"https://hub.example/rootfs", "https://hub.example/?a&b'c", "rootfs_url"},
		"another line":     {"https://hub.example/rootfs", `https://hub.example/\nlinux /x`, "rootfs_url"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			for _, dry := range []bool{true, false} {
				result := Check.Runner(probe.Env{DryRun: dry}).Run(t.Context(), []string{strings.Replace(request, tc.old, tc.replacement, 1)})
				g.Expect(result.Exit).To(BeEquivalentTo(-1))
				g.Expect(result.Error).To(ContainSubstring(tc.want))
			}
		})
	}
	g := NewWithT(t)
	g.Expect(Check.Runner(probe.Env{DryRun: true}).Run(t.Context(), []string{request}).Output).To(Equal(done))
}

// FuzzContentRange: a server's range is only believed where it is one.
func FuzzContentRange(f *testing.F) {
	f.Add("bytes 5-9/10")
	f.Add("bytes */10")
	f.Add("bytes 5-9/*")
	f.Fuzz(func(t *testing.T, text string) {
		if first, total, ok := contentRange(text); ok && (first < 0 || first >= total || total > maxFile) {
			t.Errorf("%q is read as %d of %d", text, first, total)
		}
	})
}
