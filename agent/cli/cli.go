// Package cli is the command line of the host agent: one binary with many names, of
// which each is a program (see package program).
package cli

import (
	"context"
	"slices"

	"github.com/ironflow/ironflow/agent/program"
)

// BinaryName is the name of the binary itself, which takes the program as its first argument.
const BinaryName = "ironflow-agent"

// Programs lists all names in the order of the documentation.
func Programs() []program.Program {
	list := []program.Program{
		{Name: "agent", Summary: "register with the hub, run its steps, install the host", Run: runAgent},
		{Name: "next_step_runner", Summary: "poll the hub for a host that is registered already", Run: runAgent},
		{Name: "inventory", Summary: "print the inventory as JSON", Run: runInventory},
		{Name: "logs_sender", Summary: "collect logs and send them to the hub", Run: runLogsSender},
		{Name: "installer", Summary: "install this host as the flags say; the program agent needs no other installer", Run: runInstaller},
		{Name: "write-reason", Summary: "add to the reason file how systemd saw the agent end (for ExecStopPost of its unit)", Run: runWriteReason},
	}
	return slices.Concat(list, stepPrograms(), imageTools())
}

// Main selects the program by argv and runs it. It returns the exit code.
func Main(ctx context.Context, s program.Streams, argv []string) int {
	return program.Binary{Name: BinaryName, Summary: "the host agent of Ironflow", Programs: Programs()}.Main(ctx, s, argv)
}
