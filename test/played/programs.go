// Package played plays a host to the agent's packages: the programs that they
// start, and files.
package played

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/customdeploy/hostexec"
)

// Program plays one program: it writes its output and returns the error of
// [command.Runner].
type Program func(ctx context.Context, c command.Command) error

// Programs is a [command.Runner] that starts nothing. A command line that no
// program was set for succeeds and writes nothing. The zero value is ready.
type Programs struct {
	mu    sync.Mutex
	plays []play
	ran   []command.Command
}

type play struct {
	prefix  string
	program Program
}

// On sets what plays command lines that begin with the prefix; "" is every
// line. What was set later goes first.
func (p *Programs) On(prefix string, program Program) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.plays = slices.Insert(p.plays, 0, play{prefix, program})
}

// Run implements [command.Runner].
func (p *Programs) Run(ctx context.Context, c command.Command) error {
	line := Line(c)
	p.mu.Lock()
	p.ran = append(p.ran, c)
	i := slices.IndexFunc(p.plays, func(s play) bool { return strings.HasPrefix(line, s.prefix) })
	program := Says("")
	if i >= 0 {
		program = p.plays[i].program
	}
	p.mu.Unlock()
	return program(ctx, c)
}

// Ran returns the commands so far whose line begins with the prefix.
func (p *Programs) Ran(prefix string) []command.Command {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(p.ran), func(c command.Command) bool { return !strings.HasPrefix(Line(c), prefix) })
}

// Lines returns the command lines so far, in order; nil for none.
func (p *Programs) Lines() []string {
	var lines []string
	for _, c := range p.Ran("") {
		lines = append(lines, Line(c))
	}
	return lines
}

// Line is a command as one line, such as "podman pull quay.example/agent:v1".
func Line(c command.Command) string { return strings.Join(append([]string{c.Name}, c.Args...), " ") }

// Says is a program that writes the text to standard output and succeeds.
func Says(text string) Program {
	return func(_ context.Context, c command.Command) error {
		if c.Stdout == nil {
			return nil
		}
		_, err := io.WriteString(c.Stdout, text)
		return err
	}
}

// Fails is a program that ends with the status. Its last line goes to standard
// error, and into the error as [command.Runner] keeps it.
func Fails(code int, last string) Program {
	return func(_ context.Context, c command.Command) error {
		if c.Stderr != nil && last != "" {
			fmt.Fprintln(c.Stderr, last)
		}
		return &command.ExitError{Name: c.Name, Code: code, Last: last}
	}
}

// Hangs is a program that ends only when it is stopped.
func Hangs(ctx context.Context, c command.Command) error {
	<-ctx.Done()
	return fmt.Errorf("%s: %w", c.Name, context.Cause(ctx))
}

// Missing is a program that the host does not have.
func Missing(context.Context, command.Command) error { return hostexec.ErrMissing }

// Times plays the first program that often, and then the other.
func Times(n int, first, then Program) Program {
	var mu sync.Mutex
	return func(ctx context.Context, c command.Command) error {
		mu.Lock()
		program := then
		if n > 0 {
			n, program = n-1, first
		}
		mu.Unlock()
		return program(ctx, c)
	}
}
