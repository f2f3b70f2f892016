package hostexec

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/ironflow/ironflow/api/hostfile"
)

// killAfter is how long a cancelled command may take after SIGTERM.
const killAfter = 10 * time.Second

// InRoot runs commands in the host's root, as chroot(8) does; a missing program
// is the exit status 127.
func InRoot(host hostfile.Dir) Exec {
	return func(ctx context.Context, argv []string, line func(string)) error {
		r, w, err := os.Pipe()
		if err != nil {
			return err
		}
		defer r.Close()
		// env searches PATH inside the root and says 127 when there is nothing.
		cmd := exec.CommandContext(ctx, "/usr/bin/env", argv...)
		cmd.Stdout, cmd.Stderr = w, w
		cmd.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8"}
		cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
		cmd.WaitDelay = killAfter
		if root := host.Path("/"); root != "/" {
			cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root}
			cmd.Dir = "/"
		}
		err = cmd.Start()
		_ = w.Close()
		if err != nil {
			return err
		}
		copyLines(r, line)
		return cmd.Wait()
	}
}

// copyLines hands over each line; carriage returns end lines as well.
func copyLines(r io.Reader, line func(string)) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	lines.Split(func(data []byte, atEOF bool) (int, []byte, error) {
		if i := bytes.IndexAny(data, "\r\n"); i >= 0 {
			return i + 1, data[:i], nil
		}
		if atEOF && len(data) > 0 {
			return len(data), data, nil
		}
		return 0, nil, nil
	})
	for lines.Scan() {
		line(lines.Text())
	}
}
