package command

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"
)

// maxOutput bounds what [Output] keeps.
const maxOutput = 16 << 20

// Output runs a program and returns what it wrote to stdout, at most 16 MiB.
func Output(ctx context.Context, r Runner, name string, args ...string) ([]byte, error) {
	var out bounded
	if err := r.Run(ctx, Command{Name: name, Args: args, Stdout: &out}); err != nil {
		return nil, err
	}
	if out.over {
		return nil, fmt.Errorf("%s wrote more than %d bytes", name, maxOutput)
	}
	return out.Bytes(), nil
}

type bounded struct {
	bytes.Buffer
	over bool
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > maxOutput {
		b.over = true
		return len(p), nil
	}
	return b.Buffer.Write(p)
}

// Lines runs a program and hands over each line that it writes to stdout or
// stderr as it comes; a carriage return ends a line as well. It has the shape
// that the shared code below customdeploy takes: argv[0] is the program.
func Lines(r Runner) func(ctx context.Context, argv []string, line func(string)) error {
	return func(ctx context.Context, argv []string, line func(string)) error {
		w := &lineWriter{line: line}
		err := r.Run(ctx, Command{Name: argv[0], Args: argv[1:], Stdout: w, Stderr: w})
		w.flush()
		return err
	}
}

// maxLine is where a line without an end is cut.
const maxLine = 64 << 10

// lineWriter cuts a stream into lines. Stdout and stderr write to it at once.
type lineWriter struct {
	line func(string)

	mu   sync.Mutex
	rest []byte
}

var _ io.Writer = (*lineWriter)(nil)

func (w *lineWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rest = append(w.rest, p...)
	for {
		i := bytes.IndexAny(w.rest, "\r\n")
		if i < 0 && len(w.rest) <= maxLine {
			return len(p), nil
		}
		if i < 0 {
			i = maxLine
		}
		w.line(string(w.rest[:i]))
		w.rest = w.rest[min(i+1, len(w.rest)):]
	}
}

func (w *lineWriter) flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.rest) > 0 {
		w.line(string(w.rest))
		w.rest = nil
	}
}
