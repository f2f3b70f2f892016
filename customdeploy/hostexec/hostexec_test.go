package hostexec

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/hostfile"
)

func TestOutputLines(t *testing.T) {
	g := NewWithT(t)
	long := strings.Repeat("x", maxLine)
	for text, want := range map[string][]string{
		"a\r> (1%)\r> (2%)\nlast": {"a", "> (1%)", "> (2%)", "last"},
		"one\n\ntwo\n":            {"one", "", "two"},
		long + "\nb":              {long, "b"},
		long + "yy\nb":            {long, "yy", "b"},
	} {
		for _, size := range []int{1, 7, len(text)} { // what is written at once does not matter
			var got []string
			w := NewLineWriter(func(l string) { got = append(got, l) })
			for rest := text; rest != ""; rest = rest[min(size, len(rest)):] {
				_, _ = w.Write([]byte(rest[:min(size, len(rest))]))
			}
			w.Flush()
			g.Expect(got).To(Equal(want))
		}
	}
}

func TestRunInRoot(t *testing.T) {
	g := NewWithT(t)
	var got []string
	err := InRoot(hostfile.Dir{})(t.Context(), []string{"sh", "-c", "printf 'one\ntwo'; exit 3"}, func(l string) { got = append(got, l) })
	g.Expect(ExitStatus(err)).To(Equal(3))
	g.Expect(got).To(Equal([]string{"one", "two"}))
	err = InRoot(hostfile.Dir{})(t.Context(), []string{"no-such-program-anywhere"}, func(string) {})
	g.Expect(Missing(err)).To(BeTrue())
}

// exit is an exit status as exec.ExitError has it.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit status %d", int(e)) }
func (e exit) ExitCode() int { return int(e) }

func TestOutputOfAFailure(t *testing.T) {
	fails := func(err error) Exec {
		return func(_ context.Context, _ []string, line func(string)) error {
			line("first")
			line("no such device")
			return err
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("the deadline"))
	for name, tc := range map[string]struct {
		ctx  context.Context
		err  error
		want string
	}{
		"exit status":            {t.Context(), exit(32), "lsblk: exit status 32: no such device"},
		"one that names itself":  {t.Context(), errors.New("lsblk: exit status 32: it says more"), "lsblk: exit status 32: it says more"},
		"stopped by its context": {ctx, exit(-1), "lsblk: the deadline"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Output(tc.ctx, fails(tc.err), "lsblk")
			NewWithT(t).Expect(err).To(MatchError(tc.want))
		})
	}
}

func TestMissingPrograms(t *testing.T) {
	g := NewWithT(t)
	g.Expect(Missing(exit(127))).To(BeTrue())
	g.Expect(Missing(fmt.Errorf("mdadm: %w", ErrMissing))).To(BeTrue())
	g.Expect(Missing(exit(1))).To(BeFalse())
	g.Expect(Missing(nil)).To(BeFalse())
}
