package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ironflow/ironflow/api/installerimage"
	"github.com/ironflow/ironflow/hub/hostmachine"
	"github.com/ironflow/ironflow/hub/inside"
	"github.com/ironflow/ironflow/hub/instructions"
	"github.com/ironflow/ironflow/hub/judge"
	"github.com/ironflow/ironflow/hub/operators"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/sources/kubernetes"
	"github.com/ironflow/ironflow/hub/sources/openshiftinstall"
	"github.com/ironflow/ironflow/hub/wire"
)

// hubWork is what the hub installs with, and how patient it is.
type hubWork struct {
	// ignitionDir holds the Ignition of installed systems.
	ignitionDir string
	// source is that of clusters that name none.
	source string
	// installProgram is the path of openshift-install; empty for none.
	installProgram string
	// kubernetes offers to make plain Kubernetes clusters.
	kubernetes bool
	// inside is the image of ironflow-cluster.
	inside string
	images instructions.Images
	// invoker and certificates are of the one cluster of a hub that runs on one of its hosts.
	invoker      string
	certificates map[string][]byte
	// operators is a file of rows of the table of operators.
	operators string
	// logLimit bounds an archive of logs, in MiB.
	logLimit                          int
	silence, checks, logs, keepEvents time.Duration
	// diskCheck and pulls bound single checks on the host; pause, renewal and again are
	// how often the hub looks, says that it lives, and tries once more.
	diskCheck, pulls, pause, renewal, again time.Duration
	// stages is a list of STAGE=DURATION.
	stages string
	soft   bool
	// reclaim tells that agents run inside installed clusters.
	reclaim bool
	// pauseInstalled has installed hosts paused once they are detached.
	pauseInstalled bool
}

// settings are those of the hub's installations.
func (h *hubWork) settings() []setting {
	return []setting{
		{"hub-ignition-dir", "IRONFLOW_HUB_IGNITION_DIR", "", "folder with the Ignition that installed systems start with, and what else a cluster has been made with: CLUSTER_ID/FILE, or FILE for all clusters, such as master.ign and worker.ign, and of CLUSTER_ID only kubeconfig-noingress and kubeadmin-password; without one, clusters without a release get a minimal Ignition, and others are not installed", text(&h.ignitionDir)},
		{"hub-ignition-source", "IRONFLOW_HUB_IGNITION_SOURCE", "files", "where the Ignition comes from of clusters that do not say: files (of hub-ignition-dir), pointer (hosts fetch it from the cluster that they join), openshift-install (needs hub-openshift-install) or kubernetes (needs hub-kubernetes)", text(&h.source)},
		{"hub-openshift-install", "IRONFLOW_HUB_OPENSHIFT_INSTALL", "", "path of the openshift-install program, which makes the Ignition of clusters with source openshift-install; without one, there is no such source", text(&h.installProgram)},
		{"hub-kubernetes", "IRONFLOW_HUB_KUBERNETES", "false", "offer the source kubernetes, which makes plain Kubernetes clusters by kubeadm; no machine has been installed by it yet, see docs/kubernetes.md", boolean(&h.kubernetes)},
		{"hub-cluster-image", "IRONFLOW_HUB_CLUSTER_IMAGE", "", "full reference of the image of ironflow-cluster, which the hub puts among the manifests of clusters with the sources kubernetes and openshift-install; without one, their users have to", text(&h.inside)},
		{"hub-operators-file", "IRONFLOW_HUB_OPERATORS_FILE", "", "file with operators that clusters with source openshift-install can get beside their release, added to those of docs/operators.md or in the place of those of the same name; read at the start", text(&h.operators)},
		{"hub-installer-image", "INSTALLER_IMAGE", "", "full reference of the container image of assisted-service's installer, which assisted-service's agents run and need; empty for Ironflow's agent, which installs by itself", text(&h.images.Installer)},
		{"hub-controller-image", "CONTROLLER_IMAGE", "", "full reference of the container image of the controller that the bootstrap host runs inside a cluster with a release, and that assisted-service's agents need; empty for none", text(&h.images.Controller)},
		{"hub-machine-config-image", "IRONFLOW_HUB_MACHINE_CONFIG_IMAGE", "", "container image of the machine config operator, for installers that ask for it", text(&h.images.MachineConfig)},
		{"hub-must-gather-image", "IRONFLOW_HUB_MUST_GATHER_IMAGE", "", "container image that gathers logs of a cluster, for installers that ask for it", text(&h.images.MustGather)},
		{"hub-coreos-image", "IRONFLOW_HUB_COREOS_IMAGE", "", "container image of the system that is installed on hosts whose live system runs from a disk, for a --hub-installer-image that can do that; empty leaves it to the installer", text(&h.images.CoreOS)},
		{"hub-log-limit", "IRONFLOW_HUB_LOG_LIMIT", "250", "maximum size of an archive of logs that a host or a cluster sends, in MiB", number(&h.logLimit)},
		{"hub-keep-events", "IRONFLOW_HUB_KEEP_EVENTS", "720h0m0s", "how long events stay on the timeline", duration(&h.keepEvents)},
		{"hub-silence", "HOST_MAX_DISCONNECTION_TIME", "3m0s", "how long an agent may be silent before its host is disconnected, or its installation has failed; a host that brings up its cluster has two minutes more", duration(&h.silence)},
		{"hub-checks-timeout", "IRONFLOW_HUB_CHECKS_TIMEOUT", "17m0s", "how long the last checks before an installation may take", duration(&h.checks)},
		{"hub-disk-check-timeout", "DISK_CHECK_TIMEOUT", "8m0s", "how long a host may take to measure its disk", duration(&h.diskCheck)},
		{"hub-image-check-timeout", "IMAGE_AVAILABILITY_TIMEOUT", "16m0s", "how long a host may take to pull the images of an installation", duration(&h.pulls)},
		{"hub-monitor-interval", "HOST_MONITOR_INTERVAL", "1s", "least time between two looks at the hosts and clusters whose deadlines are over", duration(&h.pause)},
		{"hub-lease-renewal", "IRONFLOW_HUB_LEASE_RENEWAL", "5s", "how often a replica says that it lives; it is taken for gone after three times that", duration(&h.renewal)},
		{"hub-prepare-again", "IRONFLOW_HUB_PREPARE_AGAIN", "1m0s", "pause before an installation that could not be prepared is tried again", duration(&h.again)},
		{"hub-logs-timeout", "HOST_LOG_COLLECTION_TIMEOUT", "10m0s", "how long the hub waits for logs of a host that failed", duration(&h.logs)},
		{"hub-stage-timeouts", "IRONFLOW_HUB_STAGE_TIMEOUTS", "", "limits of single stages of an installation instead of those of docs/hub.md, comma-separated STAGE=DURATION, such as Rebooting=1h; 0 for no limit", text(&h.stages)},
		{"hub-reclaim", "IRONFLOW_HUB_RECLAIM", "false", "say that agents run inside installed clusters, and boot a host that is unbound back into its live image; without this, a person does", boolean(&h.reclaim)},
		{"pause-provisioned-hosts", "PAUSE_PROVISIONED_BMHS", "true", "pause hosts that were installed for an InfraEnv once they are detached, with their status in an annotation, so that a backup or a move takes it along; nobody looks after them meanwhile, nor after their BMCs", boolean(&h.pauseInstalled)},
		{"hub-soft-timeouts", "ENABLE_SOFT_TIMEOUTS", "false", "flag stages of an installation that take too long instead of failing it; it fails after a day", boolean(&h.soft)},
	}
}

// sources are those of Ignition that the settings offer, with the files of a folder, nil
// for none. State is a folder for the runs of openshift-install.
func (h *hubWork) sources(folder *os.Root, state string) (sources.Set, error) {
	set := service.OwnSources(folder)
	set.Default = cmp.Or(sources.Name(h.source), sources.Files)
	if h.kubernetes {
		set.All[sources.Kubernetes] = kubernetes.Source{Authorities: h.certificates}
	}
	if h.installProgram != "" {
		program, err := openshiftinstall.New(openshiftinstall.Options{Program: h.installProgram, State: state, Invoker: h.invoker, Certificates: h.certificates})
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

// check refuses what cannot work.
func (h *hubWork) check() error {
	for flag, d := range map[string]time.Duration{
		"hub-keep-events": h.keepEvents, "hub-silence": h.silence, "hub-checks-timeout": h.checks, "hub-logs-timeout": h.logs,
		"hub-disk-check-timeout": h.diskCheck, "hub-image-check-timeout": h.pulls, "hub-monitor-interval": h.pause, "hub-lease-renewal": h.renewal,
		"hub-prepare-again": h.again,
	} {
		if d <= 0 {
			return fmt.Errorf("--%s %s: want more than 0", flag, d)
		}
	}
	if h.logLimit <= 0 {
		return fmt.Errorf("--hub-log-limit %d: want more than 0 MiB", h.logLimit)
	}
	if err := errors.Join(h.images.Check(), inside.Program{Image: h.inside}.Check()); err != nil {
		return fmt.Errorf("--hub-*-image: %w", err)
	}
	if h.images.CoreOS != "" && (h.images.Installer == "" || installerimage.Own(h.images.Installer, "")) {
		return fmt.Errorf("--hub-coreos-image %s: Ironflow's own installer writes whole disks, and installs into no running system; "+
			"name one that does by --hub-installer-image, or leave this out", h.images.CoreOS)
	}
	if _, err := operators.Load(h.operators); err != nil {
		return fmt.Errorf("--hub-operators-file: %w", err)
	}
	return h.stageTimeouts(&service.Timers{})
}

// apply reads the settings into the hub's options; what is zero, as where the hub has no
// settings of its own, is the hub's default.
func (h *hubWork) apply(o *service.Options) error {
	o.Images, o.MaxLogBytes, o.Reclaim = h.images, int64(h.logLimit)<<20, h.reclaim
	o.Inside.Image = h.inside
	var err error
	if o.Operators, err = operators.Load(h.operators); err != nil {
		return fmt.Errorf("--hub-operators-file: %w", err)
	}
	o.Timers = service.Timers{
		Disconnected: h.silence, Prepare: h.checks, Logs: h.logs, KeepEvents: h.keepEvents, Soft: h.soft,
		DiskCheck: h.diskCheck, Images: h.pulls, Monitor: h.pause, Renewal: h.renewal, Repeat: h.again,
	}
	return h.stageTimeouts(&o.Timers)
}

// stageTimeouts reads the list of limits.
func (h *hubWork) stageTimeouts(t *service.Timers) error {
	t.Stages, t.Finalizing = map[wire.HostStage]time.Duration{}, map[wire.FinalizingStage]time.Duration{}
	for item := range strings.SplitSeq(h.stages, ",") {
		if strings.TrimSpace(item) == "" {
			continue
		}
		name, value, _ := strings.Cut(item, "=")
		name = strings.TrimSpace(name)
		limit, err := time.ParseDuration(strings.TrimSpace(value))
		if err != nil || limit < 0 {
			return fmt.Errorf("--hub-stage-timeouts %q: want STAGE=DURATION, such as Rebooting=1h", item)
		}
		switch {
		case slices.Contains(hostmachine.AllStages(), wire.HostStage(name)):
			t.Stages[wire.HostStage(name)] = limit
		case slices.Contains(judge.FinalizingStages, wire.FinalizingStage(name)):
			t.Finalizing[wire.FinalizingStage(name)] = limit
		default:
			return fmt.Errorf("--hub-stage-timeouts %q: there is no such stage; want one of %q or %q", name, hostmachine.AllStages(), judge.FinalizingStages)
		}
	}
	return nil
}

// ignition opens the folder of installed systems' Ignition; nil when there is none.
func (h *hubWork) ignition() (*os.Root, error) {
	if h.ignitionDir == "" {
		return nil, nil
	}
	root, err := os.OpenRoot(h.ignitionDir)
	if err != nil {
		return nil, fmt.Errorf("--hub-ignition-dir: %w", err)
	}
	return root, nil
}
