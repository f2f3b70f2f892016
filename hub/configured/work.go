package configured

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ironflow/ironflow/api/config/v1alpha1"
	"github.com/ironflow/ironflow/api/installerimage"
	"github.com/ironflow/ironflow/hub/evaluate"
	"github.com/ironflow/ironflow/hub/hostmachine"
	"github.com/ironflow/ironflow/hub/inside"
	"github.com/ironflow/ironflow/hub/instructions"
	"github.com/ironflow/ironflow/hub/operators"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/sources/kubernetes"
	"github.com/ironflow/ironflow/hub/sources/openshiftinstall"
	"github.com/ironflow/ironflow/hub/wire"
)

// Work is what the hub installs with, and how patient it is.
type Work struct {
	v1alpha1.HubInstallation
	v1alpha1.HubLimits

	// Invoker and Certificates are of the one cluster of a hub that runs on one of its hosts.
	Invoker      string
	Certificates map[string][]byte
}

// images are those that hosts are installed with.
func (h Work) images() instructions.Images {
	return instructions.Images{
		Installer: h.InstallerImage, Controller: h.ControllerImage, MachineConfig: h.MachineConfigImage, MustGather: h.MustGatherImage, CoreOS: h.CoreOSImage,
	}
}

// Sources are those of Ignition that the settings offer, with the files of a folder, nil
// for none. State is a folder for the runs of openshift-install.
func (h Work) Sources(folder *os.Root, state string) (sources.Set, error) {
	set := service.OwnSources(folder)
	set.Default = cmp.Or(sources.Name(h.IgnitionSource), sources.Files)
	if h.Kubernetes {
		set.All[sources.Kubernetes] = kubernetes.Source{Authorities: h.Certificates}
	}
	if h.OpenShiftInstall != "" {
		program, err := openshiftinstall.New(openshiftinstall.Options{Program: h.OpenShiftInstall, State: state, Invoker: h.Invoker, Certificates: h.Certificates})
		if err != nil {
			return set, fmt.Errorf("--hub-openshift-install: %w", err)
		}
		set.All[sources.OpenShiftInstall] = program
	}
	if err := set.Check(""); err != nil {
		return set, fmt.Errorf("--hub-ignition-source: %w", err)
	}
	return set, nil
}

// CheckSource refuses a source of Ignition for clusters that do not say one, which this hub does not have.
func CheckSource(h v1alpha1.HubInstallation) error {
	source := cmp.Or(sources.Name(h.IgnitionSource), sources.Files)
	switch {
	case !slices.Contains(sources.Names(), source):
		return fmt.Errorf("--hub-ignition-source: %w", sources.Unknown(source))
	case source == sources.Kubernetes && !h.Kubernetes:
		return errors.New("--hub-ignition-source kubernetes needs --hub-kubernetes")
	case source == sources.OpenShiftInstall && h.OpenShiftInstall == "":
		return errors.New("--hub-ignition-source openshift-install needs --hub-openshift-install, the path of that program")
	}
	return nil
}

// Check refuses what cannot work.
func (h Work) Check() error {
	for flag, d := range map[string]time.Duration{
		"hub-keep-events": h.KeepEvents.Duration, "hub-silence": h.Silence.Duration, "hub-checks-timeout": h.ChecksTimeout.Duration, "hub-logs-timeout": h.LogsTimeout.Duration,
		"hub-disk-check-timeout": h.DiskCheckTimeout.Duration, "hub-image-check-timeout": h.ImageCheckTimeout.Duration, "hub-monitor-interval": h.MonitorInterval.Duration,
		"hub-lease-renewal": h.LeaseRenewal.Duration, "hub-prepare-again": h.PrepareAgain.Duration,
	} {
		if d <= 0 {
			return fmt.Errorf("--%s %s: want more than 0", flag, d)
		}
	}
	if h.LogMiB <= 0 {
		return fmt.Errorf("--hub-log-limit %d: want more than 0 MiB", h.LogMiB)
	}
	if err := errors.Join(h.images().Check(), inside.Program{Image: h.ClusterImage}.Check()); err != nil {
		return fmt.Errorf("--hub-*-image: %w", err)
	}
	if h.CoreOSImage != "" && (h.InstallerImage == "" || installerimage.Own(h.InstallerImage, "")) {
		return fmt.Errorf("--hub-coreos-image %s: Ironflow's own installer writes whole disks, and installs into no running system; "+
			"name one that does by --hub-installer-image, or leave this out", h.CoreOSImage)
	}
	if _, err := operators.Load(h.OperatorsFile); err != nil {
		return fmt.Errorf("--hub-operators-file: %w", err)
	}
	return h.stageTimeouts(&service.Timers{})
}

// Apply reads the settings into the hub's options; what is zero, as where the hub has no
// settings of its own, is the hub's default.
func (h Work) Apply(o *service.Options) error {
	o.Images, o.MaxLogBytes, o.Reclaim = h.images(), int64(h.LogMiB)<<20, h.Reclaim
	o.Inside.Image = h.ClusterImage
	var err error
	if o.Operators, err = operators.Load(h.OperatorsFile); err != nil {
		return fmt.Errorf("--hub-operators-file: %w", err)
	}
	o.Timers = service.Timers{
		Disconnected: h.Silence.Duration, Prepare: h.ChecksTimeout.Duration, Logs: h.LogsTimeout.Duration, KeepEvents: h.KeepEvents.Duration, Soft: h.SoftTimeouts,
		DiskCheck: h.DiskCheckTimeout.Duration, Images: h.ImageCheckTimeout.Duration, Monitor: h.MonitorInterval.Duration,
		Renewal: h.LeaseRenewal.Duration, Repeat: h.PrepareAgain.Duration,
	}
	return h.stageTimeouts(&o.Timers)
}

// stageTimeouts reads the list of limits.
func (h Work) stageTimeouts(t *service.Timers) error {
	t.Stages, t.Finalizing = map[wire.HostStage]time.Duration{}, map[wire.FinalizingStage]time.Duration{}
	for _, item := range h.StageTimeouts {
		name, value, _ := strings.Cut(item, "=")
		name = strings.TrimSpace(name)
		limit, err := time.ParseDuration(strings.TrimSpace(value))
		if err != nil || limit < 0 {
			return fmt.Errorf("--hub-stage-timeouts %q: want STAGE=DURATION, such as Rebooting=1h", item)
		}
		switch {
		case slices.Contains(hostmachine.AllStages(), wire.HostStage(name)):
			t.Stages[wire.HostStage(name)] = limit
		case slices.Contains(evaluate.FinalizingStages, wire.FinalizingStage(name)):
			t.Finalizing[wire.FinalizingStage(name)] = limit
		default:
			return fmt.Errorf("--hub-stage-timeouts %q: there is no such stage; want one of %q or %q", name, hostmachine.AllStages(), evaluate.FinalizingStages)
		}
	}
	return nil
}

// Ignition opens the folder of installed systems' Ignition; nil when there is none.
func (h Work) Ignition() (*os.Root, error) {
	if h.IgnitionDir == "" {
		return nil, nil
	}
	root, err := os.OpenRoot(h.IgnitionDir)
	if err != nil {
		return nil, fmt.Errorf("--hub-ignition-dir: %w", err)
	}
	return root, nil
}
