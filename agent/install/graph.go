package install

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ironflow/ironflow/hub/wire"
)

// Task is one piece of an installation. Tasks that do not wait for each other
// run side by side.
type Task struct {
	// Name is unique in its graph.
	Name string
	// After names the tasks that must have ended well before.
	After []string
	// Stage is the protocol's stage that has not joined before this task has.
	Stage wire.HostStage
	// Info goes with the report of the stage; most have none.
	Info string
	// Run does the work. It must be repeatable, and end soon after its context.
	Run func(ctx context.Context, report Report) error
}

// taskError is a task's failure.
type taskError struct {
	task Task
	err  error
}

func (e *taskError) Error() string { return e.err.Error() }
func (e *taskError) Unwrap() error { return e.err }

// check tells what is wrong with a graph for the stages of an order.
func check(tasks []Task, stages []wire.HostStage) error {
	at := map[string]int{}
	for i, t := range tasks {
		if _, twice := at[t.Name]; twice {
			return fmt.Errorf("two tasks are named %s", t.Name)
		}
		at[t.Name] = i
		if !slices.Contains(stages, t.Stage) {
			return fmt.Errorf("task %s: the order has no stage %q", t.Name, t.Stage)
		}
	}
	for _, t := range tasks {
		for _, name := range t.After {
			if _, ok := at[name]; !ok {
				return fmt.Errorf("task %s waits for %s, which does not exist", t.Name, name)
			}
		}
	}
	for done := map[string]bool{}; len(done) < len(tasks); {
		ready := ready(tasks, done, nil)
		if len(ready) == 0 {
			return errors.New("tasks wait for each other in a circle")
		}
		for _, t := range ready {
			done[t.Name] = true
		}
	}
	return nil
}

// ready are the tasks that have not begun and wait for nothing any more.
func ready(tasks []Task, done, begun map[string]bool) []Task {
	var out []Task
	for _, t := range tasks {
		waits := slices.ContainsFunc(t.After, func(name string) bool { return !done[name] })
		if !waits && !done[t.Name] && !begun[t.Name] {
			out = append(out, t)
		}
	}
	return out
}

// walk runs the tasks and tells of each stage, in the protocol's order, when all
// tasks of the stages before it have joined. The first failure cancels the others,
// which are waited for, and is the result.
func walk(ctx context.Context, tasks []Task, stages []wire.HostStage, enter func(wire.HostStage) error, run func(context.Context, Task) error) error {
	if err := check(tasks, stages); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	type ended struct {
		task Task
		err  error
	}
	results := make(chan ended)
	done, begun := map[string]bool{}, map[string]bool{}
	var failure error
	fail := func(err error) {
		if failure == nil {
			failure = err
			cancel(err)
		}
	}
	next, running := 0, 0
	for {
		for failure == nil && next < len(stages) && joined(tasks, done, stages[:next]) {
			if err := enter(stages[next]); err != nil {
				fail(err)
			}
			next++
		}
		for _, t := range ready(tasks, done, begun) {
			if failure != nil || ctx.Err() != nil {
				break
			}
			begun[t.Name] = true
			running++
			go func() { results <- ended{t, run(ctx, t)} }()
		}
		if running == 0 {
			if failure == nil && len(done) < len(tasks) {
				return context.Cause(ctx)
			}
			return failure
		}
		end := <-results
		running--
		if end.err != nil {
			fail(&taskError{end.task, end.err})
			continue
		}
		done[end.task.Name] = true
	}
}

// joined tells whether all tasks of the stages have ended.
func joined(tasks []Task, done map[string]bool, stages []wire.HostStage) bool {
	return !slices.ContainsFunc(tasks, func(t Task) bool { return slices.Contains(stages, t.Stage) && !done[t.Name] })
}

// Chain is the plain graph: one task for each stage, one after the other.
func Chain(stages []wire.HostStage, run func(ctx context.Context, stage wire.HostStage, report Report) error) []Task {
	tasks := make([]Task, 0, len(stages))
	for i, stage := range stages {
		t := Task{Name: string(stage), Stage: stage, Run: func(ctx context.Context, report Report) error { return run(ctx, stage, report) }}
		if i > 0 {
			t.After = []string{string(stages[i-1])}
		}
		tasks = append(tasks, t)
	}
	return tasks
}
