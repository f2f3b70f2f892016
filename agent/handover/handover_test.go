package handover

import (
	"archive/tar"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/hostexec"
)

const image = "quay.example/a/agent:v2"

// engine is podman as far as this package uses it.
type engine struct {
	ran     []string
	missing bool
	fail    string // subcommand that fails
	member  *tar.Header
	program string
}

func (e *engine) Run(_ context.Context, c command.Command) error {
	if e.missing {
		return hostexec.ErrMissing
	}
	e.ran = append(e.ran, c.Name+" "+strings.Join(c.Args, " "))
	if c.Args[0] == e.fail {
		return &command.ExitError{Name: c.Name, Code: 125, Last: "no space left on device"}
	}
	if c.Args[0] != "cp" {
		return nil
	}
	w := tar.NewWriter(c.Stdout)
	header := e.member
	if header == nil {
		header = &tar.Header{Name: "agent", Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(e.program))}
	}
	if err := w.WriteHeader(header); err != nil {
		return err
	}
	if _, err := io.WriteString(w, e.program); err != nil {
		return err
	}
	return w.Close()
}

// became is what a process was replaced by.
type became struct {
	path      string
	argv, env []string
}

func process(t *testing.T, dir hostfile.Dir, e *engine, running string) (Handover, *became) {
	t.Helper()
	b := &became{}
	return Handover{
		Running: running, Args: []string{"--url", "https://hub"}, Dir: dir, Commands: e, Log: slog.New(slog.DiscardHandler),
		Exec: func(path string, argv, env []string) error { *b = became{path, argv, env}; return nil },
	}, b
}

func host(t *testing.T) hostfile.Dir {
	t.Helper()
	dir := hostfile.Dir{Root: t.TempDir()}
	path := dir.Path(hostfile.BootIDPath())
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte("b1"), 0o600)); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestTheAgentOfAnotherImageTakesOver(t *testing.T) {
	g := NewWithT(t)
	dir, e := host(t), &engine{program: "new program"}
	old, b := process(t, dir, e, "quay.example/a/agent:v1")
	next, err := old.Prepare(t.Context(), image)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(e.ran).To(Equal([]string{
		"podman pull --quiet quay.example/a/agent:v2",
		"podman create --replace --name ironflow-agent-upgrade --pull=never --network=none quay.example/a/agent:v2 /usr/bin/agent",
		"podman cp ironflow-agent-upgrade:/usr/bin/agent -",
		"podman rm --force ironflow-agent-upgrade",
	}))
	g.Expect(next.Become()).To(Succeed())
	g.Expect(b.path).To(Equal(dir.Path("/run/ironflow/agent-of-image")))
	g.Expect(b.argv).To(Equal([]string{"agent", "--url", "https://hub"}), "the name and the same flags")
	g.Expect(b.env).To(ContainElement("IRONFLOW_AGENT_IMAGE=" + image))
	text, err := os.ReadFile(b.path)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(text)).To(Equal("new program"))
	info, err := os.Stat(b.path)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(info.Mode().Perm()).To(Equal(os.FileMode(0o755)))

	t.Setenv(ImageEnv, image)
	g.Expect(Running("quay.example/a/agent:v1")).To(Equal(image), "the unit's flag is still the old one")
}

// The unit starts the old program after a crash of the new one.
func TestWhoNeverPolledIsNotTriedAgain(t *testing.T) {
	g := NewWithT(t)
	dir, e := host(t), &engine{program: "x"}
	old, _ := process(t, dir, e, "old")
	next, err := old.Prepare(t.Context(), image)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(next.Become()).To(Succeed())

	_, err = old.Prepare(t.Context(), image)
	g.Expect(err).To(MatchError(ErrStays))
	g.Expect(err).To(MatchError(ContainSubstring("never polled")))

	boot := dir.Path(hostfile.BootIDPath())
	g.Expect(os.WriteFile(boot, []byte("b2"), 0o600)).To(Succeed())
	_, err = old.Prepare(t.Context(), image)
	g.Expect(err).NotTo(HaveOccurred(), "another boot is another try")
}

func TestWhoHasPolledMayTakeOverAgainWithoutAPull(t *testing.T) {
	g := NewWithT(t)
	dir, e := host(t), &engine{program: "x"}
	old, _ := process(t, dir, e, "old")
	next, err := old.Prepare(t.Context(), image)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(next.Become()).To(Succeed())
	old.Polled()
	_, err = old.Prepare(t.Context(), image)
	g.Expect(err).To(MatchError(ErrStays), "the old agent's polls say nothing of the new one")

	fresh, _ := process(t, dir, e, image)
	fresh.Polled()
	e.ran = nil
	next, err = old.Prepare(t.Context(), image)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(next.Become()).To(Succeed())
	g.Expect(e.ran).To(BeEmpty())
}

func TestHandOversOfOneBootAreBounded(t *testing.T) {
	g := NewWithT(t)
	dir, e := host(t), &engine{program: "x"}
	images := []string{"a/one:1", "a/two:2"} // two hubs that each want their own
	times := 0
	for ; times < 20; times++ {
		from, to := images[times%2], images[(times+1)%2]
		p, _ := process(t, dir, e, from)
		p.Polled()
		next, err := p.Prepare(t.Context(), to)
		if err != nil {
			g.Expect(err).To(MatchError(ErrStays))
			break
		}
		g.Expect(next.Become()).To(Succeed())
	}
	g.Expect(times).To(Equal(5))
}

func TestWhoStays(t *testing.T) {
	g := NewWithT(t)
	_, err := Handover{}.Prepare(t.Context(), image)
	g.Expect(err).To(MatchError(ErrStays), "the zero value")
	Handover{}.Polled()

	h, _ := process(t, host(t), &engine{missing: true}, "old")
	_, err = h.Prepare(t.Context(), image)
	g.Expect(err).To(MatchError(ErrStays), "no container engine")

	self, err := os.Executable()
	g.Expect(err).NotTo(HaveOccurred())
	dir := host(t)
	g.Expect(carried(dir, self)).To(BeEmpty())
	g.Expect(os.MkdirAll(filepath.Dir(dir.Path(hostfile.AgentBinary)), 0o755)).To(Succeed())
	g.Expect(os.Symlink(self, dir.Path(hostfile.AgentBinary))).To(Succeed())
	g.Expect(carried(dir, self)).To(Equal("the live image carries the agent"))
	h, _ = process(t, dir, &engine{}, "old")
	_, err = h.Prepare(t.Context(), image)
	g.Expect(err).To(MatchError(ErrStays))
}

func TestWhatGoesWrongIsSaidAndNothingIsReplaced(t *testing.T) {
	for name, tc := range map[string]struct {
		engine engine
		want   string
	}{
		"pull":           {engine{fail: "pull"}, "pull quay.example/a/agent:v2: podman: exit status 125: no space left on device"},
		"create":         {engine{fail: "create"}, "look into quay.example/a/agent:v2"},
		"copy":           {engine{fail: "cp"}, "no space left"},
		"not a file":     {engine{member: &tar.Header{Name: "agent", Typeflag: tar.TypeSymlink, Linkname: "/etc/shadow"}}, "is no file"},
		"a huge program": {engine{member: &tar.Header{Name: "agent", Typeflag: tar.TypeReg, Size: 1 << 40}}, "more than"},
		"clean up":       {engine{fail: "rm", program: "x"}, "no space left"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			dir := host(t)
			h, b := process(t, dir, &tc.engine, "old")
			_, err := h.Prepare(t.Context(), image)
			g.Expect(err).To(MatchError(ContainSubstring(tc.want)))
			g.Expect(errors.Is(err, ErrStays)).To(BeFalse())
			g.Expect(b.path).To(BeEmpty())
			left, err := filepath.Glob(dir.Path("/run/ironflow/.agent-of-image*"))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(left).To(BeEmpty())
		})
	}
}
