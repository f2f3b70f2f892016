package main

import (
	"context"
	"slices"
	"time"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	eventsv1 "k8s.io/api/events/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/controllers/host/view/render"
)

// eventsNode lists the last events about the host, oldest first.
func eventsNode(ctx context.Context, cl client.Client, host *metal3v1.BareMetalHost) render.Node {
	var list eventsv1.EventList
	if err := cl.List(ctx, &list, client.InNamespace(host.Namespace)); err != nil {
		return render.Leaff("events: %v", err)
	}
	about := slices.DeleteFunc(list.Items, func(e eventsv1.Event) bool {
		return e.Regarding.Kind != "BareMetalHost" || e.Regarding.UID != host.UID
	})
	slices.SortFunc(about, func(a, b eventsv1.Event) int { return when(a).Compare(when(b)) })
	n := render.Node{Title: "events"}
	for _, e := range about[max(0, len(about)-lastEvents):] {
		n.Children = append(n.Children, render.Leaff("%s ago %s: %s", render.Elapsed(time.Since(when(e))), e.Reason, e.Note))
	}
	if len(n.Children) == 0 {
		return render.Node{}
	}
	return n
}

// when is the last time that an event was seen.
func when(e eventsv1.Event) time.Time {
	switch {
	case e.Series != nil:
		return e.Series.LastObservedTime.Time
	case !e.EventTime.IsZero():
		return e.EventTime.Time
	case !e.DeprecatedLastTimestamp.IsZero():
		return e.DeprecatedLastTimestamp.Time
	default:
		return e.CreationTimestamp.Time
	}
}
