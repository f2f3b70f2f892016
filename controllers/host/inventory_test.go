package host

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/test/ironic/simulator"
)

// TestAnInventoryWithAValueOfAnotherType: what a ramdisk, a hook or a BMC reports does not
// stop the host, and no Ironic is blamed for it.
func TestAnInventoryWithAValueOfAnotherType(t *testing.T) {
	for name, spoil := range map[string]func(map[string]any){
		"serial of a disk is a number": func(inv map[string]any) {
			inv["disks"] = []any{map[string]any{"name": "d", "size": 5, "serial": 123456}}
		},
		"memory is a fraction": func(inv map[string]any) { inv["memory"] = map[string]any{"physical_mb": json.RawMessage("32256.0")} },
		"speed is a fraction": func(inv map[string]any) {
			inv["interfaces"].([]any)[0].(map[string]any)["speed_mbps"] = json.RawMessage("2500.0")
		},
		"rotational is a text": func(inv map[string]any) {
			inv["disks"] = []any{map[string]any{"name": "d", "size": 5, "rotational": "0"}}
		},
		"all of the processor is null": func(inv map[string]any) { inv["cpu"] = map[string]any{"count": nil, "flags": nil, "frequency": nil} },
		"no interfaces":                func(inv map[string]any) { inv["interfaces"] = nil },
		"disks are a text":             func(inv map[string]any) { inv["disks"] = "none" },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, simulator.Options{Inventory: func(simulator.Node) map[string]any {
					all := withNICs(macBoot, macStays)
					spoil(all["inventory"].(map[string]any))
					return all
				}}, policy.Settings{}, nil)
				defer w.stop()
				w.untilState(metal3.StateAvailable, 10*time.Minute)
				w.g.Expect(w.host().Status.ErrorMessage).To(BeEmpty())
				w.g.Expect(w.host().Status.HardwareDetails).NotTo(BeNil())
			})
		})
	}
}
