// Package logging sets up the host programs' logs: to the journal with the
// field TAG that hubs and support scripts look for, to stderr where no journal
// is, and, if asked for, to a text file. A copy of the newest lines stays in
// memory, so that a log bundle has them even where no journal can be read.
package logging

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/coreos/go-systemd/v22/journal"

	"github.com/ironflow/ironflow/api/hostfile"
)

// Tag is the journal's field TAG of every program of this binary but the
// installer, whose own one support scripts look for.
const (
	Tag          = "agent"
	tagInstaller = "installer"
)

// files are the names of text files that differ from their programs' names;
// support scripts know them.
var files = map[string]string{
	"agent": "agent_registration", "next_step_runner": "agent_next_step_runner",
	"disk_speed_check": "disk-speed-check", "logs_sender": "logs-sender",
}

// FileOf is the host path of a program's text file.
func FileOf(program string) string { return "/var/log/" + cmp.Or(files[program], program) + ".log" }

func tagOf(program string) string {
	if program == tagInstaller {
		return tagInstaller
	}
	return Tag
}

// Options say where logs go.
type Options struct {
	// Text writes to the file [FileOf] below the root, where that can be written.
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
// text file; what could not be written by then is lost. A text file that cannot
// be written is said and does no harm.
func Setup(o Options) (log *slog.Logger, ring *Ring, closeLog func()) {
	ring = &Ring{}
	handlers := []slog.Handler{slog.NewTextHandler(ring, nil)}
	closeLog = func() {}
	useJournal := o.Journal && (o.Dir.Root == "" || o.Dir.Root == "/") && journal.Enabled()
	if useJournal {
		handlers = append(handlers, newJournal(o, journal.Send))
	}
	if !useJournal || o.Stdout {
		handlers = append(handlers, slog.NewTextHandler(os.Stderr, nil))
	}
	var failed error
	if o.Text {
		file, err := openFile(o.Dir.Path(FileOf(o.Name)), maxFile)
		if failed = err; err == nil {
			closeLog = func() { _ = file.Close() }
			handlers = append(handlers, slog.NewTextHandler(file, nil))
		}
	}
	log = slog.New(slog.NewMultiHandler(handlers...))
	if failed != nil {
		log.Warn("no log file", "error", failed)
	}
	return log, ring, closeLog
}

// newJournal writes to the journal with the fields that others look for.
func newJournal(o Options, send func(string, journal.Priority, map[string]string) error) journalHandler {
	fields := map[string]string{"TAG": tagOf(o.Name), "SYSLOG_IDENTIFIER": o.Name}
	if o.DryID != "" {
		fields["DRY_AGENT_ID"] = o.DryID
	}
	return journalHandler{fields: fields, send: send}
}

// journalHandler writes records to the journal: the attributes behind the message.
type journalHandler struct {
	send   func(message string, p journal.Priority, fields map[string]string) error
	fields map[string]string
	attrs  string // as they stand behind the message
	group  string
}

func (h journalHandler) Enabled(_ context.Context, level slog.Level) bool {
	return level >= slog.LevelInfo
}

func (h journalHandler) Handle(_ context.Context, r slog.Record) error {
	var line strings.Builder
	line.WriteString(r.Message)
	line.WriteString(h.attrs)
	r.Attrs(func(a slog.Attr) bool {
		line.WriteString(h.attr(a))
		return true
	})
	return h.send(line.String(), priority(r.Level), h.fields)
}

func (h journalHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	for _, a := range attrs {
		h.attrs += h.attr(a)
	}
	return h
}

func (h journalHandler) attr(a slog.Attr) string {
	return fmt.Sprintf(" %s%s=%q", h.group, a.Key, a.Value.String())
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
