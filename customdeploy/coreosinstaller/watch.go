package coreosinstaller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ironflow/ironflow/customdeploy/hostexec"
)

// ErrDisk means that the disk fails while it is written.
var ErrDisk = errors.New("what was written did not reach the disk")

// lookEvery is the pause between two looks at the disk that is written.
const lookEvery = 5 * time.Second

// lost are what sync says of a disk that fails, and of one that is gone.
var lost = []string{"error syncing", "Input/output error", "No such device"}

// watched watches the disk, if there is one, until the function that it returns is
// called, which waits for the end of a look that is under way.
func (r Runner) watched(ctx context.Context, fail func(error)) (end func()) {
	if r.Disk == "" {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var looking sync.WaitGroup
	looking.Go(func() { r.watch(ctx, fail) })
	return func() {
		cancel()
		looking.Wait()
	}
}

// watch looks for errors of the disk while it is written. The kernel keeps what is
// written in memory for minutes, and tells of what it could not write only when
// somebody asks for it to be written out; so that is done again and again. A program
// of its own does it: a disk that hangs would hold this one in the kernel.
func (r Runner) watch(ctx context.Context, fail func(error)) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(cmp.Or(r.Pause, lookEvery)):
		}
		_, err := hostexec.Output(ctx, r.Query, "sync", "--data", r.Disk)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			continue
		}
		if slices.ContainsFunc(lost, func(text string) bool { return strings.Contains(err.Error(), text) }) {
			fail(fmt.Errorf("%w: %s", ErrDisk, lastWords(err)))
			return
		}
		r.Warn(fmt.Errorf("the disk is not looked at while it is written: %w", err))
		return
	}
}

// lastWords are what a program said when it failed.
func lastWords(err error) string {
	if exit, ok := errors.AsType[*hostexec.ExitError](err); ok && exit.Last != "" {
		return exit.Last
	}
	return err.Error()
}
