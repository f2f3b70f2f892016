package firmware

import (
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
)

// TestUpdatesAreKnownWithoutTheirObject: what the host's status holds fills in a status that is empty, and nothing else.
func TestUpdatesAreKnownWithoutTheirObject(t *testing.T) {
	first, second := metal3.FirmwareUpdate{Component: "bios", URL: "http://me:hush@images/2"}, metal3.FirmwareUpdate{Component: "bmc", URL: "http://images/2"}
	third := metal3.FirmwareUpdate{Component: "bios", URL: "http://images/3"}
	with := func(spec, status []metal3.FirmwareUpdate) *metal3.HostFirmwareComponents {
		c := &metal3.HostFirmwareComponents{}
		c.Spec.Updates, c.Status.Updates = spec, status
		return c
	}
	list := func(updates ...metal3.FirmwareUpdate) []metal3.FirmwareUpdate { return updates }
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	g, h := NewWithT(t), &metal3.BareMetalHost{}
	record := func(c *metal3.HostFirmwareComponents) bool { return Record(&h.Status, c, 1, now) }
	shown := func(spec, status []metal3.FirmwareUpdate) []metal3.FirmwareUpdate {
		c := with(spec, status)
		fillIn(h, c)
		return c.Status.Updates
	}
	g.Expect(record(nil)).To(BeFalse())
	g.Expect(record(with(list(first), nil))).To(BeFalse(), "a wish is nothing that was made")
	g.Expect(shown(list(first), nil)).To(BeEmpty())

	g.Expect(record(with(nil, list(first, second)))).To(BeTrue())
	g.Expect(record(with(nil, list(first, second)))).To(BeFalse(), "it is there")
	g.Expect(meta.FindStatusCondition(h.Status.Conditions, RecordedCondition).Message).NotTo(ContainSubstring("hush"))
	g.Expect(record(with(nil, nil))).To(BeFalse(), "an object that was made anew tells nothing")
	g.Expect(shown(list(first), nil)).To(Equal(list(first)))
	g.Expect(shown(list(second, third), nil)).To(Equal(list(second)), "the machine does not have the third")
	g.Expect(shown(nil, nil)).To(BeEmpty())

	g.Expect(shown(list(first), list(third))).To(Equal(list(third)), "the object is newer than the record: the first one is gone")
	g.Expect(record(with(nil, list(third)))).To(BeTrue())
	g.Expect(shown(list(first), nil)).To(BeEmpty())
}
