package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ironflowv1 "github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/api/names"
)

// stands is how long what only a person can mend stands before it is believed: what was mended a moment ago is looked at again
// because the report was asked for.
const stands = 10 * time.Second

// byPerson are the reasons of a BMC's condition Ready that no other attempt ends.
var byPerson = []string{"NoRedfish", "BadAddress", "NoCredentials", "BadCredentials"}

// probing asks for one report.
type probing struct {
	client  client.WithWatch
	key     types.NamespacedName
	request string
	wait    time.Duration

	report *ironflowv1.BMCReport
	// last is what was seen of the BMC last, bad what only a person can mend, since when it is seen.
	last, bad string
	since     time.Time
}

// run asks for a report and waits for it. A BMC that cannot be asked is an error that says why.
func (p *probing) run(ctx context.Context) (*ironflowv1.BMCReport, error) {
	h := &metal3v1.BareMetalHost{}
	if err := readHost(ctx, p.client, p.key, h); err != nil {
		return nil, err
	}
	if why := keptOff(h, byHand); why != "" {
		return nil, exitError{fmt.Errorf("host %s: %s, and its BMC is not asked until then: %s", h.Name, why, keptOffEnds(h)), exitPerson}
	}
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, names.Probe, p.request)
	if err := p.client.Patch(ctx, h, client.RawPatch(types.MergePatchType, patch)); err != nil {
		return nil, fmt.Errorf("host %s: %w", p.key.Name, err)
	}
	look := time.NewTicker(time.Second)
	defer look.Stop()
	f := follower{
		client: p.client, kinds: []schema.GroupVersionKind{ironflowv1.GroupVersion.WithKind("BMC")}, namespace: p.key.Namespace, name: p.key.Name, tick: look.C,
	}
	err := f.run(ctx, p.see)
	if errors.Is(err, errTimeout) || errors.Is(err, context.DeadlineExceeded) {
		text := fmt.Sprintf("no report of host %s after %s: is ironflow running with --bmc?", p.key.Name, p.wait)
		if p.last != "" {
			text += "\n" + p.last
		}
		return nil, timedOut("%s", text)
	}
	return p.report, err
}

// see takes what has changed of the BMC.
func (p *probing) see(changed, _ []*unstructured.Unstructured) (bool, error) {
	for _, o := range changed {
		b, err := typed[ironflowv1.BMC](o)
		if err != nil {
			return false, err
		}
		if b.Status.Probed != nil && b.Status.Probed.Request == p.request {
			p.report = b.Status.Report
			return true, nil
		}
		if c := meta.FindStatusCondition(b.Status.Conditions, ironflowv1.Reachable); c != nil && c.Status == metav1.ConditionFalse {
			p.last = c.Message
		}
		bad := ""
		if c := meta.FindStatusCondition(b.Status.Conditions, ironflowv1.Ready); c != nil && c.Status == metav1.ConditionFalse && slices.Contains(byPerson, c.Reason) {
			bad = c.Reason + ": " + c.Message
		}
		if bad != p.bad {
			p.bad, p.since = bad, time.Now()
		}
	}
	if p.bad != "" && time.Since(p.since) >= stands {
		return false, exitError{fmt.Errorf("only a person can go on: the BMC of host %s cannot be asked: %s", p.key.Name, p.bad), exitPerson}
	}
	return false, nil
}
