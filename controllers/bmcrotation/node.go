package bmcrotation

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/bmc/address"
	"github.com/ironflow/ironflow/bmc/credentials"
	"github.com/ironflow/ironflow/bmc/credentials/reason"
	"github.com/ironflow/ironflow/bmc/credentials/rotation"
	"github.com/ironflow/ironflow/ironic"
)

// Gateway is the part of Ironic that is used here; *ironic.Gateway implements it.
type Gateway interface {
	Get(ctx context.Context, uuid string) (*ironic.Node, error)
	Update(ctx context.Context, n *ironic.Node, d ironic.Desired) (*ironic.Node, bool, error)
	BootDevice(ctx context.Context, uuid string) (string, error)
}

var _ Gateway = (*ironic.Gateway)(nil)

// Ironics finds the Ironic that a host belongs to.
type Ironics func(h *metal3.BareMetalHost) (Gateway, error)

// node is Ironic's node of a host. It implements [credentials.Node].
type node struct {
	host    *metal3.BareMetalHost
	ironics Ironics
	// unreached says that a node may be at rest whose BMC Ironic does not reach: its
	// certificate, which is to be replaced, may be why.
	unreached bool
}

var _ credentials.Node = (*node)(nil)

// gateway is the host's Ironic, and the node's UUID there.
func (n *node) gateway() (Gateway, string, error) {
	uuid := n.host.Status.Provisioning.ID
	if uuid == "" || n.host.Status.OperationalStatus == metal3.OperationalStatusDetached {
		return nil, "", credentials.ErrNoNode
	}
	g, err := n.ironics(n.host)
	return g, uuid, err
}

// read reads the node.
func (n *node) read(ctx context.Context) (Gateway, *ironic.Node, error) {
	g, uuid, err := n.gateway()
	if err != nil {
		return nil, nil, err
	}
	read, err := g.Get(ctx, uuid)
	return g, read, noNode(err)
}

// noNode makes of a node that is gone what the rotation knows.
func noNode(err error) error {
	if ironic.KindOf(err) == ironic.Gone {
		return fmt.Errorf("%w: %w", credentials.ErrNoNode, err)
	}
	return err
}

// busy says what Ironic is doing with the node, or why it is not known; empty for nothing.
func (n *node) busy(ctx context.Context) string {
	_, read, err := n.read(ctx)
	switch {
	case errors.Is(err, credentials.ErrNoNode):
		return ""
	case err != nil:
		return "Ironic cannot be asked: " + err.Error()
	case read.ProvisionState.Busy() || read.ProvisionState.Failed():
		return "Ironic's node is " + string(read.ProvisionState)
	case read.Reservation != "":
		return "Ironic's node is locked by " + read.Reservation
	case read.TargetPowerState != "":
		return "the machine is being switched"
	case read.Maintenance && (!n.unreached || read.Fault != ironic.FaultPower):
		return "Ironic's node is in maintenance"
	}
	return ""
}

// askAgain is when a node that was busy is looked at again.
const askAgain = time.Minute

// whenAtRest makes a pass, and another one if only Ironic's word is missing that the node
// is at rest: most passes end without one.
func (n *node) whenAtRest(ctx context.Context, pass func(rests bool) (reason.Wait, error)) (reason.Wait, error) {
	wait, err := pass(false)
	if err != nil || wait.Condition.Reason != reason.NotAtRest || !restful(n.host) {
		return wait, err
	}
	if why := n.busy(ctx); why != "" {
		wait.For, wait.Condition.Message = askAgain, fmt.Sprintf("%s: %s", wait.Condition.Message, why)
		return wait, nil
	}
	return pass(true)
}

// Tell implements [credentials.Node].
func (n *node) Tell(ctx context.Context, login rotation.Login) error {
	a, err := address.Parse(n.host.Spec.BMC.Address)
	if err != nil {
		return fmt.Errorf("spec.bmc.address of the host: %w", err)
	}
	g, read, err := n.read(ctx)
	if err != nil {
		return err
	}
	prefix := string(a.Family) + "_"
	_, _, err = g.Update(ctx, read, ironic.Desired{
		DriverInfo: ironic.Fields{prefix + "username": login.Username, prefix + "password": string(login.Password)}, SendSecrets: true,
	})
	return noNode(err)
}

// Prove implements [credentials.Node]. Ironic reads the boot device from the BMC each time
// that it is asked, in a session of the node's present password.
func (n *node) Prove(ctx context.Context) (rotation.Verdict, error) {
	g, uuid, err := n.gateway()
	if err != nil {
		return rotation.Unsure, err
	}
	_, err = g.BootDevice(ctx, uuid)
	switch {
	case err == nil:
		return rotation.Right, nil
	case refused(err):
		return rotation.Wrong, err
	}
	return rotation.Unsure, noNode(err)
}

// refused reports that the BMC has refused Ironic. It says so in the text of a fault
// that is otherwise one of Ironic's own; what is not known for sure says nothing.
func refused(err error) bool {
	text := err.Error()
	return ironic.KindOf(err) != ironic.Gone && (strings.Contains(text, "returned code 401") || strings.Contains(text, "AccessError"))
}
