// Package logging sets up the host programs' logs: to the journal with the
// field TAG that hubs and support scripts look for, to stderr where no journal
// is, and, if asked for, to a text file. A copy of the newest lines stays in
// memory, so that a log bundle has them even where no journal can be read.
package logging

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/coreos/go-systemd/v22/journal"

	"github.com/ironflow/ironflow/api/hostfile"
)

// Tag is the journal's field TAG of every program of this binary.
const Tag = "agent"

// Options say where logs go.
type Options struct {
	// Text writes to /var/log/NAME.log below the root.
	Text bool
	// Journal writes to the journal of the machine, if there is one and the root is "/".
	Journal bool
	// Stdout adds a copy to stderr; stdout belongs to the programs' output.
	Stdout bool
	// Name is the program's, for the text file.
	Name string
	// Dir resolves the text file's path.
	Dir hostfile.Dir
	// DryID marks lines of a dry run, empty otherwise.
	DryID string
}

// Setup returns the logger and the memory of its newest lines. closeLog ends the
// text file; what could not be written by then is lost.
func Setup(o Options) (log *slog.Logger, ring *Ring, closeLog func(), err error) {
	ring = &Ring{}
	handlers := []slog.Handler{slog.NewTextHandler(ring, nil)}
	closeLog = func() {}
	useJournal := o.Journal && (o.Dir.Root == "" || o.Dir.Root == "/") && journal.Enabled()
	if useJournal {
		fields := map[string]string{"TAG": Tag, "SYSLOG_IDENTIFIER": o.Name}
		if o.DryID != "" {
			fields["DRY_AGENT_ID"] = o.DryID
		}
		handlers = append(handlers, journalHandler{fields: fields})
	}
	if !useJournal || o.Stdout {
		handlers = append(handlers, slog.NewTextHandler(os.Stderr, nil))
	}
	if o.Text {
		path := o.Dir.Path("/var/log/" + o.Name + ".log")
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return nil, nil, nil, fmt.Errorf("log file: %w", err)
		}
		file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, nil, nil, fmt.Errorf("log file: %w", err)
		}
		closeLog = func() { _ = file.Close() }
		handlers = append(handlers, slog.NewTextHandler(file, nil))
	}
	return slog.New(slog.NewMultiHandler(handlers...)), ring, closeLog, nil
}

// journalHandler writes records to the journal: the attributes behind the message.
type journalHandler struct {
	fields map[string]string
	attrs  []slog.Attr
	group  string
}

func (h journalHandler) Enabled(_ context.Context, level slog.Level) bool {
	return level >= slog.LevelInfo
}

func (h journalHandler) Handle(_ context.Context, r slog.Record) error {
	var line strings.Builder
	line.WriteString(r.Message)
	add := func(a slog.Attr) bool {
		fmt.Fprintf(&line, " %s%s=%q", h.group, a.Key, a.Value.String())
		return true
	}
	for _, a := range h.attrs {
		add(a)
	}
	r.Attrs(add)
	return journal.Send(line.String(), priority(r.Level), h.fields)
}

func (h journalHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	h.attrs = append(append([]slog.Attr{}, h.attrs...), attrs...)
	return h
}

func (h journalHandler) WithGroup(name string) slog.Handler {
	h.group += name + "."
	return h
}

func priority(level slog.Level) journal.Priority {
	switch {
	case level >= slog.LevelError:
		return journal.PriErr
	case level >= slog.LevelWarn:
		return journal.PriWarning
	default:
		return journal.PriInfo
	}
}
