package reconcile

import (
	"testing"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
)

func TestDifference(t *testing.T) {
	for _, c := range []struct{ name, before, after, want string }{
		{"nothing", `{"a":1,"b":{"c":[1]}}`, `{"a":1,"b":{"c":[1]}}`, `{}`},
		{"changed", `{"a":1,"b":2}`, `{"a":1,"b":3}`, `{"b":3}`},
		{"new", `{"a":1}`, `{"a":1,"b":{"c":2}}`, `{"b":{"c":2}}`},
		{"gone", `{"a":1,"b":2}`, `{"a":1}`, `{"b":null}`},
		{"changed inside", `{"a":{"x":1,"y":2},"b":1}`, `{"a":{"x":1,"y":3},"b":1}`, `{"a":{"y":3}}`},
		{"gone inside", `{"a":{"x":1,"y":{"z":1}}}`, `{"a":{"x":1}}`, `{"a":{"y":null}}`},
		{"lists are replaced", `{"a":[{"x":1},{"x":2}]}`, `{"a":[{"x":1},{"x":3}]}`, `{"a":[{"x":1},{"x":3}]}`},
		{"an object becomes something else", `{"a":{"x":1}}`, `{"a":"x"}`, `{"a":"x"}`},
		{"something becomes an object", `{"a":"x"}`, `{"a":{"x":1}}`, `{"a":{"x":1}}`},
		{"an object becomes empty", `{"a":{"x":1}}`, `{"a":{}}`, `{"a":{"x":null}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(difference([]byte(c.before), []byte(c.after))).To(MatchJSON(c.want))
		})
	}
}

// TestNoListIsNotAnEmptyOne: an empty list of volumes asks for, and says, something
// else than none, so the patch leads from each to each.
func TestNoListIsNotAnEmptyOne(t *testing.T) {
	none, empty := &metal3.RAIDConfig{}, &metal3.RAIDConfig{HardwareRAIDVolumes: []metal3.HardwareRAIDVolume{}}
	for _, c := range []struct {
		name          string
		before, after *metal3.RAIDConfig
		want          string
	}{
		{"an empty list in the place of none", none, empty, `{"provisioning":{"raid":{"hardwareRAIDVolumes":[]}}}`},
		{"none in the place of an empty list", empty, none, `{"provisioning":{"raid":{"hardwareRAIDVolumes":null}}}`},
		{"a new empty list", nil, empty, `{"provisioning":{"raid":{"hardwareRAIDVolumes":[],"softwareRAIDVolumes":null}}}`},
		{"empty as before", empty, empty, ``},
		{"none as before", none, none, ``},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			host := func(raid *metal3.RAIDConfig) *metal3.BareMetalHost {
				h := &metal3.BareMetalHost{}
				h.Status.Provisioning.RAID = raid.DeepCopy()
				return h
			}
			saver, after := NewSaver(nil, host(c.before)), host(c.after)
			g.Expect(saver.Changed(after)).To(Equal(c.want != ""))
			patch, err := statusDifference(host(c.before), after)
			g.Expect(err).NotTo(HaveOccurred())
			if c.want == "" {
				g.Expect(patch).To(BeNil())
				return
			}
			g.Expect(patch).To(MatchJSON(c.want))
		})
	}
	g, tags := NewWithT(t), func(list []string) *metal3.BareMetalHost {
		h := &metal3.BareMetalHost{}
		h.Status.HardwareDetails = &metal3.HardwareDetails{CPU: metal3.CPU{Flags: list}}
		return h
	}
	g.Expect(statusDifference(tags(nil), tags([]string{}))).To(BeNil(), "what is written of both is the same")
}
