// Package pause is the program that holds a pod's namespaces.
package pause

import (
	"os"
	"os/signal"
	"syscall"
)

// Main waits until it is told to end, and takes in the children that others
// leave behind, as the pause program of Kubernetes does: it is process 1 of a
// pod that shares its process namespace. The result is the exit status.
func Main() int {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGCHLD)
	reap() // whoever has ended before the line above sends no signal any more
	for s := range signals {
		if s != syscall.SIGCHLD {
			return 0
		}
		reap()
	}
	return 0
}

// reap takes in every child that has ended: one signal may stand for several.
func reap() {
	for {
		pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || pid <= 0 {
			return
		}
	}
}
