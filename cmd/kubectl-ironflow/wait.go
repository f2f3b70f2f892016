package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/controllers/host/view"
)

// waitReady is what is waited for if nothing else is said: the condition of that name.
const waitReady = "ready"

// waitPhases are the phases that can be waited for: those in which hosts come to rest.
var waitPhases = []metal3v1.ProvisioningState{metal3v1.StateAvailable, metal3v1.StateProvisioned, metal3v1.StateExternallyProvisioned}

// exitPerson is the exit code when only a person can go on.
const exitPerson = 3

// exitError is an error with an exit code of its own.
type exitError struct {
	error

	code int
}

const waitLong = `Waits until hosts are as they are wanted (condition Ready), or in the phase of --for. It ends early when only a person can
go on: a host is on hold, paused, or has an error that does not end by itself; what to do is said then.

Exit codes: 0 all hosts are there; 1 the time is over, or the question was wrong; 3 only a person can go on.`

func newWait(c *connection) *cobra.Command {
	var selector, target string
	var timeout time.Duration
	cmd := &cobra.Command{
		Use: "wait HOST... | -l LABELS", Short: "Wait until hosts are ready, or only a person can go on", Long: waitLong,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && selector == "" {
				return errors.New("name hosts, or choose them by labels with -l")
			}
			if target != waitReady && !slices.Contains(waitPhases, metal3v1.ProvisioningState(target)) {
				return fmt.Errorf("--for %q is neither %s nor one of the phases %q", target, waitReady, waitPhases)
			}
			cl, namespace, err := c.open()
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeoutCause(cmd.Context(), timeout, fmt.Errorf("not there after %s", timeout))
			defer cancel()
			w := waiting{client: cl, namespace: namespace, selector: selector, names: args, target: target, out: cmd.OutOrStdout()}
			return w.run(ctx)
		},
	}
	cmd.Flags().StringVarP(&selector, "selector", "l", "", "hosts with these labels, such as rack=a1")
	cmd.Flags().StringVar(&target, "for", waitReady, "ready, or a phase: available, provisioned or \"externally provisioned\"")
	cmd.Flags().DurationVar(&timeout, "timeout", time.Hour, "how long to wait at most")
	return cmd
}

// waiting is what is waited for, and what was said so far.
type waiting struct {
	client              client.WithWatch
	namespace, selector string
	names               []string
	target              string
	out                 io.Writer

	said map[string]bool
}

// run waits. API servers end a watch every few minutes; then the next one begins.
func (w *waiting) run(ctx context.Context) error {
	w.said = map[string]bool{}
	for {
		done, err := w.once(ctx)
		if err != nil || done {
			return err
		}
	}
}

// once waits for one watch's time.
func (w *waiting) once(ctx context.Context) (done bool, err error) {
	watcher, err := w.client.Watch(ctx, &metal3v1.BareMetalHostList{}, client.InNamespace(w.namespace))
	if err != nil {
		return false, fmt.Errorf("watch hosts: %w", err)
	}
	defer watcher.Stop()
	for {
		missing, err := w.look(ctx)
		if err != nil || len(missing) == 0 {
			return err == nil, err
		}
		select {
		case <-ctx.Done():
			return false, fmt.Errorf("%w: %s", context.Cause(ctx), strings.Join(missing, "; "))
		case _, open := <-watcher.ResultChan():
			if !open {
				return false, nil
			}
		}
	}
}

// look tells which hosts are not there yet; an error when only a person can go on.
func (w *waiting) look(ctx context.Context) (missing []string, err error) {
	hosts, err := selectHosts(ctx, w.client, w.namespace, w.selector, w.names)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, err
	case len(hosts) == 0:
		return nil, fmt.Errorf("no host in namespace %s has the labels %s", w.namespace, w.selector)
	}
	var stuck []string
	for i := range hosts {
		h := &hosts[i]
		v := view.Of(h)
		if w.there(h) {
			if !w.said[h.Name] {
				fmt.Fprintf(w.out, "host %s: %s\n", h.Name, w.target)
			}
			w.said[h.Name] = true
			continue
		}
		missing = append(missing, strings.TrimSuffix(fmt.Sprintf("host %s is %s: %s", h.Name, v.Phase, v.Reason), ": "))
		if why := onlyAPerson(h, v); why != "" {
			stuck = append(stuck, fmt.Sprintf("host %s: %s", h.Name, why))
		}
	}
	if len(stuck) > 0 {
		return nil, exitError{fmt.Errorf("only a person can go on: %s", strings.Join(stuck, "; ")), exitPerson}
	}
	return missing, nil
}

// there tells whether a host is where it is waited for.
func (w *waiting) there(h *metal3v1.BareMetalHost) bool {
	if w.target == waitReady {
		return meta.IsStatusConditionTrue(h.Status.Conditions, metal3v1.ReadyCondition)
	}
	return string(h.Status.Provisioning.State) == w.target && h.Status.ErrorType == ""
}

// Reasons of the condition Stalled: after those of givenUp nothing is tried again by itself; imageError may
// end by itself, such as when a base image has been downloaded.
var givenUp = []string{"RetryLimitReached", "UnknownState"}

const imageError = "LiveImageError"

// onlyAPerson says what a person has to do before the host goes on; empty while it goes on by itself.
func onlyAPerson(h *metal3v1.BareMetalHost, v view.View) string {
	if _, paused := h.Annotations[metal3v1.PausedAnnotation]; paused {
		return "it is paused: remove the annotation " + metal3v1.PausedAnnotation
	}
	reason := view.ErrorReason(h)
	if v.Phase == "on hold" || slices.Contains(givenUp, reason) || reason != "" && reason != imageError && view.AdviceFor(reason).Ends {
		return strings.TrimPrefix(v.Reason+": "+v.NextAction, ": ")
	}
	return ""
}
