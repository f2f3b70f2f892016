package parts

import (
	"context"
	"io"
	"log/slog"
	"os"
	"slices"

	"github.com/go-logr/logr"
)

// NewLogger writes JSON lines to standard error. An unknown level means info.
func NewLogger(level string) logr.Logger {
	return logr.FromSlogHandler(NewSlog(level).Handler())
}

// NewSlog is NewLogger for what logs by the standard library.
func NewSlog(level string) *slog.Logger { return slogTo(os.Stderr, level) }

func slogTo(w io.Writer, level string) *slog.Logger {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		l = slog.LevelInfo
	}
	return slog.New(lateHandler{Handler: slog.NewJSONHandler(w, &slog.HandlerOptions{Level: l})})
}

// lateHandler puts attributes into words when something is logged with them. Each
// pass of a controller has a logger with attributes of its own, and most say nothing.
type lateHandler struct {
	slog.Handler

	attrs []slog.Attr
}

// WithAttrs implements slog.Handler.
func (h lateHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return lateHandler{h.Handler, slices.Concat(h.attrs, attrs)}
}

// WithGroup implements slog.Handler.
func (h lateHandler) WithGroup(name string) slog.Handler {
	return lateHandler{Handler: h.Handler.WithAttrs(h.attrs).WithGroup(name)}
}

// Handle implements slog.Handler.
func (h lateHandler) Handle(ctx context.Context, record slog.Record) error {
	return h.Handler.WithAttrs(h.attrs).Handle(ctx, record)
}
