package hostexec

import (
	"context"
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
		lines := NewLineWriter(line)
		defer lines.Flush()
		// env searches PATH inside the root and says 127 when there is nothing.
		cmd := exec.CommandContext(ctx, "/usr/bin/env", argv...)
		cmd.Stdout, cmd.Stderr = lines, lines
		cmd.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8"}
		cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
		cmd.WaitDelay = killAfter
		if root := host.Path("/"); root != "/" {
			cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root}
			cmd.Dir = "/"
		}
		return cmd.Run()
	}
}
