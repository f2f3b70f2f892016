package claim

import (
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/controllers/reconcile"
)

// report writes what was come to into the claim's status.
func report(in Input, v Verdict) {
	c := in.Claim
	before := c.Status.DeepCopy()
	switch {
	case in.Host != nil && consumes(c, in.Host):
		reportHost(c, in.Host, in.Hardware)
	case c.Status.BareMetalHost == nil:
		c.Status.HardwareData, c.Status.PoweredOn = nil, false
	}
	set := func(kind string, x Condition) bool {
		status := metav1.ConditionFalse
		if x.True {
			status = metav1.ConditionTrue
		}
		reconcile.SetCondition(c, kind, status, x.Reason, x.Message)
		return x.True
	}
	provisioned := provisionedOf(in)
	ready := v.Associated
	for _, x := range []struct {
		kind string
		Condition
	}{
		{metal3.AssociatedCondition, v.Associated},
		{metal3.SynchronizedCondition, v.Synchronized},
		{metal3.ProvisionedCondition, provisioned},
	} {
		if fine := set(x.kind, x.Condition); fine || !ready.True {
			continue
		}
		ready = x.Condition // the first that is missing says why
	}
	if ready.True {
		ready = provisioned
	}
	set(metal3.ReadyCondition, ready)
	if !equality.Semantic.DeepEqual(*before, c.Status) {
		now := metav1.NewTime(time.Now()).Rfc3339Copy()
		c.Status.LastUpdated = &now
	}
}

func reportHost(c *metal3.HostClaim, h *metal3.BareMetalHost, hardware bool) {
	ref := metal3.ObjectReference{Namespace: h.Namespace, Name: h.Name}
	c.Status.BareMetalHost, c.Status.HardwareData = &ref, nil
	if hardware {
		c.Status.HardwareData = ref.DeepCopy()
	}
	c.Status.PoweredOn = h.Status.PoweredOn
}

// provisionedOf repeats what the host says, in its words: its own conditions are
// out of sight for whoever has the claim only.
func provisionedOf(in Input) Condition {
	if in.Host == nil || !consumes(in.Claim, in.Host) {
		return Condition{Reason: metal3.NotProvisionedReason}
	}
	h := in.Host
	if meta.IsStatusConditionTrue(h.Status.Conditions, metal3.ProvisionedCondition) && h.Status.ErrorMessage == "" {
		return Condition{True: true, Reason: metal3.ProvisionedReason}
	}
	if h.Status.ErrorMessage != "" {
		return Condition{Reason: metal3.ErrorReason, Message: h.Status.ErrorMessage}
	}
	x := Condition{Reason: metal3.NotProvisionedReason}
	if p := meta.FindStatusCondition(h.Status.Conditions, metal3.ProgressingCondition); p != nil && p.Status == metav1.ConditionTrue {
		x.Reason, x.Message = p.Reason, p.Message
	}
	return x
}
