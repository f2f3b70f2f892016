package systemd

import (
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// EndInWords says how the main process ended, for people: "exited with status 3",
// "was killed by signal 9 (SIGKILL)". It is empty while no end is known.
func (p Properties) EndInWords() string {
	switch p.ExecMainCode {
	case Exited:
		return fmt.Sprintf("exited with status %d%s", p.ExecMainStatus, execFailure(p.ExecMainStatus))
	case Killed:
		return "was killed by signal " + signalName(p.ExecMainStatus)
	case Dumped:
		return "dumped core after signal " + signalName(p.ExecMainStatus)
	default:
		return ""
	}
}

func signalName(n int) string {
	name := unix.SignalName(syscall.Signal(n))
	if name == "" {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d (%s)", n, name)
}

// execFailures are the exit statuses with which systemd itself ends a process
// that it could not execute (systemd.exec(5), "Process Exit Codes"); only those
// that a broken live image can cause.
var execFailures = map[int]string{
	200: "its working directory is missing",
	202: "its file descriptors could not be set up",
	203: "the program is missing or cannot be executed",
	208: "its standard input could not be set up",
	209: "its standard output could not be set up",
	217: "its user does not exist",
	226: "its mount namespace could not be set up",
	243: "its credentials could not be set up",
}

func execFailure(status int) string {
	if text, ok := execFailures[status]; ok {
		return ": " + text
	}
	return ""
}
