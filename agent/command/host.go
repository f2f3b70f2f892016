package command

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/hostexec"
)

// killAfter is how long a stopped program may take after SIGTERM: the protocol
// gives an installer that is stopped five seconds.
const killAfter = 5 * time.Second

// path is where programs are looked for, in this order.
var path = []string{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"}

// Host runs programs in the root directory of a host.
type Host struct {
	// Dir is the host's root; a program of another root than "/" runs in it by chroot.
	Dir hostfile.Dir
	// Log gets one line for each program, without its arguments' secrets: there are none.
	Log *slog.Logger
	// Started, if set, is told of every program that is started.
	Started func(c Command)
}

// Run implements [Runner].
func (h Host) Run(ctx context.Context, c Command) error {
	if !isAllowed(c.Name) {
		return fmt.Errorf("%s: %w", c.Name, ErrNotAllowed)
	}
	root := filepath.Clean(h.Dir.Path(cmp.Or(c.Root, "/")))
	program, err := find(root, c.Name)
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", c.Name, context.Cause(ctx))
	}
	if h.Log != nil {
		h.Log.Debug("program started", "program", c.Name, "args", c.Args)
	}
	if h.Started != nil {
		h.Started(c)
	}
	return hostexec.Program{
		Path: program, Args: c.Args, Root: root, KillAfter: killAfter, Stdin: c.Stdin, Stdout: c.Stdout, Stderr: c.Stderr,
		Env: append([]string{"PATH=" + strings.Join(path, ":"), "LANG=C.UTF-8"}, c.Env...),
	}.Run(ctx)
}

// find returns the program's path as seen from inside the root.
func find(root, name string) (string, error) {
	for _, folder := range path {
		file := filepath.Join(folder, name)
		info, err := os.Stat(filepath.Join(root, file))
		if err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return file, nil
		}
	}
	return "", fmt.Errorf("%s: %w", name, hostexec.ErrMissing)
}
