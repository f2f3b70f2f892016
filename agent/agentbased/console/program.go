package console

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/ironflow/ironflow/agent/agentbased/connections"
	"github.com/ironflow/ironflow/agent/agentbased/messages"
	"github.com/ironflow/ironflow/agent/agentbased/pause"
	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/api/hostfile"
)

const (
	// width and height are the least terminal.
	width, height = 80, 24
	// again is how often a check that failed is repeated while nobody types.
	again = 10 * time.Second
	// fresh clears the screen and goes to its first line.
	fresh = "\x1b[2J\x1b[H"
	// settle is how long NetworkManager gets before the next check.
	settle = 3 * time.Second
)

// Program is the dialogue.
type Program struct {
	Dir      hostfile.Dir
	In       io.Reader
	Out      io.Writer
	Commands command.Runner
	Log      *slog.Logger
	// Messages say what is on the screen to those who cannot see it: nothing else of this host
	// begins before the dialogue ends.
	Messages *messages.Console
	// Check is [Registry.Check].
	Check func(ctx context.Context, image string, sources []Source) Result
	// Interfaces are the host's.
	Interfaces func() ([]Interface, error)
}

// Run returns once the registry answers, or a person goes on without. A host that does not
// know its release has nothing to check.
func (p Program) Run(ctx context.Context) error {
	image, sources, err := Release(p.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		p.Log.InfoContext(ctx, "no release to check", "file", places.ClusterImageSet)
		return nil
	}
	if err != nil {
		return err
	}
	lines := read(ctx, p.In)
	for {
		result := p.Check(ctx, image, sources)
		if result.OK() {
			p.Log.InfoContext(ctx, "a registry of the release answers", "release", image)
			p.show(screen(result, nil))
			p.Messages.Clear(ctx, messages.SlotRegistry)
			return nil
		}
		last := result.Steps[len(result.Steps)-1]
		failed := []string{image, last.What + ": " + plain(last.Err.Error())}
		p.Log.WarnContext(ctx, "no registry of the release can be reached", "release", image, "error", last.Err)
		p.Messages.Show(ctx, messages.RegistryUnreachable, failed...)
		interfaces, err := p.Interfaces()
		if err != nil {
			p.Log.WarnContext(ctx, "no list of interfaces", "error", err)
		}
		p.show(screen(result, interfaces))
		done, err := p.menu(ctx, lines, cards(interfaces))
		if done && err == nil {
			p.Messages.Show(ctx, messages.RegistryPassedOver, failed...)
		}
		if done || err != nil {
			return err
		}
	}
}

// menu waits for what a person wants, and not for ever.
func (p Program) menu(ctx context.Context, lines <-chan string, names []string) (done bool, err error) {
	p.print("Enter: check again   n: network   c: continue without   > ")
	timer := time.NewTimer(again)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return true, context.Cause(ctx)
	case <-timer.C:
		return false, nil
	case line, open := <-lines:
		switch {
		case !open: // nobody can type: only the checks go on
			return false, pause.For(ctx, again)
		case line == "c":
			p.Log.InfoContext(ctx, "a person goes on without the registry")
			return true, nil
		case line == "n":
			return false, p.network(ctx, lines, names)
		}
		return false, nil
	}
}

// network asks for the settings of an interface and applies them. An empty answer to the
// first question leaves everything as it is.
func (p Program) network(ctx context.Context, lines <-chan string, names []string) error {
	var s settings
	questions := []struct {
		text   string
		static bool // only asked for an address that a person gives
		take   func(string) error
	}{
		{"Ethernet interface (" + strings.Join(names, ", ") + "), empty to go back: ", false, func(text string) error {
			if slices.Contains(names, text) {
				s.nic = text
				return nil
			}
			return fmt.Errorf("there is no Ethernet interface %q", text)
		}},
		{"Address with prefix (192.0.2.10/24, 2001:db8::10/64), or dhcp: ", false, s.parseAddress},
		{"Gateway, empty for none: ", true, s.parseGateway},
		{"Name servers, with commas, empty for none: ", false, s.parseDNS},
	}
	for n, q := range questions {
		if q.static && s.dhcp {
			continue
		}
		for {
			p.print(q.text)
			line, err := next(ctx, lines)
			if err != nil || (n == 0 && line == "") {
				return err
			}
			wrong := q.take(line)
			if wrong == nil {
				break
			}
			p.print("  " + plain(wrong.Error()) + "\n")
		}
	}
	return p.apply(ctx, &s)
}

// apply has NetworkManager activate the connection.
func (p Program) apply(ctx context.Context, s *settings) error {
	file := places.Keyfiles + "/" + s.name() + connections.Suffix
	if err := p.activate(ctx, file, s); err != nil {
		p.print("  The settings cannot be applied: " + plain(err.Error()) + "\n")
		p.Log.ErrorContext(ctx, "the settings of an interface cannot be applied", "interface", s.nic, "error", err)
	} else {
		p.print("  " + s.nic + " gets its settings …\n")
		p.Log.InfoContext(ctx, "a person has set up an interface", "interface", s.nic, "file", file)
	}
	return pause.For(ctx, settle)
}

func (p Program) activate(ctx context.Context, file string, s *settings) error {
	if err := places.Write(p.Dir, file, []byte(s.keyfile()), 0o600); err != nil {
		return err
	}
	loaded, err := connections.Load(ctx, p.Dir, p.Commands, file)
	if err != nil {
		return err
	}
	return loaded.Activate(ctx)
}

func (p Program) show(lines []string) { p.print(fresh + strings.Join(lines, "\n") + "\n") }

// print writes to the terminal; one that has gone away does not matter.
func (p Program) print(text string) { _, _ = io.WriteString(p.Out, text) }

// read sends the lines that a person types, trimmed, until the terminal is closed.
func read(ctx context.Context, in io.Reader) <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		for scanner := bufio.NewScanner(in); scanner.Scan(); {
			select {
			case lines <- strings.TrimSpace(scanner.Text()):
			case <-ctx.Done():
				return
			}
		}
	}()
	return lines
}

func next(ctx context.Context, lines <-chan string) (string, error) {
	select {
	case <-ctx.Done():
		return "", context.Cause(ctx)
	case line, open := <-lines:
		if !open {
			return "", errors.New("the terminal is closed")
		}
		return line, nil
	}
}
