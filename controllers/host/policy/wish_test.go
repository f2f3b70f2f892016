package policy

import (
	"maps"
	"testing"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy/nodeaction"
	"github.com/ironflow/ironflow/ironic"
)

// asked has the node be as it is before the deployment of what the host asks for now.
func asked(o *Observed) {
	full(o).InstanceInfo, full(o).Extra = map[string]any{}, map[string]any{}
	state := o.Node.ProvisionState
	o.Node.ProvisionState = ironic.StateAvailable
	want := wanted(o)
	o.Node.ProvisionState = state
	maps.Copy(full(o).Extra, want.Extra)
	for key, value := range want.InstanceInfo {
		if value != ironic.Remove {
			full(o).InstanceInfo[key] = value
		}
	}
}

// rewrite is what Ironic does to instance_info: the address that the image's own leads to,
// and the format and the checksum of what it has converted, take the place of what was asked for.
func rewrite(o *Observed) {
	info := full(o).InstanceInfo
	info["image_source"], info["image_url"] = "https://mirror-7.test/os.raw", ironic.Masked
	info["image_disk_format"], info["image_checksum"] = "raw", nil
	info["image_os_hash_algo"], info["image_os_hash_value"] = "sha256", "0123"
}

// TestWhatWasAskedForTellsWhatIsThere: what a node was asked to deploy decides what the host
// shows, and whether its failure is one of the present wish, whatever Ironic has written over it.
func TestWhatWasAskedForTellsWhatIsThere(t *testing.T) {
	image := func(url string) func(*metal3.BareMetalHost) {
		return func(h *metal3.BareMetalHost) {
			h.Spec.Image = &metal3.Image{URL: url, Checksum: "abc", ChecksumType: metal3.MD5, DiskFormat: new("qcow2")}
		}
	}
	nothing := func(*metal3.BareMetalHost) {}
	unrecorded := func(o *Observed) {
		delete(full(o).Extra, "ironflow_wish")
		delete(full(o).InstanceInfo, "ironflow_wish")
	}
	for name, c := range map[string]struct {
		first, then func(*metal3.BareMetalHost)
		given       func(*Observed)
		image       string // that an active node shows
		method      string
		other       bool // a failed node is another wish's
	}{
		"the same, redirected": {first: image("http://a/os"), then: nothing, given: rewrite, image: "http://a/os"},
		"another image":        {first: image("http://a/os"), then: image("http://b/os"), given: rewrite, image: "http://a/os", other: true},
		"another checksum":     {first: image("http://a/os"), then: func(h *metal3.BareMetalHost) { h.Spec.Image.Checksum = "def" }, given: rewrite, image: "http://a/os", other: true},
		"another format of that address": {
			first: image("http://a/os"),
			then:  func(h *metal3.BareMetalHost) { h.Spec.Image.DiskFormat = new("live-iso") },
			given: rewrite,
			image: "http://a/os", other: true,
		},
		"a method is added to an image":    {first: image("http://a/os"), then: wantInstall, given: rewrite, image: "http://a/os", other: true},
		"an image is added to a method":    {first: wantInstall, then: image("http://a/os"), method: names.StartAssistedInstall, other: true},
		"another method":                   {first: func(h *metal3.BareMetalHost) { h.Spec.CustomDeploy = &metal3.CustomDeploy{Method: "old"} }, then: wantInstall, method: "old", other: true},
		"recorded by nobody, redirected":   {first: image("http://a/os"), then: nothing, given: func(o *Observed) { rewrite(o); unrecorded(o) }, image: "http://a/os"},
		"recorded by nobody, then another": {first: image("http://a/os"), then: image("http://b/os"), given: unrecorded, image: "http://b/os"},
		"recorded by nobody, a method":     {first: wantInstall, then: nothing, given: unrecorded, method: names.StartAssistedInstall},
		"what is recorded is of a deployment before": {first: image("http://a/os"), then: image("http://b/os"), given: func(o *Observed) {
			full(o).InstanceInfo = map[string]any{"image_source": "http://b/os"} // another controller has given the machine back and deployed it
		}, image: "http://b/os"},
		"what is recorded cannot be read": {first: image("http://a/os"), then: nothing, given: func(o *Observed) { full(o).Extra["ironflow_wish"] = "by hand" }, image: "http://a/os"},
	} {
		t.Run(name, func(t *testing.T) {
			at := func(node ironic.ProvisionState) *Decision {
				o := observed(metal3.StateProvisioning, node)
				c.first(o.Host)
				asked(o)
				c.then(o.Host)
				if c.given != nil {
					c.given(o)
				}
				o.Node.LastError = "no space left"
				settled(o)
				return Decide(o)
			}
			g := NewWithT(t)
			active := at(ironic.StateActive).Status.Provisioning
			g.Expect(active.State).To(Equal(metal3.StateProvisioned))
			g.Expect(active.Image.URL).To(Equal(c.image))
			g.Expect(nodespec.MethodOf(active.CustomDeploy)).To(Equal(c.method))
			failed := at(ironic.StateDeployFailed)
			g.Expect(failed.Status.Provisioning.State == metal3.StateDeprovisioning).To(Equal(c.other), "begun anew as it is asked for now")
			g.Expect(failed.NewlyFailing()).To(Equal(!c.other))
		})
	}
}

// TestWhatGivesAMachineBack: a host that runs something is given back when nothing is asked for
// any more, or when another image or method is than is known to be there; for nothing else.
func TestWhatGivesAMachineBack(t *testing.T) {
	image := func(url string) *metal3.Image { return &metal3.Image{URL: url, Checksum: "abc"} }
	method := func(name string) *metal3.CustomDeploy { return &metal3.CustomDeploy{Method: name} }
	type wish struct {
		image  *metal3.Image
		custom *metal3.CustomDeploy
	}
	for name, c := range map[string]struct {
		there, wanted wish
		back          bool
	}{
		"nothing has changed":               {there: wish{image: image("a")}, wanted: wish{image: image("a")}},
		"another image":                     {there: wish{image: image("a")}, wanted: wish{image: image("b")}, back: true},
		"another checksum":                  {there: wish{image: image("a")}, wanted: wish{image: &metal3.Image{URL: "a", Checksum: "other"}}},
		"another format":                    {there: wish{image: image("a")}, wanted: wish{image: &metal3.Image{URL: "a", DiskFormat: new("live-iso")}}},
		"no image":                          {there: wish{image: image("a")}, back: true},
		"an empty image":                    {there: wish{image: image("a")}, wanted: wish{image: &metal3.Image{}}, back: true},
		"a method beside an image":          {there: wish{image: image("a")}, wanted: wish{image: image("a"), custom: method("m")}},
		"a method in the place of an image": {there: wish{image: image("a")}, wanted: wish{custom: method("m")}, back: true},
		"another method":                    {there: wish{custom: method("m")}, wanted: wish{custom: method("n")}, back: true},
		"no method":                         {there: wish{custom: method("m")}, back: true},
		"an empty method":                   {there: wish{custom: method("m")}, wanted: wish{custom: method("")}, back: true},
		"an image beside a method":          {there: wish{custom: method("m")}, wanted: wish{image: image("a"), custom: method("m")}},
		"an image in the place of a method": {there: wish{custom: method("m")}, wanted: wish{image: image("a")}, back: true},
		"both, and one goes":                {there: wish{image: image("a"), custom: method("m")}, wanted: wish{custom: method("m")}, back: true},
		"both, and the other goes":          {there: wish{image: image("a"), custom: method("m")}, wanted: wish{image: image("a")}, back: true},
		"it is not known what is there":     {wanted: wish{image: image("a"), custom: method("m")}},
		"nothing is wanted or known":        {back: true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := observed(metal3.StateProvisioned, ironic.StateActive)
			if c.there.image != nil {
				o.Host.Status.Provisioning.Image = *c.there.image
			}
			o.Host.Status.Provisioning.CustomDeploy = c.there.custom
			o.Host.Spec.Image, o.Host.Spec.CustomDeploy = c.wanted.image, c.wanted.custom
			settled(o)
			g.Expect(Decide(o).Status.Provisioning.State == metal3.StateDeprovisioning).To(Equal(c.back))
		})
	}
}

// TestTheRecordGoesWithTheMachine: a machine that was given back, and of which nothing is asked
// any more, keeps no word of what was on it.
func TestTheRecordGoesWithTheMachine(t *testing.T) {
	g := NewWithT(t)
	o := observed(metal3.StateAvailable, ironic.StateAvailable)
	full(o).Extra = map[string]any{"ironflow_wish": map[string]any{"method": "m"}}
	g.Expect(wanted(o).Extra).To(HaveKeyWithValue("ironflow_wish", ironic.Remove))
	wantInstall(o.Host)
	g.Expect(wanted(o).Extra).NotTo(HaveKey("ironflow_wish"), "it is about to be written anew")
}

// TestWhatWasComparedIsOfOneStatus: a node that holds what the status says, though it is written otherwise, is not read
// again and again for that. That it holds what another status said, such as that of a backup, is not known by it.
func TestWhatWasComparedIsOfOneStatus(t *testing.T) {
	g := NewWithT(t)
	o := observed(metal3.StateProvisioned, ironic.StateActive)
	o.Host.Status.Provisioning.Image = metal3.Image{URL: "a"}
	w := nodespec.WishOf(&metal3.Image{URL: "a", Checksum: "other"}, nil)
	full(o).Extra, full(o).InstanceInfo = map[string]any{"ironflow_wish": w}, map[string]any{"ironflow_wish": w.Digest()}
	full(o).Wish = w.Digest()
	o.Kept = o.Keep(false, metal3.StateProvisioned)
	o.Sight = nodeaction.Summary(full(o).Row)
	g.Expect(o.holdsOther()).To(BeFalse())
	o.Host.Status.Provisioning.Image = metal3.Image{URL: "b"}
	g.Expect(o.holdsOther()).To(BeTrue())
}

// TestWhatWasAdoptedSinceWasNotDeployed: the status, of a backup, waits for the end of a deployment. That one was given
// back since, and the machine adopted with what somebody else has installed.
func TestWhatWasAdoptedSinceWasNotDeployed(t *testing.T) {
	for name, c := range map[string]struct {
		external bool
		want     State
		cause    string
	}{
		"nobody says whose it is": {want: metal3.StateProvisioning, cause: "UnknownInstance"},
		"it is said to be kept":   {external: true, want: metal3.StateExternallyProvisioned},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := observed(metal3.StateProvisioning, ironic.StateActive)
			o.Host.Spec.Image, o.Host.Spec.ExternallyProvisioned = &metal3.Image{URL: "a", Checksum: "c"}, c.external
			full(o).Extra = map[string]any{"ironflow_begun": "2026-01-02T11:00:00Z"}
			d := Decide(o)
			g.Expect(d.Status.Provisioning.State).To(Equal(c.want))
			g.Expect(d.Cause).To(Equal(c.cause))
		})
	}
}
