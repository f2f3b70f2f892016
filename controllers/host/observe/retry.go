package observe

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/controllers/host/trigger"
	"github.com/ironflow/ironflow/controllers/host/view"
	"github.com/ironflow/ironflow/controllers/reconcile"
)

// retryAsked reports whether a failing host should be tried again before its back-off is
// over: a trigger differs from when the error was recorded. Of an error that another
// program or an older version has recorded that is not known; then a newer generation
// counts, and so do a retry annotation that was not dealt with and new credentials.
func (b *Observer) retryAsked(ctx context.Context, o *policy.Observed) (bool, error) {
	if !policy.Failed(o.Host) || reconcile.KeptOff(o.Host) != "" {
		return false, nil
	}
	before, known := trigger.RecordOf(o.Host)
	if !known {
		c := meta.FindStatusCondition(o.Host.Status.Conditions, view.StalledCondition)
		changed := c != nil && c.Status == metav1.ConditionTrue && c.ObservedGeneration < o.Host.Generation
		return changed || policy.RetryPending(o.Host) || policy.NewCredentials(o), nil
	}
	now, err := b.Triggers(ctx, o)
	return len(trigger.Changed(before, now, o.Host.Status.ErrorType)) > 0, err
}

// Triggers reads all that a user could change to mend a failure.
func (b *Observer) Triggers(ctx context.Context, o *policy.Observed) (trigger.Record, error) {
	secrets, err := b.Store.Contents(ctx, o.Host)
	if err != nil {
		return nil, err
	}
	firmware, err := b.observeFirmware(ctx, o.Host) // as the phase of now has it, which may have begun in this pass
	if err != nil {
		return nil, err
	}
	return trigger.Of(trigger.Facts{
		Host: o.Host, Detaching: policy.FailedDetaches(o.Host) > 0,
		Credentials: o.BMC.Content, Secrets: secrets, Firmware: firmware.Wish(),
	}), nil
}
