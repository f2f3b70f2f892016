package vm

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"os"
)

// Screenshot writes what is on the machine's screen to the file as PNG.
func (m *Machine) Screenshot(ctx context.Context, path string) error {
	l, err := m.powered()
	if err != nil {
		return err
	}
	path, err = filepath.Abs(path)
	if err == nil {
		err = l.qmp.Execute(ctx, "screendump", map[string]any{"filename": path, "format": "png"}, nil)
	}
	if err != nil {
		return fmt.Errorf("machine %s: screenshot: %w", m.config.Name, err)
	}
	return nil
}

// ConsoleSocket is the Unix socket of the serial console of a machine that has
// power, for one who wants to type. All output is in the log, too.
func (m *Machine) ConsoleSocket() string { return filepath.Join(m.sockets, "console") }

// consolePoll is the time between two looks at the console.
const consolePoll = 200 * time.Millisecond

// Console is what the machine has written on its serial console so far, from
// the offset in bytes on.
func (m *Machine) Console(offset int64) (string, error) {
	raw, err := os.ReadFile(m.ConsoleLog())
	if os.IsNotExist(err) || err == nil && int64(len(raw)) < offset {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return string(raw[offset:]), nil
}

// WaitConsole waits until the text is on the serial console behind the offset in
// bytes, and returns the offset behind the line that has it.
func (m *Machine) WaitConsole(ctx context.Context, offset int64, text string) (int64, error) {
	tick := time.NewTicker(consolePoll)
	defer tick.Stop()
	for {
		all, err := m.Console(offset)
		if err != nil {
			return 0, err
		}
		if i := strings.Index(all, text); i >= 0 {
			rest := all[i+len(text):]
			line, _, _ := strings.Cut(rest, "\n")
			return offset + int64(i+len(text)+len(line)), nil
		}
		select {
		case <-ctx.Done():
			return 0, fmt.Errorf("machine %s: %q has not come on the console: %w", m.config.Name, text, context.Cause(ctx))
		case <-tick.C:
		}
	}
}
