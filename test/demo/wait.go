package demo

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/controllers/host/view"
)

// look is how often the demo reads the hosts, as a person with `kubectl get -w` would see them.
const look = 500 * time.Millisecond

// watchUntil shows the hosts until done says so for all of them.
func watchUntil(ctx context.Context, c client.Client, s *screen, limit time.Duration, done func([]view.View) bool) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	defer s.Keep()
	var hosts []view.View
	for {
		next, err := readHosts(ctx, c)
		if err == nil {
			hosts = next
			s.Show(hosts)
			if done(hosts) {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return unfinished(hosts, limit, context.Cause(ctx))
		case <-time.After(look):
		}
	}
}

// unfinished names every host that did not make it, with its reason.
func unfinished(hosts []view.View, limit time.Duration, cause error) error {
	if len(hosts) == 0 {
		return fmt.Errorf("no host could be read: %w", cause)
	}
	var lines []string
	for _, v := range hosts {
		why := v.Reason
		if why == "" {
			why = v.Message()
		}
		lines = append(lines, fmt.Sprintf("  %s is %s: %s", v.Name, v.Phase, why))
	}
	return fmt.Errorf("not all hosts made it within %s: %w\n%s", limit, cause, strings.Join(lines, "\n"))
}

func readHosts(ctx context.Context, c client.Client) ([]view.View, error) {
	var list metal3v1.BareMetalHostList
	if err := c.List(ctx, &list, client.InNamespace(namespace)); err != nil {
		return nil, err
	}
	views := make([]view.View, len(list.Items))
	for i := range list.Items {
		views[i] = view.Of(&list.Items[i])
	}
	slices.SortFunc(views, func(a, b view.View) int { return strings.Compare(a.Name, b.Name) })
	return views, nil
}

// inState reports whether there are n hosts and all are in that state without an error.
func inState(n int, state metal3v1.ProvisioningState) func([]view.View) bool {
	return func(hosts []view.View) bool {
		return len(hosts) == n && !slices.ContainsFunc(hosts, func(v view.View) bool {
			return v.State != string(state) || v.ErrorType != ""
		})
	}
}
