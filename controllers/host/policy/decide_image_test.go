package policy

import (
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/controllers/host/nodespec"
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
