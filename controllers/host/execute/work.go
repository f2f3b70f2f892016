// Package execute carries out actions: a call to Ironic, or a write to Kubernetes. It
// decides nothing. The main type is [Work], made for one pass; [Work.Do] performs one
// idempotent action and adds its result to what is known of the host.
package execute

import (
	"context"

	"github.com/go-logr/logr"
	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/controllers/firmware"
	"github.com/ironflow/ironflow/controllers/host/ironics"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/controllers/host/resources"
	"github.com/ironflow/ironflow/controllers/reconcile"
)

// Work is what one pass does on one host.
type Work struct {
	Tools
	ironics.Endpoint // the host's Ironic

	Log   logr.Logger
	Saver *reconcile.Saver[*metal3.BareMetalHost]
	// Known is what is observed. Results of actions are added to it.
	Known policy.Observed
	// Asked means that Ironic was asked to start something.
	Asked bool
	// Gone means that the host's finalizer was removed.
	Gone bool
	// Events are to be published when the status is written.
	Events []reconcile.Event
}

// Tools are what the work on all hosts uses.
type Tools struct {
	Store resources.Store
	// Hosts reads all hosts from the cache, as it is.
	Hosts client.Reader
	Slots Slots
	// Media settles virtual media before a machine is started; nil for nobody.
	Media Media
	// Firmware keeps the firmware resources of hosts; nil for nobody.
	Firmware Firmware
}

// Slots gives out the slots that limits on hosts at work leave.
type Slots interface {
	// Take asks for a slot and writes the answer into what is observed.
	Take(o *policy.Observed)
}

// Media has virtual media brought to what the host's DataImage says before a machine
// is started, and ejected before one that was given back is used again. No method blocks.
type Media interface {
	// Ask has the media settled. restart says that the machine stays on until then.
	Ask(h *metal3.BareMetalHost, restart bool)
	// Started ends what Ask began: the machine runs.
	Started(key types.NamespacedName)
}

// Firmware writes the firmware resources of a host by what Ironic knows.
type Firmware interface {
	Make(ctx context.Context, h *metal3.BareMetalHost, node string) error
	ReadSettings(ctx context.Context, h *metal3.BareMetalHost, node string) (*metal3.HostFirmwareSettings, error)
	ReadComponents(ctx context.Context, h *metal3.BareMetalHost, node string, done firmware.Outcome) (*metal3.HostFirmwareComponents, error)
}
