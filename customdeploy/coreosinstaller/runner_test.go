package coreosinstaller_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/customdeploy/coreosinstaller"
	"github.com/ironflow/ironflow/customdeploy/hostexec"
)

// exit is an exit status as exec.ExitError has it.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit status %d", int(e)) }
func (e exit) ExitCode() int { return int(e) }

func TestTriesAndReasons(t *testing.T) {
	for name, tc := range map[string]struct {
		exec   hostexec.Exec
		tries  int
		after  time.Duration
		is     error
		reason string
	}{
		"fails each time": {func(_ context.Context, _ []string, line func(string)) error {
			line("> Read disk 1 GiB/2 GiB (50%)")
			line("Caused by: no space left")
			return exit(1)
		}, 3, 3 * time.Second, nil, "coreos-installer: Caused by: no space left (exit status 1)"},
		"missing, by env's status": {func(context.Context, []string, func(string)) error { return exit(127) }, 1, 0, coreosinstaller.ErrMissing, ""},
		"missing, by its name":     {func(context.Context, []string, func(string)) error { return hostexec.ErrMissing }, 1, 0, coreosinstaller.ErrMissing, ""},
		"silent": {func(ctx context.Context, _ []string, _ func(string)) error {
			<-ctx.Done()
			return exit(-1)
		}, 3, 33 * time.Second, coreosinstaller.ErrIdle, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				begin, tries := time.Now(), 0
				r := coreosinstaller.Runner{
					Idle: 10 * time.Second, Pauses: []time.Duration{time.Second, 2 * time.Second}, Progress: func(int, string) {}, Warn: func(error) {},
					Exec: func(ctx context.Context, argv []string, line func(string)) error {
						tries++
						return tc.exec(ctx, argv, line)
					},
				}
				err := r.Install(t.Context(), []string{"coreos-installer"})
				g.Expect(tries).To(Equal(tc.tries))
				g.Expect(time.Since(begin)).To(Equal(tc.after))
				if tc.is != nil {
					g.Expect(errors.Is(err, tc.is)).To(BeTrue(), "%v", err)
					return
				}
				g.Expect(err).To(MatchError(tc.reason))
				failed, ok := errors.AsType[*coreosinstaller.Error](err)
				g.Expect(ok).To(BeTrue())
				g.Expect(failed.Last).To(Equal([]string{"Caused by: no space left"}), "progress is no reason")
			})
		})
	}
}

// TestADiskThatHangsBetweenTwoTries: whoever looks at it before the next one hangs with it.
func TestADiskThatHangsBetweenTwoTries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, begin := NewWithT(t), time.Now()
		r := coreosinstaller.Runner{
			Idle: 10 * time.Minute, Pauses: []time.Duration{time.Second}, Progress: func(int, string) {}, Warn: func(error) {},
			Exec:  func(context.Context, []string, func(string)) error { return errors.New("exit status 1") },
			Again: func(ctx context.Context) error { <-ctx.Done(); return errors.New("lsblk was killed") },
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		err := r.Install(ctx, []string{"coreos-installer"})
		g.Expect(err).To(MatchError(ContainSubstring("it is not tried again: the disk could not be looked at in 10m0s: lsblk was killed")))
		g.Expect(time.Since(begin)).To(Equal(10*time.Minute + time.Second))
	})
}

func TestTheReasonIsTheInnermostCause(t *testing.T) {
	for name, tc := range map[string]struct {
		lines []string
		want  string
	}{
		"as 0.27 writes it": {
			[]string{"Error: decoding and writing image", "", "Caused by:", "    0: writing blocks", "    1: Input/output error (os error 5)", "Resetting partition table", "Error: install failed"},
			"coreos-installer: Input/output error (os error 5) (exit status 1)",
		},
		"one line":     {[]string{"Error: no such device"}, "coreos-installer: Error: no such device (exit status 1)"},
		"nothing else": {[]string{"Error: install failed"}, "coreos-installer: Error: install failed (exit status 1)"},
		"silence":      {nil, "coreos-installer: exit status 1"},
	} {
		t.Run(name, func(t *testing.T) {
			r := coreosinstaller.Runner{
				Idle: time.Minute, Progress: func(int, string) {}, Warn: func(error) {},
				Exec: func(_ context.Context, _ []string, line func(string)) error {
					for _, l := range tc.lines {
						line(l)
					}
					return exit(1)
				},
			}
			NewWithT(t).Expect(r.Install(t.Context(), []string{"coreos-installer"})).To(MatchError(tc.want))
		})
	}
}
