// Package connections has NetworkManager use connections that have come while it runs: those that a
// person has typed, and those of a config image. A restart would not do: NetworkManager goes on with
// the connection that an interface has, whatever the priority of another one is. [Load] reads
// keyfiles, [Set.Activate] puts them in the place of what the interfaces have.
package connections

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/api/hostfile"
)

const (
	// Suffix ends the names of keyfiles.
	Suffix = ".nmconnection"
	// wait is how long the end of an activation is waited for, in seconds; one that takes longer,
	// such as with DHCP, goes on.
	wait = "30"
)

// connection is what a keyfile says of the order in which it is activated.
type connection struct {
	id, uuid, device string
	// controller and parent name another interface, or its connection, which this one is a port of,
	// or lies on; empty for none.
	controller, parent string
	// held says that it is not to come up by itself.
	held bool
}

// Set are connections that NetworkManager knows.
type Set struct {
	commands command.Runner
	all      []*connection
}

// Load has NetworkManager read the keyfiles below dir.
func Load(ctx context.Context, dir hostfile.Dir, commands command.Runner, files ...string) (Set, error) {
	s := Set{commands: commands}
	if len(files) == 0 {
		return s, nil
	}
	for _, file := range files {
		raw, err := os.ReadFile(dir.Path(file))
		if err != nil {
			return s, err
		}
		s.all = append(s.all, parse(strings.TrimSuffix(path.Base(file), Suffix), string(raw)))
	}
	return s, commands.Run(ctx, command.Command{Name: "nmcli", Args: append([]string{"connection", "load"}, files...)})
}

// parse reads a keyfile; name is its connection's where it does not say one.
func parse(name, keyfile string) *connection {
	c, section := &connection{id: name}, ""
	for line := range strings.Lines(keyfile) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section = line
			continue
		}
		key, value, _ := strings.Cut(line, "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		switch {
		case key == "parent":
			c.parent = value
		case section != "[connection]":
		case key == "id":
			c.id = value
		case key == "uuid":
			c.uuid = value
		case key == "interface-name":
			c.device = value
		case key == "master" || key == "controller":
			c.controller = value
		case key == "autoconnect":
			c.held = value == "false" || value == "0"
		}
	}
	return c
}

// Activate puts the connections in the place of those that their interfaces have. The error joins
// what cannot be activated now; NetworkManager does that once it can, such as when a cable is
// plugged in.
func (s Set) Activate(ctx context.Context) error {
	var errs []error
	up := map[*connection]bool{}
	for _, c := range s.ordered() {
		switch {
		case c.held:
			continue
		case slices.ContainsFunc(s.all, func(port *connection) bool { return up[port] && c.is(port.controller) }):
			up[c] = true // it has come up with its port; once more would take that away
			continue
		}
		if err := s.commands.Run(ctx, command.Command{Name: "nmcli", Args: c.words()}); err != nil {
			errs = append(errs, fmt.Errorf("connection %s: %w", c.id, err))
			continue
		}
		up[c] = true
	}
	return errors.Join(errs...)
}

// words are nmcli's. Two connections may have the same id.
func (c *connection) words() []string {
	words := []string{"--wait", wait, "connection", "up", "id", c.id}
	if c.uuid != "" {
		words = []string{"--wait", wait, "connection", "up", "uuid", c.uuid}
	}
	if c.device != "" {
		words = append(words, "ifname", c.device)
	}
	return words
}

// is tells whether a keyfile's name of an interface or a connection means this one.
func (c *connection) is(name string) bool {
	return name != "" && (name == c.device || name == c.uuid || name == c.id)
}

// ordered has ports before their controllers, which come up with them, and what lies on an interface
// after that.
func (s Set) ordered() []*connection {
	var out []*connection
	seen := map[*connection]bool{}
	var visit func(c *connection)
	visit = func(c *connection) {
		if seen[c] {
			return
		}
		seen[c] = true
		for _, other := range s.all {
			if c.is(other.controller) || other.is(c.parent) {
				visit(other)
			}
		}
		out = append(out, c)
	}
	for _, c := range s.all {
		visit(c)
	}
	return out
}
