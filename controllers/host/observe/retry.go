package observe

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/memory"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/controllers/host/resources"
	"github.com/ironflow/ironflow/controllers/host/view"
)

// retryAsked reports whether a failing host should be tried again before its
// back-off is over: something that it depends on differs from when the error was
// recorded. After a restart of the program that moment is not known; then a newer
// generation counts, and so does a retry annotation that was not dealt with.
func (b *Observer) retryAsked(ctx context.Context, o *policy.Observed, m *memory.Memory) bool {
	if !o.Failing() && policy.FailedDetaches(o.Host) == 0 {
		return false
	}
	if m.Seen != "" {
		return m.Seen != b.Fingerprint(ctx, o)
	}
	c := meta.FindStatusCondition(o.Host.Status.Conditions, view.StalledCondition)
	changed := c != nil && c.Status == metav1.ConditionTrue && c.ObservedGeneration < o.Host.Generation
	return changed || policy.RetryPending(o.Host) || policy.NewCredentials(o)
}

// Fingerprint sums up everything that a user could change to mend a failure:
// spec, annotations, and the Secrets that are referred to.
func (b *Observer) Fingerprint(ctx context.Context, o *policy.Observed) string {
	h := o.Host
	sum := fnv.New64a()
	write := func(v any) {
		raw, err := json.Marshal(v)
		fmt.Fprintln(sum, string(raw), err)
	}
	write(h.Generation)
	write(h.DeletionTimestamp)
	annotations := maps.Clone(h.Annotations)
	delete(annotations, names.Status)
	delete(annotations, names.Rebooting)
	write(annotations) // JSON sorts the keys
	write([]string{o.BMC.Secret, o.BMC.Version, o.BMC.Problem})
	write(o.Firmware.Wish())
	for _, name := range resources.SecretNames(h) {
		if secret, found, err := b.Store.Secret(ctx, types.NamespacedName{Namespace: h.Namespace, Name: name}); err == nil && found {
			write([]string{name, secret.ResourceVersion})
		}
	}
	return fmt.Sprintf("%x", sum.Sum64())
}
