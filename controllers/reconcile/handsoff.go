package reconcile

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/api/names"
)

// KeptOff names the annotation by which somebody keeps every controller off a host;
// it is empty for a host that may be worked on. While there is one, nothing is asked
// of Ironic or the BMC, nothing is written to the host or to what belongs to it, and
// deletions wait, of the host as of what belongs to it. The two annotations differ in
// the host's status alone: that of a paused host is not written either, so that it can
// be moved; that of a held one says that it is on hold.
func KeptOff(host metav1.Object) string {
	for _, key := range []string{names.Paused, names.Hold} {
		if _, there := host.GetAnnotations()[key]; there {
			return key
		}
	}
	return ""
}

// Moved reports an object that is elsewhere now, and is deleted here, or is about to be. Who moves it takes its
// finalizers off before: one that were put back would keep it, and what it stands for is the business of whoever has it
// there.
func Moved(obj metav1.Object) bool {
	_, moved := obj.GetAnnotations()[names.DeleteForMove]
	return moved
}

// HandsOff ends a pass for an object whose host somebody keeps every controller off;
// nil for a host that may be worked on.
func HandsOff(host metav1.Object) error {
	key := KeptOff(host)
	if key == "" {
		return nil
	}
	return WaitFor(0, "somebody to remove the annotation %s of host %s/%s", key, host.GetNamespace(), host.GetName())
}
