package bmc

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kclient "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/controllers/reconcile"
)

// longestProbe bounds a probe, and so how long a host waits for the verdict on its wishes.
const longestProbe = 2 * time.Minute

var (
	errTooLong = errors.New("the BMC did not give its report within two minutes")
	errNoTurn  = errors.New("other hosts of the same BMC were probed for two minutes")
)

// probe makes a new report, if one is due. The old one stays while the BMC is
// away, unless it is of another BMC.
func (r *reconciler) probe(ctx context.Context, h *metal3.BareMetalHost, b *v1alpha1.BMC, o hostObjects, t client.Target, c *client.Client) error {
	firmware, err := r.firmware(ctx, h)
	if err != nil {
		return err
	}
	in := input{Address: t.URL + t.System, Request: h.Annotations[names.Probe], Firmware: firmware, State: h.Status.Provisioning.State}
	if lasting(o.wishes) {
		in.Rested = rested(h)
	}
	if due(b, in) == "" {
		return nil
	}
	before := b.Status.Report
	if last := b.Status.Probed; last != nil && last.Address != in.Address { // it says nothing of this BMC
		b.Status.Report, b.Status.Probed = nil, nil
	}
	report, err := r.ask(ctx, t, c)
	key := kclient.ObjectKeyFromObject(h)
	if err != nil {
		return r.unreached(key, err)
	}
	r.succeeded(key)
	if before != nil && !report.Time.After(before.Time.Time) { // verdicts tell reports apart by their time
		report.Time = metav1.NewTime(before.Time.Add(time.Second))
	}
	b.Status.Report = report
	b.Status.Probed = &v1alpha1.Probed{Address: in.Address, Request: in.Request, Firmware: in.Firmware, Time: metav1.NewTime(r.options.Now())}
	return nil
}

// ask probes the BMC when it is this host's turn. Neither the one nor the other takes longer
// than a host may wait for a verdict on its wishes.
func (r *reconciler) ask(ctx context.Context, t client.Target, c *client.Client) (*v1alpha1.BMCReport, error) {
	waiting, enough := context.WithTimeoutCause(ctx, longestProbe, errNoTurn)
	defer enough()
	end, err := r.turns.take(waiting, t.URL)
	if err != nil {
		return nil, err
	}
	defer end()
	ctx, stop := context.WithTimeoutCause(ctx, longestProbe, errTooLong)
	defer stop()
	began := r.options.Now()
	report, err := r.options.Probe(ctx, c, t)
	r.options.Metrics.Probed(r.options.Now().Sub(began), err)
	return report, err
}

// unreached says what follows from a probe that failed. Credentials that a BMC refuses
// are not tried again: that would lock the account. A lock ends, so after one they are.
func (r *reconciler) unreached(key kclient.ObjectKey, err error) error {
	after := again(r.failed(key))
	switch kindOf(err) {
	case client.LockedOut:
		if e, ok := errors.AsType[*client.Error](err); ok && e.RetryAfter > 0 {
			return &reconcile.Unavailable{What: "the BMC's account", Err: err, After: e.RetryAfter}
		}
		return &reconcile.Stalled{Reason: ReasonBadCredentials, Message: err.Error(), Err: err}
	case client.Credentials, client.PasswordChange:
		return &reconcile.Stalled{Reason: ReasonBadCredentials, Message: err.Error(), Err: err}
	default:
		return &reconcile.Unavailable{What: "the BMC", Err: err, After: after}
	}
}

// firmware is a digest of the versions that Ironic knows of the machine; empty for none.
func (r *reconciler) firmware(ctx context.Context, h *metal3.BareMetalHost) (string, error) {
	c := &metal3.HostFirmwareComponents{}
	if err := r.client.Get(ctx, kclient.ObjectKeyFromObject(h), c, kclient.UnsafeDisableDeepCopy); err != nil {
		if apierrors.IsNotFound(err) {
			return "", nil
		}
		return "", fmt.Errorf("read HostFirmwareComponents: %w", err)
	}
	var versions []string
	for _, component := range c.Status.Components {
		versions = append(versions, component.Component+" "+component.CurrentVersion)
	}
	if len(versions) == 0 {
		return "", nil
	}
	slices.Sort(versions)
	sum := sha256.Sum256(fmt.Append(nil, versions))
	return hex.EncodeToString(sum[:8]), nil
}
