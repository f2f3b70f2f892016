package observe

import (
	"context"
	"fmt"
	"strconv"

	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy"
)

// observeNetwork reads how the live image gets its network where it cannot carry
// that itself, and refuses BMCs that need a network which is not there. What is
// wrong is a problem of the way to the machine; nothing of it matters to a host
// that goes.
func (b *Observer) observeNetwork(ctx context.Context, o *policy.Observed) error {
	bmc := &o.BMC
	if bmc.Problem != "" || bmc.Access.Driver == "" || o.Deleting() {
		return nil
	}
	if o.Settings.NoProvisioningNetwork && !bmc.Access.TakesISO {
		bmc.Problem = "the BMC address needs a provisioning network, and there is none: use a scheme that boots an ISO, such as redfish-virtualmedia"
		return nil
	}
	name := o.Host.Spec.PreprovisioningNetworkDataName
	if o.Settings.BuildImages || name == "" {
		return nil
	}
	raw, _, problem, err := b.Store.Value(ctx, o.Host, name, "networkData")
	if err != nil {
		return err
	}
	if problem == "" {
		if o.NetworkData, err = nodespec.ParseObject(raw); err != nil {
			problem = fmt.Sprintf("the network data in Secret %s cannot be used: %v", strconv.Quote(name), err)
		}
	}
	bmc.Problem = problem
	return nil
}
