package ipa

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"

	"github.com/google/uuid"
)

// Status is the life of a command.
type Status string

// The statuses of a command. A version mismatch has kept its old name.
const (
	Running         Status = "RUNNING"
	Succeeded       Status = "SUCCEEDED"
	Failed          Status = "FAILED"
	VersionMismatch Status = "CLEAN_VERSION_MISMATCH"
)

// Command is one command's record, as GET /v1/commands shows it.
type Command struct {
	ID     string `json:"id"`
	Name   string `json:"command_name"`
	Status Status `json:"command_status"`
	Error  *Error `json:"command_error"`
	Result any    `json:"command_result"`

	done chan struct{}
}

// journal keeps the commands of one life of the agent, in their order, and
// lets one run at a time.
type journal struct {
	// executing is held while a command is accepted, and while a synchronous one runs.
	executing sync.Mutex
	mu        sync.Mutex
	commands  []*Command
	wg        sync.WaitGroup
}

// list returns copies: a running command changes.
func (j *journal) list() []Command {
	j.mu.Lock()
	defer j.mu.Unlock()
	out := make([]Command, len(j.commands))
	for i, c := range j.commands {
		out[i] = *c
	}
	return out
}

// find returns a copy of the command with that id.
func (j *journal) find(id string) (Command, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, c := range j.commands {
		if c.ID == id {
			return *c, nil
		}
	}
	return Command{}, errNotFound("Command Result", id)
}

// wait returns the command once it is done, or as it is when the context ends.
func (j *journal) wait(ctx context.Context, c Command) Command {
	select {
	case <-c.done:
	case <-ctx.Done():
	}
	if now, err := j.find(c.ID); err == nil {
		return now
	}
	return c
}

// execute runs the command and records it: a synchronous one to its end, an
// asynchronous one in the background, with ended called behind it. The error
// is a refusal, of which no record is kept.
func (j *journal) execute(name string, h handler, run func() (any, error), ended func()) (Command, error) {
	j.executing.Lock()
	defer j.executing.Unlock()
	if last, ok := j.last(); ok && last.Status == Running {
		return Command{}, errBusy(last.Name)
	}
	c := &Command{ID: uuid.NewString(), Name: h.short, Status: Running, done: make(chan struct{})}
	if !h.async {
		result, err := run()
		if e, ok := errors.AsType[*Error](err); ok && e.Code == http.StatusBadRequest {
			return Command{}, e
		}
		c.end(name, h, result, err)
		return j.add(c), nil
	}
	started := j.add(c)
	j.wg.Go(func() {
		result, err := run()
		j.mu.Lock()
		c.end(name, h, result, err)
		j.mu.Unlock()
		ended()
	})
	return started, nil
}

func (j *journal) add(c *Command) Command {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.commands = append(j.commands, c)
	return *c
}

func (j *journal) last() (Command, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.commands) == 0 {
		return Command{}, false
	}
	return *j.commands[len(j.commands)-1], true
}

// end settles the command. Nobody else may see it meanwhile.
func (c *Command) end(name string, h handler, result any, err error) {
	defer close(c.done)
	if err != nil {
		c.Error = asError(err)
		c.Status = Failed
		if c.Error.Type == "VersionMismatch" {
			c.Status = VersionMismatch
		}
		if !h.async {
			c.Name = name // the real agent records a failed synchronous command by its full name
		}
		return
	}
	c.Status, c.Result = Succeeded, result
	if text, ok := result.(string); ok {
		if h.async {
			text = h.short + ": " + text
		}
		c.Result = map[string]string{"result": text}
	}
}

// Params are a command's named arguments, still as JSON.
type Params map[string]json.RawMessage

// get decodes the named argument into v; an absent one is left as it is.
func (p Params) get(name string, v any) error {
	raw, ok := p[name]
	if !ok {
		return nil
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return errInvalidParams(name + ": " + err.Error())
	}
	return nil
}
