//go:build standin

package main

import (
	"os"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/systemd"
	"github.com/ironflow/ironflow/customdeploy/systemd/sdbus"
	"github.com/ironflow/ironflow/customdeploy/systemd/standin"
)

// closer is a manager that has something to end.
type closer interface {
	systemd.Manager
	Close()
}

// newUnits returns the stand-in when its environment variable is set, and the
// host's systemd otherwise.
func newUnits(host hostfile.Dir) closer {
	if dir := os.Getenv(standin.BinEnv); dir != "" {
		return standin.New(host, dir)
	}
	return sdbus.New(sdbus.Address(host), host)
}
