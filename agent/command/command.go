// Package command is the only place from which the agent starts other programs.
// What may be started stands in one table, [Allowed], with the reason why it is
// not done in Go. A program runs in the host's root directory, in a process
// group of its own, with a small environment, and ends when its context ends.
package command

import (
	"context"
	"errors"
	"io"

	"github.com/ironflow/ironflow/customdeploy/hostexec"
)

// Command is one program to start.
type Command struct {
	// Name is a program of [Allowed], without a folder.
	Name string
	Args []string
	// Env is added to the small environment that every program gets; NAME=value.
	// Secrets belong here and never into Args.
	Env []string
	// Root is the root directory that it runs in, as the host sees it; empty is the
	// host's own. An agent in a container sees its host's there.
	Root string
	// Stdin is read to its end; nil is an empty input.
	Stdin io.Reader
	// Stdout and Stderr take the output as it comes; nil drops it. What a program is
	// asked for stands in Stdout; Stderr is for people.
	Stdout, Stderr io.Writer
}

// Runner starts programs and waits for their end. The error is an [ExitError]
// for a program that ended badly, wraps [ErrNotAllowed] or [hostexec.ErrMissing] for one
// that was not started, wraps the context's cause for one that was stopped, and
// [hostexec.ErrStuck] for one that even SIGKILL does not end: Run returns all the same.
type Runner interface {
	Run(ctx context.Context, c Command) error
}

// ErrNotAllowed means that the program is not in [Allowed].
var ErrNotAllowed = errors.New("this program is not one that the agent may start")

// ExitError is the end of a program with a status that is not 0.
type ExitError = hostexec.ExitError
