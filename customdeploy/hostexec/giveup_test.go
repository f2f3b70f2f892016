package hostexec

import (
	"context"
	"errors"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/hostfile"
)

// TestAProgramThatDoesNotEndIsGivenUp: a program in state D ends with no signal.
func TestAProgramThatDoesNotEndIsGivenUp(t *testing.T) {
	for name, tc := range map[string]struct {
		ctx   func(t *testing.T) (context.Context, context.CancelFunc)
		after time.Duration
		want  string
	}{
		"with a deadline": {func(t *testing.T) (context.Context, context.CancelFunc) {
			return context.WithTimeoutCause(t.Context(), time.Minute, errors.New("the deadline"))
		}, time.Minute + GiveUpAfter, "lsblk: the deadline; it does not end although it was killed"},
		"without a deadline": {func(t *testing.T) (context.Context, context.CancelFunc) {
			return context.WithCancel(t.Context())
		}, unbounded + GiveUpAfter, "lsblk: no end in 5m0s; it does not end although it was killed"},
		"of which nobody sees the end": {func(t *testing.T) (context.Context, context.CancelFunc) {
			return context.WithoutCancel(t.Context()), func() {}
		}, unbounded + GiveUpAfter, "lsblk: no end in 5m0s; it does not end although it was killed"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				ctx, cancel := tc.ctx(t)
				defer cancel()
				answers, late := make(chan struct{}), make(chan struct{})
				begin := time.Now()
				_, err := Output(ctx, func(_ context.Context, _ []string, line func(string)) error {
					<-answers
					line("too late: the caller has gone on")
					close(late)
					return nil
				}, "lsblk")
				g.Expect(err).To(MatchError(ErrStuck))
				g.Expect(err).To(MatchError(HavePrefix(tc.want)))
				g.Expect(time.Since(begin)).To(Equal(tc.after))
				close(answers)
				<-late
			})
		})
	}
}

// TestOutputIsStandardOutput: what a program warns of is for the log, not for whoever
// reads its answer.
func TestOutputIsStandardOutput(t *testing.T) {
	g := NewWithT(t)
	const script = `echo "lsblk: dm-3: failed to get device path" >&2; echo '{"blockdevices": []}'`
	out, err := Output(t.Context(), InRoot(hostfile.Dir{}), "sh", "-c", script)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(out).To(Equal("{\"blockdevices\": []}\n"))

	_, err = Output(t.Context(), InRoot(hostfile.Dir{}), "sh", "-c", "echo first >&2; echo no such device >&2; exit 32")
	g.Expect(err).To(MatchError("sh: exit status 32: no such device"), "the reason stands on standard error")

	var lines []string
	both := Root{Both: true}.Exec
	g.Expect(both(t.Context(), []string{"sh", "-c", "echo a; echo b >&2; echo c"}, func(l string) { lines = append(lines, l) })).To(Succeed())
	g.Expect(lines).To(Equal([]string{"a", "b", "c"}))
}

// TestAProgramEndsWithItsContext: what it has started itself ends as well, and a deaf
// one is killed.
func TestAProgramEndsWithItsContext(t *testing.T) {
	g := NewWithT(t)
	cause := errors.New("the step was cancelled")
	ctx, cancel := context.WithCancelCause(t.Context())
	ready := NewLineWriter(func(string) { cancel(cause) })
	p := Program{Path: "/bin/sh", Args: []string{"-c", `trap "" TERM; echo ready; while :; do sleep 1; done`}, Stdout: ready, KillAfter: 10 * time.Millisecond}
	g.Expect(p.Run(ctx)).To(MatchError(cause))
}

// TestEveryProgramIsStartedHere: [Program] is what gives a program up. Another way to
// start one on the host would have to be waited for without an end.
func TestEveryProgramIsStartedHere(t *testing.T) {
	g := NewWithT(t)
	var found []string
	for _, root := range []string{"../../agent", "../../customdeploy", "../../cmd/ironflow-agent", "../../cmd/ironflow-step"} {
		g.Expect(filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
			if err != nil {
				return err
			}
			for _, i := range file.Imports {
				if i.Path.Value == `"os/exec"` {
					found = append(found, path)
				}
			}
			return nil
		})).To(Succeed())
	}
	g.Expect(found).To(Equal([]string{"../../customdeploy/hostexec/program.go"}))
}
