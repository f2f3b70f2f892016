package demo

import (
	"context"
	"fmt"
	"regexp"
	"time"

	eventsv1 "k8s.io/api/events/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// waitEvent waits for an event about a host, or a host's reason, that fits.
func (d *demo) waitEvent(ctx context.Context, pattern *regexp.Regexp) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, 2*time.Minute, fmt.Errorf("no host showed %q", pattern))
	defer cancel()
	for {
		var list eventsv1.EventList
		if err := d.client.List(ctx, &list, client.InNamespace(namespace)); err == nil {
			for _, e := range list.Items {
				if e.Regarding.Kind == "BareMetalHost" && pattern.MatchString(e.Note) {
					return e.Regarding.Name + ": " + e.Note, nil
				}
			}
		}
		if hosts, err := readHosts(ctx, d.client); err == nil {
			for _, v := range hosts {
				if pattern.MatchString(v.Reason) {
					return v.Name + ": " + v.Reason, nil
				}
			}
		}
		select {
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case <-time.After(look):
		}
	}
}
