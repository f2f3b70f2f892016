package policy

import (
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/ironic"
)

// TestWhoseMaintenanceHoldsUpADeletion tells that of a person from that of a controller.
func TestWhoseMaintenanceHoldsUpADeletion(t *testing.T) {
	for reason, does := range map[string]string{"new fan": "", deleteReason: "remove node", otherDeleteReason: "remove node", detachReason: "remove node"} {
		t.Run(reason, func(t *testing.T) {
			g := NewWithT(t)
			o := observed(StateDeleting, ironic.StateActive)
			now := metav1.NewTime(noon)
			o.Host.DeletionTimestamp = &now
			o.Node.Maintenance, full(o).MaintenanceReason = true, reason
			d := Decide(o)
			if does == "" {
				g.Expect(d.Do).To(BeNil())
				g.Expect(d.Wait.Message()).To(ContainSubstring("new fan"))
				return
			}
			g.Expect(d.Do).To(HaveField("Name()", does))
		})
	}
}
