package nodespec

import (
	"encoding/json"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/ironic"
)

// Wish is what a host is, or was, asked to run: an image, a custom method, or both.
// The zero Wish asks for nothing.
//
// Whether something else is asked for than was deployed is decided by two wishes, never
// by the node's instance_info: Ironic writes there itself (the address that an image's
// own redirects to, the format and the checksum of what it has converted), and hides
// parts of addresses when it is read.
type Wish struct {
	// Image is nil for none.
	Image *metal3.Image `json:"image,omitempty"`
	// Method is empty for none.
	Method string `json:"method,omitempty"`
}

// keyWish is, in extra (where the watch sees that it is another one), the wish that a node's deployment carries out, and in
// instance_info that wish's digest. Ironic empties instance_info with the instance, so
// that a wish in extra without its digest is one of before.
const keyWish = ironic.KeyWish

// KeyBegun is, in instance_info, when the deployment began that the node holds, as the host's
// status had it then. It tells a deployment from an earlier one of the same wish. In extra it
// is that of the last one, which Ironic keeps when it empties instance_info.
const KeyBegun = "ironflow_begun"

// BeginsAnew says when a deployment begins that is about to be made, where the host's status
// tells a time at which another one may have begun that the node has had: as after a restore from a
// backup of when that was under way. No two deployments of a node have one beginning.
func BeginsAnew(h *metal3.BareMetalHost, n *ironic.Node, now time.Time) (metav1.Time, bool) {
	told := h.Status.OperationHistory.Provision.Start
	last, err := time.Parse(time.RFC3339, text(n.Extra, KeyBegun))
	switch {
	case h.Status.Provisioning.State != metal3.StateProvisioning || !Deployable(n.ProvisionState):
	case err != nil || told.After(last) || text(n.InstanceInfo, KeyBegun) == Begun(h):
	case now.Truncate(time.Second).After(last):
		return metav1.NewTime(now).Rfc3339Copy(), true
	default: // by another clock than ours
		return metav1.NewTime(last.Add(time.Second)), true
	}
	return metav1.Time{}, false
}

// Begun is when the deployment began that a host's status knows of; empty for none.
func Begun(h *metal3.BareMetalHost) string {
	start := h.Status.OperationHistory.Provision.Start
	if start.IsZero() {
		return ""
	}
	return start.UTC().Format(time.RFC3339)
}

// OfAnotherTime reports whether a node holds a deployment that began at another time than the
// one that the host's status knows of, if any, as far as the node tells.
func OfAnotherTime(h *metal3.BareMetalHost, n *ironic.Node) bool {
	recorded := text(n.InstanceInfo, KeyBegun)
	return recorded != "" && recorded != Begun(h)
}

// GivenBack reports whether a node records that what was deployed on it last was given back: it has
// had a deployment, and nothing is recorded to be on it by now. One that was enrolled in the place of
// another one has had none itself.
func GivenBack(n *ironic.Node) bool {
	_, holds := RecordedWish(n)
	return text(n.Extra, KeyBegun) != "" && !holds && n.Extra[keyBaseline] != baselineUnknown
}

// RecordedBegin is when the deployment began that a node holds; false where that is not known.
func RecordedBegin(n *ironic.Node) (metav1.Time, bool) {
	at, err := time.Parse(time.RFC3339, text(n.InstanceInfo, KeyBegun))
	return metav1.NewTime(at), err == nil
}

// WishOf is the wish for an image and a method, each of which may be nil or empty.
func WishOf(image *metal3.Image, custom *metal3.CustomDeploy) Wish {
	w := Wish{Method: MethodOf(custom)}
	if image != nil && image.URL != "" {
		w.Image = image.DeepCopy()
	}
	return w
}

// Wanted is what the spec asks for.
func Wanted(h *metal3.BareMetalHost) Wish { return WishOf(h.Spec.Image, h.Spec.CustomDeploy) }

// Deployed is what the status says is on the machine; the zero Wish where that is nothing
// or not known.
func Deployed(h *metal3.BareMetalHost) Wish {
	return WishOf(&h.Status.Provisioning.Image, h.Status.Provisioning.CustomDeploy)
}

// RecordedWish is the wish that the node's deployment carries out. It is not known of a
// deployment that another controller, or an older version, has begun.
func RecordedWish(n *ironic.Node) (w Wish, known bool) {
	raw, err := json.Marshal(n.Extra[keyWish])
	if err != nil || json.Unmarshal(raw, &w) != nil || w == (Wish{}) || text(n.InstanceInfo, keyWish) != w.Digest() {
		return Wish{}, false
	}
	return w, true
}

// record has the node keep the wish. It goes with the fields of the instance, in the
// request that is made before the deployment.
func (w Wish) record(d *ironic.Desired) {
	if w == (Wish{}) {
		return
	}
	d.InstanceInfo[keyWish] = w.Digest()
	d.Extra[keyWish] = w
}

// Digest names the wish: another image, method, format or checksum, another name. The watch
// has the same of what a node keeps.
func (w Wish) Digest() string { return ironic.WishDigest(w) }

// Same reports whether two wishes agree in everything.
func (w Wish) Same(other Wish) bool { return equality.Semantic.DeepEqual(w, other) }

// URL is the image's address, empty for none.
func (w Wish) URL() string {
	if w.Image == nil {
		return ""
	}
	return w.Image.URL
}

// Changed reports whether a host that runs something is to be given back, as the existing
// operator decides it: nothing is wanted any more, or the image's address or the method is
// not the one that is known to be there. What is wanted besides touches nothing: a method
// where only an image is known, an image where only a method is, another checksum or format
// of the same address.
func Changed(wanted, deployed Wish) bool {
	return wanted == (Wish{}) ||
		deployed.URL() != "" && wanted.URL() != deployed.URL() ||
		deployed.Method != "" && wanted.Method != deployed.Method
}

// OtherWanted reports whether the spec asks for something else than is known to be on the machine.
// While it says that somebody else installs the machine, it asks for nothing.
func OtherWanted(h *metal3.BareMetalHost) bool {
	return !h.Spec.ExternallyProvisioned && Changed(Wanted(h), Deployed(h))
}

// ToStatus puts the wish where the status says what is on the machine.
func (w Wish) ToStatus(p *metal3.ProvisionStatus) {
	p.Image, p.CustomDeploy = metal3.Image{}, nil
	if w.Image != nil {
		p.Image = *w.Image.DeepCopy()
	}
	if w.Method != "" {
		p.CustomDeploy = &metal3.CustomDeploy{Method: w.Method}
	}
}

// String names what is, or is to be, deployed, without the credentials of its address.
func (w Wish) String() string {
	switch {
	case w.Method != "" && w.Image != nil:
		return w.Method + " with " + ironic.Redact(w.Image.URL)
	case w.Method != "":
		return w.Method
	case w.Image != nil:
		return ironic.Redact(w.Image.URL)
	}
	return "nothing"
}
