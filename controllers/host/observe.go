package host

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"time"

	"github.com/ironflow/ironflow/controllers/host/metrics"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/view"
	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/ironic"
)

// observe reads what every pass needs, all of it from caches and memory: the
// node itself is looked at only when a decision asks for it.
func (r *Reconciler) observe(ctx context.Context, h *metal3.BareMetalHost, m *memory, watch NodeWatch) (*policy.Observed, error) {
	o := &policy.Observed{Now: time.Now(), Host: h, Settings: r.options.Settings}
	if reconcile.KeptOff(h) == "" {
		if err := r.observeObjects(ctx, o); err != nil {
			return nil, err
		}
	} else {
		o.BMC.Access, _ = nodespec.AccessOf(h) // it counts for the same limits as before
	}
	if r.options.Progress != nil {
		o.Progress, _ = r.options.Progress.HostProgress(client.ObjectKeyFromObject(h))
	}
	if r.options.Reads != nil {
		o.Read = r.options.Reads.ImageRead(client.ObjectKeyFromObject(h))
	}
	readSummary(o, m, watch)
	o.Fresh, o.NoInventory = m.Fresh, m.NoInventory
	o.Ports, o.PowerAsked, o.SoftRefused = m.Ports, m.PowerAsked, m.SoftRefused
	o.LostAgent, o.Rebooted, o.Busy, o.Looked = m.LostAgent.of(o.Node), m.Rebooted, m.Busy, m.Looked
	o.TurnedAway, o.Verifying = m.TurnedAway, m.Verifying
	o.Retry = r.retryAsked(ctx, o, m)
	return o, nil
}

// observeObjects reads what belongs to the host. The Secrets on the way are marked as
// the host's, which is not for a host that everybody is kept off.
func (r *Reconciler) observeObjects(ctx context.Context, o *policy.Observed) (err error) {
	h := o.Host
	if o.Hardware, err = r.objects.hardware(ctx, h); err != nil {
		return err
	}
	if state := o.State(); state != metal3.StateUnmanaged && (state != policy.StateNone || h.HasBMCDetails()) {
		if o.BMC, err = r.secrets.bmc(ctx, h); err != nil {
			r.metrics.Add(policy.Count{Metric: metrics.CredentialsUnhandled})
			return err
		}
	}
	if err := r.observeNetwork(ctx, o); err != nil {
		return err
	}
	if o.Settings.BuildImages {
		image, err := r.objects.image(ctx, h)
		if err != nil {
			return err
		}
		if o.Image, err = r.judgeImage(ctx, o, image); err != nil {
			return err
		}
	}
	if o.Media, err = r.observeMedia(ctx, h); err != nil {
		return err
	}
	o.Firmware, err = r.observeFirmware(ctx, h)
	return err
}

// judgeImage reads a PreprovisioningImage against what the host asks for.
func (r *Reconciler) judgeImage(ctx context.Context, o *policy.Observed, image *metal3.PreprovisioningImage) (nodespec.LiveImage, error) {
	want := nodespec.ImageSpec(o.NodeInput())
	version := ""
	if want.NetworkDataName != "" {
		secret, found, err := r.secrets.get(ctx, types.NamespacedName{Namespace: o.Host.Namespace, Name: want.NetworkDataName})
		if err != nil {
			return nodespec.LiveImage{}, err
		}
		if found {
			if err := r.secrets.label(ctx, secret); err != nil {
				return nodespec.LiveImage{}, err
			}
			version = secret.ResourceVersion
		}
	}
	live := nodespec.ReadImage(image, want, version, o.Settings.LiveImageFor(want.Architecture).Kernel)
	live.Unlike = image != nil && nodespec.CopyLabels(o.Host, image.DeepCopy())
	return live, nil
}

// readSummary takes what the watch knows of the host's node. What is remembered of
// another node is dropped.
func readSummary(o *policy.Observed, m *memory, watch NodeWatch) {
	id := o.Host.Status.Provisioning.ID
	if m.NodeID != id {
		*m = memory{NodeID: id, Seen: m.Seen, LostAgent: m.LostAgent}
	}
	if id == "" {
		return
	}
	if m.Removed {
		o.Detail = policy.Missing
		return
	}
	row, known := watch.Row(id)
	if !known {
		return
	}
	o.Detail, o.Node = policy.Summary, &ironic.Node{}
	if m.Node != nil && m.Node.UUID == id {
		*o.Node = *m.Node
		o.Detail = policy.Cached
	}
	row.Show(o.Node)
}

// retryAsked reports whether a failing host should be tried again before its
// back-off is over: something that it depends on differs from when the error was
// recorded. After a restart of the program that moment is not known; then a newer
// generation counts, and so does a retry annotation that was not dealt with.
func (r *Reconciler) retryAsked(ctx context.Context, o *policy.Observed, m *memory) bool {
	if !o.Failing() && policy.FailedDetaches(o.Host) == 0 {
		return false
	}
	if m.Seen != "" {
		return m.Seen != r.fingerprint(ctx, o)
	}
	c := meta.FindStatusCondition(o.Host.Status.Conditions, view.StalledCondition)
	changed := c != nil && c.Status == metav1.ConditionTrue && c.ObservedGeneration < o.Host.Generation
	return changed || policy.RetryPending(o.Host) || policy.NewCredentials(o)
}

// fingerprint sums up everything that a user could change to mend a failure:
// spec, annotations, and the Secrets that are referred to.
func (r *Reconciler) fingerprint(ctx context.Context, o *policy.Observed) string {
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
	for _, name := range referredSecrets(h) {
		if secret, found, err := r.secrets.get(ctx, types.NamespacedName{Namespace: h.Namespace, Name: name}); err == nil && found {
			write([]string{name, secret.ResourceVersion})
		}
	}
	return fmt.Sprintf("%x", sum.Sum64())
}

// referredSecrets names the Secrets of a host besides the BMC's.
func referredSecrets(h *metal3.BareMetalHost) []string {
	list := []string{h.Spec.PreprovisioningNetworkDataName}
	for _, ref := range []*corev1.SecretReference{h.Spec.UserData, h.Spec.NetworkData, h.Spec.MetaData} {
		if ref != nil {
			list = append(list, ref.Name)
		}
	}
	if h.Spec.Image != nil && h.Spec.Image.OCIAuthSecretName != nil {
		list = append(list, *h.Spec.Image.OCIAuthSecretName)
	}
	slices.Sort(list)
	return slices.DeleteFunc(slices.Compact(list), func(s string) bool { return s == "" })
}
