package host

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ironflow/ironflow/controllers/firmware"
	"github.com/ironflow/ironflow/controllers/host/capacity"
	"github.com/ironflow/ironflow/controllers/host/execute"
	"github.com/ironflow/ironflow/controllers/host/ironics"
	"github.com/ironflow/ironflow/controllers/host/observe"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/controllers/host/schedule"
	"github.com/ironflow/ironflow/ironic"
)

// Options wire the controller. Ironics, or Gateway and Watch, are required.
type Options struct {
	// Ironics are the endpoints, in the place of Gateway and Watch; the program runs them.
	Ironics *ironic.Endpoints
	// Limits are how many hosts may be at work at once; the zero value sets none.
	Limits capacity.Limits

	// Gateway is the Ironic that hosts are managed through.
	Gateway ironics.Gateway
	// Watch is that Ironic's node watch; the program runs it.
	Watch ironics.Watch
	// Progress knows how far hosts at work are; nil for nobody.
	Progress observe.Progress
	// ProgressChanged delivers the names of hosts whose progress changed; nil for none.
	ProgressChanged <-chan types.NamespacedName
	// Reads knows how far BMCs have read live images; nil for nobody.
	Reads observe.ImageReads
	// Media settles virtual media before a machine is started; nil for nobody.
	Media MediaGate
	// Firmware keeps the firmware resources of hosts; nil for nobody.
	Firmware FirmwareKeeper
	// Preflights know whether the wishes of hosts fit their hardware; nil for nobody.
	Preflights observe.Preflights
	// Events tell what BMCs say by themselves; nil for nobody.
	Events schedule.Events
	// Settings are the flags that decisions depend on.
	Settings policy.Settings
	// Concurrency is the number of hosts worked on at once; 0 means 100.
	Concurrency int
	// Metrics is where the metrics are registered; nil keeps them private.
	Metrics prometheus.Registerer
	// HostSeries adds labels with the host to the metrics that baremetal-operator
	// has for each host.
	HostSeries bool
	// Name names the controller; empty means "baremetalhost".
	Name string
	// Now is the clock that hosts are decided by; nil means time.Now.
	Now func() time.Time
}

// MediaGate settles the virtual media of hosts.
type MediaGate interface {
	observe.Media
	execute.Media
	schedule.Media
}

// FirmwareKeeper reads and writes the firmware resources of hosts.
type FirmwareKeeper interface {
	observe.Firmware
	execute.Firmware
}

var _ FirmwareKeeper = (*firmware.Keeper)(nil)
