package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/probe"
	"github.com/ironflow/ironflow/bmc/quirks"
)

// job is what is to be probed, and how.
type job struct {
	settings

	targets []target
	// single says that there is one address, so that its report is the whole output.
	single bool
}

// result is one BMC's report, or why there is none.
type result struct {
	report  *v1alpha1.BMCReport
	failure *failure
}

// failure is a BMC that could not be probed.
type failure struct {
	Address string `json:"address"`
	// Kind is one of the kinds of bmc/client, or of ours.
	Kind    string `json:"kind"`
	Message string `json:"message"`
	// Next says what to do.
	Next string `json:"next"`
}

// run probes all and prints what was found.
func (j *job) run(ctx context.Context, out, progress io.Writer) error {
	results := j.probeAll(ctx, newMeter(progress, len(j.targets)))
	if j.single && results[0].failure != nil {
		f := results[0].failure
		return fmt.Errorf("%s: %s (%s): %s", f.Address, f.Message, f.Kind, f.Next)
	}
	if err := j.print(out, results); err != nil {
		return err
	}
	failed := 0
	for _, r := range results {
		if r.failure != nil {
			failed++
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d BMCs could not be probed", failed, len(results))
	}
	return nil
}

// probeAll probes as many at a time as allowed. The results are in the order of the
// addresses.
func (j *job) probeAll(ctx context.Context, m meter) []result {
	table := quirks.New()
	results := make([]result, len(j.targets))
	pool := client.NewPool(client.Options{Rate: j.rate})
	bmcs := make([]*client.Client, len(j.targets))
	for i := range j.targets {
		results[i], bmcs[i] = j.open(pool, &j.targets[i])
	}
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(j.parallel, len(j.targets)) {
		workers.Go(func() {
			for i := range next {
				if bmcs[i] != nil {
					results[i] = j.probe(ctx, j.targets[i], bmcs[i], table)
				}
				m.done(results[i])
			}
		})
	}
	for i := range j.targets {
		next <- i
	}
	close(next)
	workers.Wait()
	m.end()
	return results
}

// closing bounds the end of a session.
const closing = 10 * time.Second

// open makes the client of a target, before anybody is asked: systems of one BMC share a
// session as long as one of them is to be probed, and a wrong password is tried once for all.
func (j *job) open(pool *client.Pool, t *target) (result, *client.Client) {
	err := t.bad
	if err != nil {
		return result{failure: failed(t.name, fmt.Errorf("%w: %w", errAddress, err))}, nil
	}
	c, err := pool.Client(t.name, t.Target)
	if err != nil {
		return result{failure: failed(t.name, err)}, nil
	}
	return result{}, c
}

// probe probes one, and ends our session unless others use it.
func (j *job) probe(ctx context.Context, t target, c *client.Client, table *quirks.Table) result {
	report, err := j.ask(ctx, t, c, table)
	end, stop := context.WithTimeout(context.WithoutCancel(ctx), closing)
	defer stop()
	ended := c.Close(end)
	if err != nil {
		return result{failure: failed(t.name, err)}
	}
	if ended != nil {
		report.Remarks = append(report.Remarks, tidy("Our session could not be ended: "+ended.Error()))
	}
	return result{report: report}
}

func (j *job) ask(ctx context.Context, t target, c *client.Client, table *quirks.Table) (*v1alpha1.BMCReport, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeoutCause(ctx, j.timeout, errTooLong)
	defer cancel()
	report, err := probe.Probe(limited, c, probe.Options{
		Address: t.name, System: t.System, Username: t.Username, Requests: j.requests, Expand: j.expand,
		Quirks: matching(table),
	})
	if err != nil && limited.Err() != nil {
		err = errors.Join(context.Cause(limited), err)
	}
	return report, err
}

// matching finds the rows of a table for what a probe has found.
func matching(table *quirks.Table) func(probe.Identity) []v1alpha1.AppliedQuirk {
	return func(id probe.Identity) []v1alpha1.AppliedQuirk {
		return table.Match(quirks.Identity{Vendor: id.Vendor, Model: id.Model, Manager: id.ManagerModel, Version: id.BMCVersion})
	}
}

// errAddress is a line of a list that is no address of a BMC.
var errAddress = errors.New("no BMC was asked")

var errTooLong = errors.New("the probe took longer than --timeout")
