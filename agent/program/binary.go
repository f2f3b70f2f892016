package program

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/api/version"
)

// Exit codes that all programs share.
const (
	// ExitUnknown is for a name that is no program.
	ExitUnknown = 1
	// ExitFlags is for flags that cannot be read.
	ExitFlags = 2
)

// Program is one of a binary's names.
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

// Binary is one file with the programs in it.
type Binary struct {
	// Name is the file's own name; called by it, the first argument is the program.
	Name string
	// Summary says in a few words what the binary is.
	Summary string
	// Programs are its names, in the order of the documentation.
	Programs []Program
}

// Main selects the program by argv and runs it. It returns the exit code.
func (b Binary) Main(ctx context.Context, s Streams, argv []string) int {
	name, args := filepath.Base(argv[0]), argv[1:]
	if b.find(name) == nil { // called by the binary's own name, or by any other
		if len(args) == 0 {
			b.usage(s.Err)
			return ExitUnknown
		}
		name, args = args[0], args[1:]
	}
	switch strings.TrimLeft(name, "-") {
	case "help", "h":
		b.usage(s.Out)
		return 0
	case "version":
		return b.version(s)
	}
	program := b.find(name)
	if program == nil {
		fmt.Fprintf(s.Err, "%q is no program of %s\n\n", name, b.Name)
		b.usage(s.Err)
		return ExitUnknown
	}
	if slices.Contains(args, "--version") || slices.Contains(args, "-version") {
		return b.version(s)
	}
	return program.Run(ctx, s, name, args)
}

func (b Binary) version(s Streams) int {
	fmt.Fprintln(s.Out, b.Name, version.String())
	return 0
}

func (b Binary) find(name string) *Program {
	if i := slices.IndexFunc(b.Programs, func(p Program) bool { return p.Name == name }); i >= 0 {
		return &b.Programs[i]
	}
	return nil
}

func (b Binary) usage(w io.Writer) {
	fmt.Fprintf(w, "%s is %s: one binary with many names.\n\n", b.Name, b.Summary)
	fmt.Fprintf(w, "Usage: %s PROGRAM [FLAGS]   (or a link named PROGRAM; PROGRAM --help shows its flags)\n\nPrograms:\n", b.Name)
	for _, p := range b.Programs {
		fmt.Fprintf(w, "  %-30s %s\n", p.Name, p.Summary)
	}
}
