package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"github.com/spf13/cobra"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/controllers/host/view/render"
)

const eventsLong = `Prints the events of a host and of all that belongs to it: its images, its hardware and firmware, its BMC and the BMC's Secret, the
agents of its machine and its subscriptions, in order of time, the oldest first. Kubernetes usually keeps events for an hour.`

func newEvents(c *connection) *cobra.Command {
	var watch bool
	cmd := &cobra.Command{
		Use: "events HOST", Short: "Print the events of a host and of all that belongs to it, oldest first", Long: eventsLong,
		Args: cobra.ExactArgs(1), ValidArgsFunction: c.complete(hostKind, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			bare, err := hostKind.bare(args)
			if err != nil {
				return err
			}
			cl, namespace, err := c.open()
			if err != nil {
				return err
			}
			h := &metal3v1.BareMetalHost{}
			if err := readHost(cmd.Context(), cl, types.NamespacedName{Namespace: namespace, Name: bare[0]}, h); err != nil {
				return err
			}
			t := timeline{client: cl, host: h, out: cmd.OutOrStdout(), err: cmd.ErrOrStderr()}
			if watch {
				return t.follow(cmd.Context())
			}
			return t.once(cmd.Context())
		},
	}
	cmd.Flags().BoolVarP(&watch, "watch", "w", false, "also show new events, until Ctrl-C")
	return cmd
}

// timeline are the events of a host.
type timeline struct {
	client   client.WithWatch
	host     *metal3v1.BareMetalHost
	out, err io.Writer

	about []belonging
}

// eventHead are the columns.
var eventHead = []string{"TIME", "TYPE", "REASON", "OBJECT", "MESSAGE"}

// once prints what there is.
func (t *timeline) once(ctx context.Context) error {
	events, err := hostEvents(ctx, t.client, t.host)
	if err != nil {
		return err
	}
	if len(events) == 0 {
		fmt.Fprintf(t.err, "No events of host %s/%s and what belongs to it. Kubernetes keeps them for an hour as a rule.\n", t.host.Namespace, t.host.Name)
		return nil
	}
	return t.print(events, true)
}

func (t *timeline) print(events []eventsv1.Event, headers bool) error {
	head := eventHead
	if !headers {
		head = nil
	}
	var rows [][]string
	for i := range events {
		rows = append(rows, eventRow(&events[i]))
	}
	return render.Lines(t.out, head, rows, terminalWidth(t.out))
}

func eventRow(e *eventsv1.Event) []string {
	note := e.Note
	if n := times(e); n > 1 {
		note = fmt.Sprintf("%s (%d times)", note, n)
	}
	return render.Cells([]string{when(e).UTC().Format(time.RFC3339), e.Type, e.Reason, strings.ToLower(e.Regarding.Kind) + "/" + e.Regarding.Name, note})
}

// times is how often an event was seen.
func times(e *eventsv1.Event) int32 {
	if e.Series != nil {
		return e.Series.Count
	}
	return e.DeprecatedCount
}

// follow prints what there is, and then what comes.
func (t *timeline) follow(ctx context.Context) error {
	f := follower{client: t.client, kinds: []schema.GroupVersionKind{eventsv1.SchemeGroupVersion.WithKind("Event")}, namespace: t.host.Namespace}
	first := true
	err := f.run(ctx, func(changed, _ []*unstructured.Unstructured) (bool, error) {
		list, err := typedAll[eventsv1.Event](changed, "Event")
		if err != nil {
			return false, err
		}
		if first || slices.ContainsFunc(list, t.mayBeNew) {
			t.about = belongings(ctx, t.client, t.host)
		}
		list = slices.DeleteFunc(list, func(e eventsv1.Event) bool { return !t.isAbout(&e) })
		inOrder(list)
		headers := first
		first = false
		if len(list) == 0 && !headers {
			return false, nil
		}
		return false, t.print(list, headers)
	})
	if errors.Is(err, context.Canceled) {
		return nil // Ctrl-C is how it ends
	}
	return err
}

// mayBeNew reports an event of an object that may have come to the host since: the others have names that are known.
func (t *timeline) mayBeNew(e eventsv1.Event) bool {
	return !t.isAbout(&e) && slices.Contains([]string{"Agent", "BMCEventSubscription"}, e.Regarding.Kind)
}

func (t *timeline) isAbout(e *eventsv1.Event) bool { return isAbout(t.about, e) }

func isAbout(about []belonging, e *eventsv1.Event) bool {
	return slices.ContainsFunc(about, func(b belonging) bool { return b.isOf(e.Regarding.Kind, e.Regarding.Name, e.Regarding.UID) })
}

// hostEvents reads the events about a host and what belongs to it, oldest first.
func hostEvents(ctx context.Context, cl client.Client, h *metal3v1.BareMetalHost) ([]eventsv1.Event, error) {
	var list eventsv1.EventList
	if err := cl.List(ctx, &list, client.InNamespace(h.Namespace)); err != nil {
		return nil, fmt.Errorf("list events: %w", err)
	}
	about := belongings(ctx, cl, h)
	events := slices.DeleteFunc(list.Items, func(e eventsv1.Event) bool { return !isAbout(about, &e) })
	inOrder(events)
	return events, nil
}

// inOrder sorts by the time that an event was seen last.
func inOrder(events []eventsv1.Event) {
	slices.SortStableFunc(events, func(a, b eventsv1.Event) int { return when(&a).Compare(when(&b)) })
}

// eventsNode lists the last events of the host and what belongs to it, oldest first.
func eventsNode(ctx context.Context, cl client.Client, h *metal3v1.BareMetalHost, now time.Time) render.Node {
	events, err := hostEvents(ctx, cl, h)
	if err != nil {
		return render.Leaff("events: %v", err)
	}
	n := render.Node{Title: "events"}
	if len(events) > lastEvents {
		n.Title += fmt.Sprintf(": the last %d of %d; kubectl ironflow events %s has all", lastEvents, len(events), h.Name)
	}
	for i := max(0, len(events)-lastEvents); i < len(events); i++ {
		e := &events[i]
		of := ""
		if e.Regarding.Kind != "BareMetalHost" {
			of = " of " + e.Regarding.Kind
		}
		n.Children = append(n.Children, render.Leaff("%s ago %s%s: %s", cmp.Or(render.Elapsed(now.Sub(when(e))), "0s"), e.Reason, of, e.Note))
	}
	if len(n.Children) == 0 {
		return render.Node{}
	}
	return n
}

// when is the last time that an event was seen.
func when(e *eventsv1.Event) time.Time {
	switch {
	case e.Series != nil:
		return e.Series.LastObservedTime.Time
	case !e.DeprecatedLastTimestamp.IsZero():
		return e.DeprecatedLastTimestamp.Time
	case !e.EventTime.IsZero():
		return e.EventTime.Time
	default:
		return e.CreationTimestamp.Time
	}
}
