package command_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/hostexec"
	"github.com/ironflow/ironflow/test/needs"
)

// host is a root directory of its own that holds the given shell script as a
// program; chroot needs root, and the script needs the machine's shell.
func host(t *testing.T, name, script string) command.Host {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("chroot needs root")
	}
	root := t.TempDir()
	for _, folder := range []string{"usr/bin", "usr/local/bin", "dev", "lib", "lib64", "bin"} {
		if err := os.MkdirAll(filepath.Join(root, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "usr/local/bin", name), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return command.Host{Dir: hostfile.Dir{Root: root}}
}

func TestOnlyWhatIsAllowedIsStarted(t *testing.T) {
	g := NewWithT(t)
	started := 0
	h := command.Host{Started: func(command.Command) { started++ }}
	g.Expect(h.Run(t.Context(), command.Command{Name: "sh", Args: []string{"-c", "true"}})).To(MatchError(command.ErrNotAllowed))
	g.Expect(h.Run(t.Context(), command.Command{Name: "/usr/bin/lsblk"})).To(MatchError(command.ErrNotAllowed))
	g.Expect(started).To(BeZero())
}

func TestTheTableIsSortedAndSaysWhy(t *testing.T) {
	g := NewWithT(t)
	programs := command.Allowed()
	g.Expect(slices.IsSortedFunc(programs, func(a, b command.Program) int { return strings.Compare(a.Name, b.Name) })).To(BeTrue())
	for _, p := range programs {
		g.Expect(p.Why).NotTo(BeEmpty(), p.Name)
	}
}

func TestAMissingProgramIsNamed(t *testing.T) {
	g := NewWithT(t)
	h := command.Host{Dir: hostfile.Dir{Root: t.TempDir()}}
	err := h.Run(t.Context(), command.Command{Name: "podman"})
	g.Expect(err).To(MatchError(hostexec.ErrMissing))
	g.Expect(err).To(MatchError(ContainSubstring("podman")))
}

func TestAProgramRunsInTheHostsRoot(t *testing.T) {
	g := NewWithT(t)
	h := host(t, "podman", "")
	err := h.Run(t.Context(), command.Command{Name: "podman"})
	g.Expect(err).To(HaveOccurred(), "an empty file cannot be run, but it was found")
	g.Expect(errors.Is(err, hostexec.ErrMissing)).To(BeFalse())
}

func TestOutputAndExit(t *testing.T) {
	g := NewWithT(t)
	out, err := command.Output(t.Context(), command.Host{}, "lsblk", "--version")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(out)).To(ContainSubstring("util-linux"))

	_, err = command.Output(t.Context(), command.Host{}, "lsblk", "--no-such-flag")
	exit, ok := errors.AsType[*command.ExitError](err)
	g.Expect(ok).To(BeTrue(), "%v", err)
	g.Expect(exit.Code).To(Equal(1))
	g.Expect(exit.Error()).To(ContainSubstring("lsblk: exit status 1: "))
}

func TestLinesOfBothStreams(t *testing.T) {
	g := NewWithT(t)
	var lines []string
	err := command.Lines(command.Host{})(t.Context(), []string{"lsblk", "--no-such-flag"}, func(line string) { lines = append(lines, line) })
	g.Expect(err).To(HaveOccurred())
	g.Expect(lines).To(ContainElement(ContainSubstring("no-such-flag")))
}

func TestAStoppedProgramEndsWithItsCause(t *testing.T) {
	needs.Program(t, "udevadm", "udev")
	g := NewWithT(t)
	cause := errors.New("the hub ended the installation")
	ctx, cancel := context.WithCancelCause(t.Context())
	timer := time.AfterFunc(100*time.Millisecond, func() { cancel(cause) })
	defer timer.Stop()
	// udevadm monitor runs until it is stopped.
	err := command.Host{}.Run(ctx, command.Command{Name: "udevadm", Args: []string{"monitor", "--kernel"}})
	g.Expect(err).To(MatchError(cause))
}

// A program in a root directory of its own is this test binary, which needs nothing besides itself.
func TestAProgramRunsInTheGivenRoot(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("chroot needs root")
	}
	g := NewWithT(t)
	self, err := os.Executable()
	g.Expect(err).NotTo(HaveOccurred())
	raw, err := os.ReadFile(self)
	g.Expect(err).NotTo(HaveOccurred())
	root := t.TempDir()
	for _, folder := range []string{"host/usr/sbin", "host/tmp"} {
		g.Expect(os.MkdirAll(filepath.Join(root, folder), 0o755)).To(Succeed())
	}
	g.Expect(os.WriteFile(filepath.Join(root, "host/usr/sbin/zipl"), raw, 0o755)).To(Succeed())
	g.Expect(os.WriteFile(filepath.Join(root, "host/only-here"), nil, 0o600)).To(Succeed())

	h := command.Host{Dir: hostfile.Dir{Root: root}}
	inside := command.Command{Name: "zipl", Args: []string{"-test.run=^TestInsideAnotherRoot$", "-test.v"}, Env: []string{"INSIDE=yes"}, Root: "/host"}
	var out strings.Builder
	inside.Stdout = &out
	g.Expect(h.Run(t.Context(), inside)).To(Succeed(), "%s", &out)
	g.Expect(out.String()).To(ContainSubstring("--- PASS: TestInsideAnotherRoot"))
	inside.Root = ""
	g.Expect(h.Run(t.Context(), inside)).To(MatchError(hostexec.ErrMissing))
}

func TestInsideAnotherRoot(t *testing.T) {
	if os.Getenv("INSIDE") == "" {
		t.Skip("only what TestAProgramRunsInTheGivenRoot starts")
	}
	if _, err := os.Stat("/only-here"); err != nil {
		t.Fatal(err)
	}
}
