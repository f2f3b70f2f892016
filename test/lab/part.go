package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ironflow/ironflow/test/lab/guard"
)

const (
	// readyPoll is the time between two looks whether a part answers.
	readyPoll = 50 * time.Millisecond
	// tailLines is how much of a log a failure shows.
	tailLines = 25
)

// StartError says that a part did not start, with the end of its log.
type StartError struct {
	// Part is the part's name.
	Part string
	// Err is what went wrong: the program ended, or its deadline passed.
	Err error
	// Log is the path of the part's log, Tail its last lines.
	Log, Tail string
	// Next is what to do about it.
	Next string
}

// Error is the reason, the log's end and the next step on lines of their own.
func (e *StartError) Error() string {
	return fmt.Sprintf("%s did not start: %v\nlast lines of %s:\n%s\nnext: %s", e.Part, e.Err, e.Log, indent(e.Tail), e.Next)
}

// Unwrap is the reason.
func (e *StartError) Unwrap() error { return e.Err }

// errDeadline is the cause of a start that took too long.
var errDeadline = errors.New("it did not answer in time")

// part is one guarded program of the lab that can be started again.
type part struct {
	name    string
	command guard.Command
	// log receives the program's output, and is appended to by later starts.
	log string
	// logs are further files that the program writes by itself.
	logs []string
	// doomed is a text in logs that says that the start has failed although the
	// program goes on; empty if the program ends in that case.
	doomed string
	// ready says whether the program serves. It is asked until it does.
	ready func(ctx context.Context) error
	// deadline is how long a start may take; grace how long a stop may.
	deadline, grace time.Duration
	// next is what a person should do when the start fails.
	next string

	mu      sync.Mutex
	process *guard.Process
}

// start runs the program and waits until it is ready.
func (p *part) start(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.process != nil {
		return fmt.Errorf("start %s: it is already running", p.name)
	}
	earlier := p.logSizes()
	process, err := p.launch()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, p.deadline, errDeadline)
	defer cancel()
	if err := p.await(ctx, process, earlier); err != nil {
		process.Kill()
		return &StartError{Part: p.name, Err: err, Log: p.log, Tail: p.tail(), Next: p.next}
	}
	p.process = process
	return nil
}

// launch starts the program with its output appended to the log.
func (p *part) launch() (*guard.Process, error) {
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the log of %s: %w", p.name, err)
	}
	// The program has its own copy.
	defer log.Close()
	command := p.command
	command.Output = log
	process, err := guard.Start(command)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", p.name, err)
	}
	return process, nil
}

// await returns nil once the program is ready, else why it will not be. The
// sizes are those of its logs before this start.
func (p *part) await(ctx context.Context, process *guard.Process, earlier []int64) error {
	ticker := time.NewTicker(readyPoll)
	defer ticker.Stop()
	for {
		err := p.ready(ctx)
		if err == nil {
			return nil
		}
		if p.isDoomed(earlier) {
			return fmt.Errorf("its log says %q", p.doomed)
		}
		select {
		case <-process.Done():
			return fmt.Errorf("it ended at once: %w", orExited(process.Err()))
		case <-ctx.Done():
			return fmt.Errorf("%w (%w)", context.Cause(ctx), err)
		case <-ticker.C:
		}
	}
}

// logSizes are the sizes of the program's own logs.
func (p *part) logSizes() []int64 {
	sizes := make([]int64, len(p.logs))
	for i, path := range p.logs {
		if info, err := os.Stat(path); err == nil {
			sizes[i] = info.Size()
		}
	}
	return sizes
}

// isDoomed looks for the text in what was logged beyond the sizes.
func (p *part) isDoomed(earlier []int64) bool {
	if p.doomed == "" {
		return false
	}
	for i, path := range p.logs {
		text, err := os.ReadFile(path)
		if err == nil && bytes.Contains(text[min(earlier[i], int64(len(text))):], []byte(p.doomed)) {
			return true
		}
	}
	return false
}

// orExited gives the end without an error a name.
func orExited(err error) error {
	if err == nil {
		return errors.New("exit status 0")
	}
	return err
}

// stop asks the program to end, kills it after the grace, and returns when
// nothing of it is left. A part that does not run is left alone.
func (p *part) stop(ctx context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.process != nil {
		p.process.Stop(ctx, p.grace)
		p.process = nil
	}
}

// kill ends the program and all that it started with SIGKILL.
func (p *part) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.process != nil {
		p.process.Kill()
		p.process = nil
	}
}

// processes lists the living processes of the part.
func (p *part) processes() []int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.process == nil {
		return nil
	}
	return append(guard.Descendants(p.process.PID()), p.process.PID())
}

// tail is the end of the part's logs; its own log files come first, because a
// program that logs elsewhere prints little.
func (p *part) tail() string {
	var texts []string
	for _, path := range slices.Concat(p.logs, []string{p.log}) {
		if text := tail(path, tailLines); text != "" {
			texts = append(texts, text)
		}
	}
	if len(texts) == 0 {
		return "(nothing was written)"
	}
	return strings.Join(texts, "\n")
}

// tail is the last lines of a file, empty if there is none.
func tail(path string, lines int) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	all := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	return string(bytes.Join(all[max(0, len(all)-lines):], []byte("\n")))
}

// indent sets a text apart from the sentences around it.
func indent(text string) string {
	return "  " + strings.ReplaceAll(text, "\n", "\n  ")
}

// writeFiles writes small files that only the user may read.
func writeFiles(dir string, files map[string][]byte) error {
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return fmt.Errorf("make the folder of %s: %w", path, err)
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			return fmt.Errorf("write %s: %w", path, err)
		}
	}
	return nil
}
