package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/ironflow/ironflow/api/commands"
)

// exitCode is what the program ends with. Scripts decide on it, so that a number never changes its meaning.
type exitCode int

const (
	exitDone exitCode = iota
	exitFailed
	exitUsage
	exitPerson
	exitTimeout
	exitInterrupted exitCode = 130
)

// exitCodes say what each means, in their order. The documentation has this table.
var exitCodes = []struct {
	code  exitCode
	means string
}{
	{exitDone, "done"},
	{exitFailed, "it failed; the message says what to do"},
	{exitUsage, "the command line was wrong: a sub-command, an argument or a flag; nothing was done"},
	{exitPerson, "only a person can go on; the message says what to do"},
	{exitTimeout, "it was not done within `--timeout` (or `--wait`)"},
	{exitInterrupted, "interrupted (Ctrl-C) before it was done"},
}

// exitError is an error with an exit code of its own.
type exitError struct {
	error

	code exitCode
}

// Unwrap gives the error itself.
func (e exitError) Unwrap() error { return e.error }

// usage is an error of the call.
func usage(format string, args ...any) error {
	return exitError{fmt.Errorf(format, args...), exitUsage}
}

// codeOf is the exit code after an error.
func codeOf(err error) exitCode {
	e, has := errors.AsType[exitError](err)
	switch {
	case err == nil:
		return exitDone
	case has:
		return e.code
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	default:
		return exitFailed
	}
}

// withNext adds what to do to an error of the way to the API server, which comes from the library as it is.
func withNext(err error) error {
	if _, is := errors.AsType[*url.Error](err); is && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("%w; look whether --kubeconfig and --context name the right cluster, and whether it is reached from here", err)
	}
	return err
}

// timedOut is the error when the time is over.
func timedOut(format string, args ...any) error {
	return exitError{fmt.Errorf(format, args...), exitTimeout}
}

// strictUsage has every wrong argument or flag of the commands below c end with the code of a wrong call.
func strictUsage(c *cobra.Command) {
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return exitError{commands.FlagError(c, err), exitUsage}
	})
	if check := c.Args; check != nil {
		c.Args = func(c *cobra.Command, args []string) error {
			if err := check(c, args); err != nil {
				return exitError{err, exitUsage}
			}
			return nil
		}
	}
	for _, sub := range c.Commands() {
		strictUsage(sub)
	}
}
