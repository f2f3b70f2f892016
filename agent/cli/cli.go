// Package cli is the command line of the one binary with many names: a table
// from name to program. The base name of argv[0] selects the program, so links
// work as in older images; `ironflow-agent NAME` works as well.
package cli

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/api/version"
)

// BinaryName is the name of the binary itself, which takes the program as its first argument.
const BinaryName = "ironflow-agent"

// exitUnknown is the exit code for a name that is no program.
const exitUnknown = 1

// Program is one of the names.
type Program struct {
	Name string
	// Summary says in one line what it does.
	Summary string
	// Run runs it with the arguments behind the name and returns the exit code.
	Run func(ctx context.Context, s Streams, name string, args []string) int
}

// Streams are the standard streams of a program.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Programs lists all names in the order of the documentation.
func Programs() []Program {
	list := []Program{
		{"agent", "register with the hub, run its steps, install the host", runAgent},
		{"next_step_runner", "poll the hub for a host that is registered already", runAgent},
		{"inventory", "print the inventory as JSON", runInventory},
		{"logs_sender", "collect logs and send them to the hub", runLogsSender},
		{"installer", "install this host by an order on the command line; agent does it by itself", runInstaller},
		{"write-reason", "add systemd's view of the agent's end to the reason file (ExecStopPost)", runWriteReason},
		{"agent-installer-client", "register, configure and import at the hub of an agent-based installation, by the environment", runInstallerClient},
	}
	return slices.Concat(list, stepPrograms(), imageTools(), agentBased())
}

// Main selects the program by argv and runs it. It returns the exit code.
func Main(ctx context.Context, s Streams, argv []string) int {
	name, args := filepath.Base(argv[0]), argv[1:]
	if find(name) == nil { // called by the binary's own name, or by any other
		if len(args) == 0 {
			usage(s.Err)
			return exitUnknown
		}
		name, args = args[0], args[1:]
	}
	switch strings.TrimLeft(name, "-") {
	case "help", "h":
		usage(s.Out)
		return 0
	case "version":
		return printVersion(s)
	}
	program := find(name)
	if program == nil {
		fmt.Fprintf(s.Err, "%q is no program of %s\n\n", name, BinaryName)
		usage(s.Err)
		return exitUnknown
	}
	if slices.Contains(args, "--version") || slices.Contains(args, "-version") {
		return printVersion(s)
	}
	return program.Run(ctx, s, name, args)
}

func printVersion(s Streams) int {
	fmt.Fprintln(s.Out, BinaryName, version.String())
	return 0
}

func find(name string) *Program {
	programs := Programs()
	if i := slices.IndexFunc(programs, func(p Program) bool { return p.Name == name }); i >= 0 {
		return &programs[i]
	}
	return nil
}

func usage(w io.Writer) {
	fmt.Fprintf(w, "%s is the host agent of Ironflow: one binary with many names.\n\n", BinaryName)
	fmt.Fprintf(w, "Usage: %s PROGRAM [FLAGS]   (or a link named PROGRAM; PROGRAM --help shows its flags)\n\nPrograms:\n", BinaryName)
	for _, p := range Programs() {
		fmt.Fprintf(w, "  %-30s %s\n", p.Name, p.Summary)
	}
}
