package vm

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// The names of the files of a machine's consoles in its folder.
const (
	ConsoleFile = "console.log"
	JournalFile = "journal.log"
)

// ConsoleLog is the file that has all that the machine wrote on its serial
// console, over all starts.
func (m *Machine) ConsoleLog() string { return filepath.Join(m.config.Dir, ConsoleFile) }

// ConsoleSocket is the Unix socket of the serial console of a machine that has
// power, for one who wants to type. All output is in the log, too.
func (m *Machine) ConsoleSocket() string { return filepath.Join(m.sockets, "console") }

// Type types on the serial console of a machine that has power. The text ends
// with "\n" where somebody would press Enter.
func (m *Machine) Type(ctx context.Context, text string) error {
	l, err := m.powered()
	if err != nil {
		return err
	}
	keyboard, err := l.openKeyboard(ctx)
	if err == nil {
		_, err = io.WriteString(keyboard, text)
	}
	if err != nil {
		return fmt.Errorf("machine %s: type on the console: %w", m.config.Name, err)
	}
	return nil
}

// openKeyboard connects to the console once. It stays connected: QEMU drops what
// it has not read yet when a connection ends.
func (l *life) openKeyboard(ctx context.Context) (net.Conn, error) {
	l.machine.mu.Lock()
	defer l.machine.mu.Unlock()
	if l.keyboard != nil {
		return l.keyboard, nil
	}
	conn, err := new(net.Dialer).DialContext(ctx, "unix", l.machine.ConsoleSocket())
	if err != nil {
		return nil, err
	}
	l.keyboard = conn
	context.AfterFunc(l.ctx, func() { _ = conn.Close() })
	// What comes is in the log, and must not pile up.
	go func() { _, _ = io.Copy(io.Discard, conn) }()
	return conn, nil
}

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
