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
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/controllers/host/view"
)

// waitReady is what is waited for if nothing else is said: the condition of that name.
const waitReady = "ready"

// waitPhases are the phases that can be waited for: those in which hosts come to rest.
var waitPhases = []metal3v1.ProvisioningState{metal3v1.StateAvailable, metal3v1.StateProvisioned, metal3v1.StateExternallyProvisioned}

// errTimeout is why a wait ends whose time is over.
var errTimeout = errors.New("the time is over")

const waitLong = `Waits until hosts are what their spec asks for (condition Ready), or until they are in the phase of --for. It ends early when only
a person can help: a host is on hold, paused or detached, or has an error that is not retried. It then says what to do.

Exit codes: 0 all hosts are there; 3 only a person can help; 4 they are not there within --timeout.`

func newWait(c *connection) *cobra.Command {
	var target string
	s, timeout := selection{kind: hostKind}, time.Duration(0)
	cmd := &cobra.Command{
		Use: "wait HOST... | -l LABELS | -f FILE", Short: "Wait until hosts are ready, or until only a person can help", Long: waitLong,
		ValidArgsFunction: c.complete(hostKind, anyNumber),
		RunE: func(cmd *cobra.Command, args []string) error {
			s.names = args
			if err := s.check(true); err != nil {
				return err
			}
			if target != waitReady && !slices.Contains(waitPhases, metal3v1.ProvisioningState(target)) {
				return usage("--for %q is neither %s nor one of the phases %q", target, waitReady, waitPhases)
			}
			hosts, err := c.hosts(s)
			if err != nil {
				return err
			}
			cl, _, err := c.open()
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeoutCause(cmd.Context(), timeout, errTimeout)
			defer cancel()
			w := waiting{client: cl, hosts: hosts, done: target, is: func(h *metal3v1.BareMetalHost) bool { return there(h, target) }, out: cmd.OutOrStdout(), timeout: timeout}
			return w.run(ctx)
		},
	}
	s.bind(cmd, "wait for")
	cmd.Flags().StringVar(&target, "for", waitReady, "what to wait for: ready, or one of the phases available, provisioned or \"externally provisioned\"")
	cmd.Flags().DurationVar(&timeout, "timeout", time.Hour, "maximum time to wait")
	_ = cmd.RegisterFlagCompletionFunc("for", fixed(append([]string{waitReady}, phaseNames()...)...)) // the flag exists
	return cmd
}

func phaseNames() (list []string) {
	for _, p := range waitPhases {
		list = append(list, string(p))
	}
	return list
}

// there tells whether a host is where it is waited for.
func there(h *metal3v1.BareMetalHost, target string) bool {
	if target == waitReady {
		return meta.IsStatusConditionTrue(h.Status.Conditions, metal3v1.ReadyCondition)
	}
	return string(h.Status.Provisioning.State) == target && h.Status.ErrorType == ""
}

// waiting is which hosts are waited for, and what was said so far.
type waiting struct {
	client client.WithWatch
	hosts  []metal3v1.BareMetalHost
	// is reports that a host is there, which is said by the word done.
	is   func(*metal3v1.BareMetalHost) bool
	done string
	out  io.Writer
	// timeout is that of the context, for the message.
	timeout time.Duration

	now  map[client.ObjectKey]*metal3v1.BareMetalHost
	said map[client.ObjectKey]bool
}

// run waits until all hosts are there, an error when only a person can go on.
func (w *waiting) run(ctx context.Context) error {
	w.now, w.said = map[client.ObjectKey]*metal3v1.BareMetalHost{}, map[client.ObjectKey]bool{}
	for i := range w.hosts {
		w.now[client.ObjectKeyFromObject(&w.hosts[i])] = nil
	}
	f := follower{client: w.client, kinds: []schema.GroupVersionKind{hostKind.made[0].gvk}, namespace: w.namespace()}
	if len(w.hosts) == 1 {
		f.name = w.hosts[0].Name
	}
	err := f.run(ctx, w.see)
	if errors.Is(err, errTimeout) || errors.Is(err, context.DeadlineExceeded) {
		return timedOut("not there after %s: %s", w.timeout, strings.Join(w.missing(), "; "))
	}
	return err
}

// namespace is the one of the hosts; empty where they are of several.
func (w *waiting) namespace() string {
	for i := range w.hosts {
		if w.hosts[i].Namespace != w.hosts[0].Namespace {
			return ""
		}
	}
	return w.hosts[0].Namespace
}

// see takes what has changed, and tells whether all hosts are there.
func (w *waiting) see(changed, gone []*unstructured.Unstructured) (bool, error) {
	for _, o := range gone {
		if _, ours := w.now[client.ObjectKeyFromObject(o)]; ours {
			return false, fmt.Errorf("host %s is not there any more", o.GetName())
		}
	}
	for _, o := range changed {
		key := client.ObjectKeyFromObject(o)
		if _, ours := w.now[key]; !ours {
			continue
		}
		h, err := typed[metal3v1.BareMetalHost](o)
		if err != nil {
			return false, err
		}
		w.now[key] = h
	}
	return w.look()
}

// look tells whether all hosts are there; an error when only a person can go on.
func (w *waiting) look() (bool, error) {
	all, stuck := true, []string{}
	for i := range w.hosts {
		key := client.ObjectKeyFromObject(&w.hosts[i])
		h := w.now[key]
		switch {
		case h == nil:
			return false, fmt.Errorf("host %s is not there any more", key.Name)
		case w.is(h):
			if !w.said[key] {
				fmt.Fprintf(w.out, "host %s: %s\n", h.Name, w.done)
			}
			w.said[key] = true
			continue
		}
		all = false
		if why := onlyAPerson(h, view.Of(h)); why != "" {
			stuck = append(stuck, fmt.Sprintf("host %s: %s", h.Name, why))
		}
	}
	if len(stuck) > 0 {
		return false, exitError{fmt.Errorf("only a person can go on: %s", strings.Join(stuck, "; ")), exitPerson}
	}
	return all, nil
}

// missing says where the hosts are that are not there yet.
func (w *waiting) missing() (list []string) {
	for i := range w.hosts {
		h := w.now[client.ObjectKeyFromObject(&w.hosts[i])]
		if h == nil {
			h = &w.hosts[i]
		}
		if v := view.Of(h); !w.is(h) {
			list = append(list, strings.TrimSuffix(fmt.Sprintf("host %s is %s: %s", h.Name, v.Phase, v.Reason), ": "))
		}
	}
	return list
}
