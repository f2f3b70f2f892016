package coreosinstaller_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/coreosinstaller"
	"github.com/ironflow/ironflow/customdeploy/hostexec"
	"github.com/ironflow/ironflow/test/needs"
)

// brokenDisk is a real block device of 64 MiB that can keep four: its file lies on a
// file system of that size.
func brokenDisk(t *testing.T) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("a loop device needs root")
	}
	losetup := needs.Program(t, "losetup", "mount")
	folder := t.TempDir()
	if err := unix.Mount("tmpfs", folder, "tmpfs", 0, "size=4m"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Unmount(folder, unix.MNT_DETACH) })
	file := filepath.Join(folder, "disk")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(file, 64<<20); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), losetup, "--find", "--show", file).Output()
	if err != nil {
		t.Fatal(err)
	}
	disk := strings.TrimSpace(string(out))
	t.Cleanup(func() { _ = exec.Command(losetup, "--detach", disk).Run() }) // after the test's context
	return disk
}

// TestADiskThatFailsIsNoticedWhileItIsWritten: the kernel takes what is written into
// its memory and says that all is well, while the disk loses it. The installer of this
// test writes more than the disk can keep, gets no error, and goes on for ever.
func TestADiskThatFailsIsNoticedWhileItIsWritten(t *testing.T) {
	g := NewWithT(t)
	disk, tries := brokenDisk(t), 0
	r := coreosinstaller.Runner{
		Idle: time.Hour, Pauses: []time.Duration{0, 0}, Progress: func(int, string) {}, Warn: func(err error) { t.Error(err) },
		Disk: disk, Query: hostexec.InRoot(hostfile.Dir{}), Pause: 10 * time.Millisecond,
		Exec: func(ctx context.Context, _ []string, line func(string)) error {
			tries++
			f, err := os.OpenFile(disk, os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			defer f.Close()
			for range 32 {
				if _, err := f.Write(make([]byte, 1<<20)); err != nil {
					return err
				}
			}
			line("> Read disk 32 MiB/2.5 GiB (1%)")
			line("Installing")
			<-ctx.Done()
			return exit(-1)
		},
	}
	err := r.Install(t.Context(), []string{"coreos-installer"})
	g.Expect(err).To(MatchError(coreosinstaller.ErrDisk))
	g.Expect(err).To(MatchError("what was written did not reach the disk: sync: error syncing '" + disk + "': Input/output error"))
	g.Expect(tries).To(Equal(1), "a disk that has lost something is not tried again")
}

func TestWhatIsHeardOfTheDisk(t *testing.T) {
	says := func(text string) hostexec.Exec {
		return func(context.Context, []string, func(string)) error {
			return &hostexec.ExitError{Name: "sync", Code: 1, Last: text}
		}
	}
	for name, tc := range map[string]struct {
		query hostexec.Exec
		err   error
		warns bool
	}{
		"nothing":                    {query: func(context.Context, []string, func(string)) error { return nil }},
		"an error":                   {query: says("sync: error syncing '/dev/sda': Input/output error"), err: coreosinstaller.ErrDisk},
		"that it was pulled out":     {query: says("sync: error opening '/dev/sda': No such device or address"), err: coreosinstaller.ErrDisk},
		"an older sync":              {query: says("sync: unrecognized option '--data'"), warns: true},
		"no sync":                    {query: func(context.Context, []string, func(string)) error { return hostexec.ErrMissing }, warns: true},
		"no end until it is stopped": {query: func(ctx context.Context, _ []string, _ func(string)) error { <-ctx.Done(); return exit(-1) }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				var warned []error
				r := coreosinstaller.Runner{
					Idle: time.Hour, Progress: func(int, string) {}, Warn: func(err error) { warned = append(warned, err) },
					Disk: "/dev/sda", Query: func(ctx context.Context, argv []string, line func(string)) error {
						g.Expect(argv).To(Equal([]string{"sync", "--data", "/dev/sda"}))
						return tc.query(ctx, argv, line)
					},
					Exec: func(ctx context.Context, _ []string, _ func(string)) error {
						select {
						case <-ctx.Done():
							return exit(-1)
						case <-time.After(time.Minute):
							return nil
						}
					},
				}
				err := r.Install(t.Context(), []string{"coreos-installer"})
				if tc.err == nil {
					g.Expect(err).NotTo(HaveOccurred())
				} else {
					g.Expect(errors.Is(err, tc.err)).To(BeTrue(), "%v", err)
				}
				g.Expect(len(warned) > 0).To(Equal(tc.warns), "%v", warned)
			})
		})
	}
}
