//go:build !standin

package main

import (
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/systemd"
	"github.com/ironflow/ironflow/customdeploy/systemd/sdbus"
)

// newUnits returns the host's systemd, which has nothing to end.
func newUnits(host hostfile.Dir) (units systemd.Manager, end func()) {
	return sdbus.New(sdbus.Address(host), host), func() {}
}
