package firmware

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// RecordedCondition is on hosts whose machines have had firmware updates. Its message holds
// digests of them, in which no password of a URL can be read: the status of HostFirmwareComponents
// goes with that object, which may be deleted and made anew at any time, and Ironic does not
// tell which file a version came from.
const RecordedCondition = "UpdatesRecorded"

// reasonRecorded is the condition's one reason.
const reasonRecorded = "AsRecorded"

// recordedHead begins the condition's message.
const recordedHead = "digests of the firmware updates that the machine has: "

// digestLength is how many bytes of a digest are kept.
const digestLength = 8

// digest names an update.
func digest(u metal3.FirmwareUpdate) string {
	sum := sha256.Sum256([]byte(u.Component + "\x00" + u.URL))
	return hex.EncodeToString(sum[:digestLength])
}

// recorded are the digests that a host's status holds.
func recorded(s *metal3.BareMetalHostStatus) []string {
	c := meta.FindStatusCondition(s.Conditions, RecordedCondition)
	if c == nil {
		return nil
	}
	list, _ := strings.CutPrefix(c.Message, recordedHead)
	return strings.Fields(list)
}

// covers reports whether all of the updates are in a record.
func covers(record []string, updates []metal3.FirmwareUpdate) bool {
	return !slices.ContainsFunc(updates, func(u metal3.FirmwareUpdate) bool { return !slices.Contains(record, digest(u)) })
}

// Record has a host's status hold the updates that its components' status has, and reports whether
// it did not. One that has fewer of them is no news: it was made anew, and is filled in by its wish.
func Record(s *metal3.BareMetalHostStatus, c *metal3.HostFirmwareComponents, generation int64, now time.Time) bool {
	if c == nil || covers(recorded(s), c.Status.Updates) {
		return false
	}
	list := make([]string, 0, len(c.Status.Updates))
	for _, u := range c.Status.Updates {
		list = append(list, digest(u))
	}
	meta.SetStatusCondition(&s.Conditions, metav1.Condition{
		Type: RecordedCondition, Status: metav1.ConditionTrue, Reason: reasonRecorded, Message: recordedHead + strings.Join(list, " "),
		ObservedGeneration: generation, LastTransitionTime: metav1.NewTime(now).Rfc3339Copy(),
	})
	return true
}

// fillIn has the status show the updates of the spec that the host has recorded. A status that has
// others is newer than the record, which has nothing to tell then.
func fillIn(h *metal3.BareMetalHost, c *metal3.HostFirmwareComponents) {
	record := recorded(&h.Status)
	if !covers(record, c.Status.Updates) {
		return
	}
	for _, u := range c.Spec.Updates {
		if !slices.Contains(c.Status.Updates, u) && slices.Contains(record, digest(u)) {
			c.Status.Updates = append(c.Status.Updates, u)
		}
	}
}
