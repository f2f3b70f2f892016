package flows

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"regexp"
	"time"
)

// Console reads what a machine writes on its serial console.
type Console struct {
	path string
	// from is where the next line begins that was not looked at.
	from int64
}

// Console reads the machine's console from its present end.
func (h *Host) Console() *Console {
	c := &Console{path: h.Machine.ConsoleLog()}
	if info, err := os.Stat(c.path); err == nil {
		c.from = info.Size()
	}
	return c
}

// Wait returns the groups of the next line that matches.
func (c *Console) Wait(ctx context.Context, pattern *regexp.Regexp, limit time.Duration) ([]string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("no line of the console matches %s within %s; see %s", pattern, limit, c.path))
	defer cancel()
	for {
		if found := c.next(pattern); found != nil {
			return found, nil
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(look):
		}
	}
}

// next looks through the whole lines that have come.
func (c *Console) next(pattern *regexp.Regexp) []string {
	raw, err := os.ReadFile(c.path)
	if err != nil || int64(len(raw)) < c.from {
		return nil
	}
	for {
		line, _, whole := bytes.Cut(raw[c.from:], []byte("\n"))
		if !whole {
			return nil
		}
		c.from += int64(len(line)) + 1
		if found := pattern.FindStringSubmatch(string(bytes.TrimSpace(line))); found != nil {
			return found
		}
	}
}
