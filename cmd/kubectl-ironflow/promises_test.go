package main

import (
	"testing"

	"github.com/ironflow/ironflow/test/upgrade/promise"
)

// TestCommandsAndFlagsStay: scripts of before call them.
func TestCommandsAndFlagsStay(t *testing.T) {
	promise.Kept(t, "../..", promise.Flags("kubectl-ironflow"), promise.OfCommand(newCommand()), *update)
}
