package policy

import (
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy/nodeaction"
	"github.com/ironflow/ironflow/ironic"
)

// deprovisioning is a host that is being given back, whose node names the live image of
// before.
func deprovisioning() *Observed {
	o := observed(metal3.StateDeprovisioning, ironic.StateActive)
	o.Settings.BuildImages = true
	full(o).DriverInfo = map[string]any{"deploy_iso": "http://images.test/before.iso"}
	o.Image = nodespec.LiveImage{Asked: true, Ready: true, Format: metal3.ImageFormatISO, URL: "http://images.test/now.iso"}
	return o
}

// deleted has the host deleted for so long.
func deleted(ago time.Duration) func(*Observed) {
	return func(o *Observed) { o.Host.DeletionTimestamp = new(metav1.NewTime(noon.Add(-ago))) }
}

// TestAMachineIsCleanedByTheImageThatIsServed has hosts whose live image was built anew
// while they were provisioned: their nodes name an address that is served no more. What
// cleans them boots the present one, whether the host stays or goes.
func TestAMachineIsCleanedByTheImageThatIsServed(t *testing.T) {
	for name, given := range map[string]func(*Observed){
		"given back":          func(*Observed) {},
		"deleted":             deleted(0),
		"deleted a while ago": deleted(time.Hour),
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := deprovisioning()
			given(o)
			g.Expect(wanted(o).DriverInfo).To(HaveKeyWithValue("deploy_iso", "http://images.test/now.iso"))
		})
	}
}

// TestWhoWaitsForALiveImageToBeCleaned: a host that stays waits until there is one; one
// that is deleted goes on where none is to be expected, by the one that its node names.
func TestWhoWaitsForALiveImageToBeCleaned(t *testing.T) {
	building := nodespec.LiveImage{Asked: true, Note: "writing"}
	broken := nodespec.LiveImage{Asked: true, Error: "no base image"}
	for name, c := range map[string]struct {
		image nodespec.LiveImage
		given func(*Observed)
		goes  bool
		after time.Duration
	}{
		"being built":                              {building, func(*Observed) {}, false, waitImage},
		"being built, deleted":                     {building, deleted(time.Minute), false, waitImage - time.Minute},
		"being built, deleted long ago":            {building, deleted(waitImage), true, 0},
		"cannot be built":                          {broken, func(*Observed) {}, false, -1},
		"cannot be built, deleted":                 {broken, deleted(time.Minute), true, 0},
		"gone, deleted":                            {nodespec.LiveImage{}, deleted(time.Minute), true, 0},
		"without cleaning, gone":                   {nodespec.LiveImage{}, withoutCleaning, true, 0},
		"without cleaning, cannot be built at all": {broken, withoutCleaning, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := deprovisioning()
			o.Image = c.image
			c.given(o)
			d := &Decision{Status: *o.Host.Status.DeepCopy()}
			g.Expect(!wantsImage(o, known(o)) || liveImage(o, d, known(o))).To(Equal(c.goes))
			if c.after >= 0 { // else it fails, and the back-off says
				g.Expect(d.Wait.After).To(Equal(c.after))
			}
			if c.goes {
				g.Expect(d.Do).To(BeNil(), "nothing is asked for")
				g.Expect(wanted(o).DriverInfo).NotTo(HaveKey("deploy_iso"), "the node names what it named")
			}
		})
	}
}

// withoutCleaning has a host that asks for no cleaning.
func withoutCleaning(o *Observed) { o.Host.Spec.AutomatedCleaningMode = metal3.CleaningModeDisabled }

// TestAWishThatIsTakenBackKeepsTheMachine only where all agree that nothing else is on it, and that nobody is at work on it.
func TestAWishThatIsTakenBackKeepsTheMachine(t *testing.T) {
	image := func(url string) *metal3.Image { return &metal3.Image{URL: url, Checksum: "abc"} }
	for name, c := range map[string]struct {
		given func(*Observed)
		enter State
		do    string
	}{
		"taken back":                  {given: func(*Observed) {}, enter: metal3.StateProvisioned},
		"another checksum":            {given: func(o *Observed) { o.Host.Spec.Image.Checksum = "def" }, enter: metal3.StateProvisioned},
		"deployed by another program": {given: func(o *Observed) { full(o).Extra, full(o).InstanceInfo = nil, nil }, enter: metal3.StateProvisioned},
		"while the live image is built": {given: func(o *Observed) {
			o.Image = nodespec.LiveImage{Asked: true, Note: "writing"}
		}, enter: metal3.StateProvisioned},
		"locked":                     {given: func(o *Observed) { o.Node.Reservation = "conductor" }},
		"not read now":               {given: func(o *Observed) { o.Sight = nodeaction.Remembered(*full(o), *o.Node) }, do: "read node"},
		"still another":              {given: func(o *Observed) { o.Host.Spec.Image = image("http://b/os") }, do: "ask for deleted"},
		"nothing is asked for":       {given: func(o *Observed) { o.Host.Spec.Image = nil }, do: "ask for deleted"},
		"it is installed by the hub": {given: hubInstalled, do: "ask for deleted"},
		"the host is deleted":        {given: deleted(0), do: "ask for deleted"},
		"Ironic tears it down":       {given: func(o *Observed) { o.Node.ProvisionState = ironic.StateDeleting }},
		"tearing it down has failed": {given: func(o *Observed) { o.Node.ProvisionState = ironic.StateError; o.Node.LastError = "no power" }},
		"its servicing has failed":   {given: func(o *Observed) { o.Node.ProvisionState = ironic.StateServiceFailed }, do: "ask for deleted"},
		"the node records something else": {given: func(o *Observed) {
			o.Host.Status.Provisioning.Image, o.Host.Spec.Image = *image("http://c/os"), image("http://c/os")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := deprovisioning()
			o.Host.Spec.Image, o.Host.Status.Provisioning.Image = image("http://a/os"), *image("http://a/os")
			o.Host.Status.Provisioning.State = metal3.StateProvisioning
			asked(o)
			o.Host.Status.Provisioning.State = metal3.StateDeprovisioning
			full(o).AutomatedClean = new(true)
			c.given(o)
			if _, known := o.InFull(); known {
				o.Applied = new(wanted(o))
			}
			d := Decide(o)
			name := ""
			if d.Do != nil {
				name = d.Do.Name()
			}
			g.Expect(name).To(Equal(c.do))
			want := c.enter
			if want == "" {
				want = metal3.StateDeprovisioning
			}
			g.Expect(d.Status.Provisioning.State).To(Equal(want))
		})
	}
}

// hubInstalled is a host that runs what the hub has installed.
func hubInstalled(o *Observed) {
	wantInstall(o.Host)
	o.Host.Spec.Image = nil
	nodespec.Wanted(o.Host).ToStatus(&o.Host.Status.Provisioning)
	full(o).Extra, full(o).InstanceInfo = nil, nil
}
