//go:build standin

package main

import (
	"os"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/systemd"
	"github.com/ironflow/ironflow/customdeploy/systemd/sdbus"
	"github.com/ironflow/ironflow/customdeploy/systemd/standin"
)

// newUnits returns the stand-in when its environment variable is set, and the
// host's systemd otherwise.
func newUnits(host hostfile.Dir) (units systemd.Manager, end func()) {
	if dir := os.Getenv(standin.BinEnv); dir != "" {
		simulated := standin.New(host, dir)
		return simulated, simulated.Close
	}
	return sdbus.New(sdbus.Address(host), host), func() {}
}
