package main

import (
	"log/slog"
	"os"

	"github.com/go-logr/logr"
)

// newLogger writes JSON lines to standard error. An unknown level means info.
func newLogger(level string) logr.Logger {
	return logr.FromSlogHandler(newSlog(level).Handler())
}

func newSlog(level string) *slog.Logger {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		l = slog.LevelInfo
	}
	return slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: l}))
}
