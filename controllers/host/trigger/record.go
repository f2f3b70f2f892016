package trigger

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/controllers/reconcile"
)

// Condition is on hosts that show an error, or that could not be detached. Its message is
// what that was recorded with, so that the program knows after a restart as well whether
// somebody has changed something since.
const Condition = "FailedWith"

// reasonRecorded is the condition's one reason.
const reasonRecorded = "Recorded"

// Record is the value of each trigger, by its name.
type Record map[string]string

// owner is what a record is kept by beside the triggers: the UID of its host. A host that
// was moved to another cluster brings the record of the one that it was.
const owner = "host"

// Of reads the triggers of a host.
func Of(f Facts) Record {
	r := Record{owner: string(f.Host.UID)}
	for _, t := range Table {
		r[t.Name] = t.Of(f)
	}
	return r
}

// nothing stands for an empty value.
const nothing = "-"

// recordHead begins the condition's message.
const recordHead = "a change of one of these tries again at once: "

// Store writes a record into the status of its host.
func (r Record) Store(h *metal3.BareMetalHost) {
	reconcile.SetCondition(h, Condition, metav1.ConditionTrue, reasonRecorded, r.message())
}

// message is what the condition says.
func (r Record) message() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(r)) {
		parts = append(parts, name+"="+cmp.Or(r[name], nothing))
	}
	return recordHead + strings.Join(parts, " ")
}

// RecordOf reads what a host's error was recorded with; known is false where nobody has
// recorded it: the error is another program's, or an older version's.
func RecordOf(h *metal3.BareMetalHost) (r Record, known bool) {
	c := meta.FindStatusCondition(h.Status.Conditions, Condition)
	if c == nil {
		return nil, false
	}
	text, ours := strings.CutPrefix(c.Message, recordHead)
	if !ours {
		return nil, false
	}
	r = Record{}
	for part := range strings.FieldsSeq(text) {
		if name, value, is := strings.Cut(part, "="); is {
			r[name] = strings.TrimSuffix(value, nothing)
		}
	}
	return r, true
}

// Moved reports whether a record is that of a host in another cluster, where generations
// and Secrets were others.
func (r Record) Moved(h *metal3.BareMetalHost) bool { return r[owner] != string(h.UID) }

// Forget drops what was asked for by something that was taken away since, and reports whether there
// was any: set anew, it asks once more.
func (r Record) Forget(f Facts) bool {
	forgot := false
	for _, t := range Table {
		if t.Request && r[t.Name] != "" && t.Of(f) == "" {
			r[t.Name], forgot = "", true
		}
	}
	return forgot
}

// Changed names the triggers that differ from a record, for an error of a type. A trigger
// that a former version did not know counts as unchanged, and so do all after a move.
func Changed(before, now Record, kind metal3.ErrorType) []string {
	if before[owner] != now[owner] {
		return nil
	}
	var list []string
	for _, t := range Table {
		was, known := before[t.Name]
		is := now[t.Name]
		switch {
		case !known, was == is, t.Request && is == "":
		case slices.Contains(t.Not, kind):
		default:
			list = append(list, t.Name)
		}
	}
	return list
}
