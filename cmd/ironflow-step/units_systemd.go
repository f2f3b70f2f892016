//go:build !standin

package main

import (
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/systemd/sdbus"
)

// newUnits returns the host's systemd; it connects when a step first asks.
func newUnits(host hostfile.Dir) *sdbus.Manager {
	return sdbus.New(sdbus.Address(host), host)
}
