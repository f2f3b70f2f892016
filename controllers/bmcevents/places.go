package bmcevents

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kclient "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/bmc/address"
)

// place is a BMC that may have a subscription of a host, with what is needed to ask it
// to let that go.
type place struct {
	Address     string `json:"address"`
	Credentials string `json:"credentials,omitempty"`
	Insecure    bool   `json:"insecure,omitempty"`
}

// maxPlaces is how many BMCs of a host are remembered: the one that it has, and those
// before it that have not let go yet.
const maxPlaces = 4

// placeOf is a host's own; the zero value for a BMC without Redfish.
func placeOf(h *metal3.BareMetalHost) place {
	a, err := address.Parse(h.Spec.BMC.Address)
	if err != nil {
		return place{}
	}
	base, is := a.URL()
	if !is {
		return place{}
	}
	path := url.URL{Path: a.SystemPath()} // which was unescaped when it was read
	return place{"redfish+" + base + path.EscapedPath(), h.Spec.BMC.CredentialsName, h.Spec.BMC.DisableCertificateVerification}
}

// host is a host as it was when it had that BMC.
func (p place) host(h *metal3.BareMetalHost) *metal3.BareMetalHost {
	was := h.DeepCopy()
	was.Spec.BMC = metal3.BMCDetails{Address: p.Address, CredentialsName: p.Credentials, DisableCertificateVerification: p.Insecure}
	return was
}

// places are those of a host, the newest first. They stand on the kind BMC, for a program
// that begins anew after a host has got another BMC. A note that somebody else has written
// would have us log in elsewhere with a Secret of theirs to choose, hence it is sealed. One
// of a lost secret is of no use: what it is for cannot be told from others' subscriptions.
func (r *reconciler) places(h *metal3.BareMetalHost, b *v1alpha1.BMC) []place {
	var all []place
	seal, text, _ := strings.Cut(b.Annotations[names.SubscribedAt], " ")
	if !r.options.Keys.Sealed(string(h.UID), text, seal) || json.Unmarshal([]byte(text), &all) != nil {
		return nil
	}
	return all
}

// keepPlaces writes those of a host, if they are not those that stand there.
func (r *reconciler) keepPlaces(ctx context.Context, h *metal3.BareMetalHost, b *v1alpha1.BMC, all []place) error {
	if slices.Equal(all, r.places(h, b)) {
		return nil
	}
	text, err := json.Marshal(all)
	if err != nil {
		return err
	}
	after := b.DeepCopy()
	if len(all) > 0 {
		metav1.SetMetaDataAnnotation(&after.ObjectMeta, names.SubscribedAt, r.options.Keys.Seal(string(h.UID), string(text))+" "+string(text))
	} else {
		delete(after.Annotations, names.SubscribedAt)
	}
	if err := r.client.Patch(ctx, after, kclient.MergeFromWithOptions(b, kclient.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("note the BMCs with subscriptions of host %s: %w", h.Name, err)
	}
	b.Annotations, b.ResourceVersion = after.Annotations, after.ResourceVersion
	return nil
}

// enter notes a host's BMC before it gets a subscription.
func (r *reconciler) enter(ctx context.Context, h *metal3.BareMetalHost, b *v1alpha1.BMC) error {
	own := placeOf(h)
	if own == (place{}) {
		return nil
	}
	all := slices.Insert(r.others(h, b), 0, own)
	return r.keepPlaces(ctx, h, b, all[:min(len(all), maxPlaces)])
}

// others are the places of a host but the BMC that it has.
func (r *reconciler) others(h *metal3.BareMetalHost, b *v1alpha1.BMC) []place {
	return slices.DeleteFunc(r.places(h, b), func(p place) bool { return sourceOf(p.host(h)) == sourceOf(h) })
}

// left are the places that a host has left, or all for one that leaves. Where there never
// was a subscription, there is none.
func (r *reconciler) left(h *metal3.BareMetalHost, b *v1alpha1.BMC) []place {
	others := r.others(h, b)
	ever := r.last(kclient.ObjectKeyFromObject(h)).Known != "" || meta.FindStatusCondition(b.Status.Conditions, v1alpha1.Subscribed) != nil
	if own := placeOf(h); ever && own != (place{}) && !h.DeletionTimestamp.IsZero() {
		return slices.Insert(others, 0, own)
	}
	return others
}
