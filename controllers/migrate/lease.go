package migrate

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/names"
)

// leaseLook is how often a held lease is looked at again.
const leaseLook = 5 * time.Second

// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,verbs=get;list;watch

// WaitForLease returns when no other BareMetalHost operator holds its lease: two
// at once would undo each other's work.
func WaitForLease(ctx context.Context, c client.Reader, log logr.Logger) error {
	said := ""
	for {
		holder, err := LeaseHolder(ctx, c, time.Now())
		if err != nil {
			return err
		}
		if holder == "" {
			return nil
		}
		if holder != said {
			log.Info("another BareMetalHost operator is running; waiting for its lease to go: stop it to hand over",
				"lease", names.OperatorLease, "holder", holder)
			said = holder
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(leaseLook):
		}
	}
}

// LeaseHolder returns who holds baremetal-operator's lease in any namespace,
// as "namespace/holder"; empty for nobody.
func LeaseHolder(ctx context.Context, c client.Reader, now time.Time) (string, error) {
	var leases coordinationv1.LeaseList
	if err := c.List(ctx, &leases); err != nil {
		return "", fmt.Errorf("look for baremetal-operator's lease in the cluster: %w", err)
	}
	for _, l := range leases.Items {
		if l.Name == names.OperatorLease && held(l.Spec, now) {
			return l.Namespace + "/" + *l.Spec.HolderIdentity, nil
		}
	}
	return "", nil
}

// held reports whether the lease has a holder that renewed it in time.
func held(l coordinationv1.LeaseSpec, now time.Time) bool {
	if l.HolderIdentity == nil || *l.HolderIdentity == "" || l.RenewTime == nil || l.LeaseDurationSeconds == nil {
		return false
	}
	return now.Before(l.RenewTime.Add(time.Duration(*l.LeaseDurationSeconds) * time.Second))
}
