package hostexec

import (
	"context"
	"log/slog"
	"time"

	"github.com/ironflow/ironflow/api/hostfile"
)

// killAfter is how long a cancelled command may take after SIGTERM.
const killAfter = 10 * time.Second

// Root runs commands in a host's root, as chroot(8) does; a missing program is the
// exit status 127. Its method Exec is an [Exec].
type Root struct {
	Host hostfile.Dir
	// Log gets what the commands write to standard error; nil drops it.
	Log *slog.Logger
	// Both hands the lines of standard error over as well, for programs that
	// show their progress there.
	Both bool
}

// InRoot is the [Exec] of a [Root] without a log.
func InRoot(host hostfile.Dir) Exec { return Root{Host: host}.Exec }

// Exec runs one command.
func (r Root) Exec(ctx context.Context, argv []string, line func(string)) error {
	out := NewLineWriter(line)
	defer out.Flush()
	// env searches PATH inside the root and says 127 when there is nothing.
	p := Program{
		Path: "/usr/bin/env", Name: argv[0], Args: argv, Root: r.Host.Path("/"), KillAfter: killAfter,
		Env: []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8"}, Stdout: out,
	}
	switch {
	case r.Both:
		p.Both = true
	case r.Log != nil:
		said := LogLines(r.Log, argv[0])
		defer said.Flush()
		p.Stderr = said
	}
	return p.Run(ctx)
}

// LogLines writes what a program says beside its output to a log.
func LogLines(log *slog.Logger, program string) *LineWriter {
	return NewLineWriter(func(line string) {
		if line != "" {
			log.Info("program says", "program", program, "line", line)
		}
	})
}
