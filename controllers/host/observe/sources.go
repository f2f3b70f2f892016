package observe

import (
	"context"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ironflow/ironflow/controllers/host/metrics"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/controllers/host/resources"
)

// Observer gathers what is known of hosts.
type Observer struct {
	// Now is the clock.
	Now      func() time.Time
	Settings policy.Settings
	Store    resources.Store
	Metrics  *metrics.Metrics
	// Progress knows how far hosts at work are; nil for nobody.
	Progress Progress
	// Reads knows how far BMCs have read live images; nil for nobody.
	Reads ImageReads
	// Media knows how virtual media stand; nil for nobody.
	Media Media
	// Firmware has the firmware resources of hosts; nil for nobody.
	Firmware Firmware
	// Preflights know whether the wishes of hosts fit their hardware; nil for nobody.
	Preflights Preflights
}

// Progress knows how far a host at work is. It is asked in every pass and must answer
// from memory.
type Progress interface {
	HostProgress(key types.NamespacedName) (policy.Progress, bool)
	// Leave says that a host is gone: nobody asks for it any more.
	Leave(key types.NamespacedName)
}

// ImageReads knows how far live images were read. It must answer from memory.
type ImageReads interface {
	ImageRead(key types.NamespacedName) policy.ImageRead
}

// Media knows how the virtual media of a host stand. It must answer from memory and
// the cache.
type Media interface {
	Media(ctx context.Context, h *metal3.BareMetalHost) (policy.Media, error)
}

// Firmware has the firmware resources of a host, nil for none.
type Firmware interface {
	Settings(ctx context.Context, h *metal3.BareMetalHost) (*metal3.HostFirmwareSettings, error)
	Components(ctx context.Context, h *metal3.BareMetalHost) (*metal3.HostFirmwareComponents, error)
	Policy(ctx context.Context, h *metal3.BareMetalHost) (*metal3.HostUpdatePolicy, error)
}

// Preflights know what the hardware says of a host's wishes. It must answer from the cache.
type Preflights interface {
	Preflight(ctx context.Context, h *metal3.BareMetalHost) (policy.Preflight, error)
}
