package topics

import (
	"github.com/ironflow/ironflow/api/commands/settings"
	"github.com/ironflow/ironflow/api/config/v1alpha1"
)

// Hub are the settings of [v1alpha1.Hub].
func Hub(c *v1alpha1.Hub) settings.Group {
	return settings.Group{Title: "Hub: its REST API", Rows: []settings.Row{
		settings.Text("hub-addr", "IRONFLOW_HUB_ADDR", ":8090", "address of the hub's REST API (TLS)", &c.Address),
		settings.Text("hub-plain-addr", "IRONFLOW_HUB_PLAIN_ADDR", "", "address of the hub's REST API without TLS, beside hub-addr, for a proxy that ends TLS; keep it from other networks, such as by 127.0.0.1:8091 for a proxy in the same pod; empty for none", &c.PlainAddress),
		settings.Text("hub-publish-url", "IRONFLOW_HUB_PUBLISH_URL", "", "URL by which machines reach the hub; empty for https://127.0.0.1 and the port of hub-addr", &c.PublishURL),
		settings.Text("hub-auth", "IRONFLOW_HUB_AUTH", "token", "how agents authenticate: token or none", &c.Auth),
		settings.Text("hub-user-token-file", "IRONFLOW_HUB_USER_TOKEN_FILE", "", "file with the token that users of the hub's REST API send (Authorization: Bearer TOKEN), at least 16 characters; empty refuses them: Kubernetes is the users' API", &c.UserTokenFile),
		settings.Text("hub-users-file", "IRONFLOW_HUB_USERS_FILE", "", "file with users of the hub's REST API, one a line as NAME,ROLE,TOKEN: admin, read-only-admin, or user, who has what it has made; read at the start; empty for none", &c.UsersFile),
		settings.Bool("hub-user-reviews", "IRONFLOW_HUB_USER_REVIEWS", "false", "take tokens of Kubernetes users, too: the API server says whose they are (TokenReview), and which role they have (SubjectAccessReview of get /ironflow/hub/roles/ROLE)", &c.UserReviews),
	}}
}

// HubReleases are the settings of [v1alpha1.HubReleases].
func HubReleases(c *v1alpha1.HubReleases) settings.Group {
	return settings.Group{Title: "Hub: releases", Rows: []settings.Row{
		settings.Text("hub-releases-file", "IRONFLOW_HUB_RELEASES_FILE", "", "YAML or JSON file with release_images and release_sources, such as a mounted ConfigMap, read again when it changes; empty for no list of releases", &c.File),
		settings.Text("hub-update-service", "IRONFLOW_HUB_UPDATE_SERVICE", "", "URL of an update service, such as https://api.openshift.com/api/upgrades_info/v1/graph, that is asked for the releases of release_sources every 3 hours; empty for none, and the sources are only shown", &c.UpdateService),
		settings.Text("hub-release-lookup", "IRONFLOW_HUB_RELEASE_LOOKUP", "needed", "which release images the hub reads from their registry, with the cluster's pull secret: needed, those of which neither --hub-releases-file nor the user nor the tag says the version; always, all that are not in that file; never, none", &c.Lookup),
		settings.Text("hub-release-mirrors", "IRONFLOW_HUB_RELEASE_MIRRORS", "", "file with the mirrors that release images are read from: registries.conf, or an ImageDigestMirrorSet or ImageContentSourcePolicy; read again when it changes", &c.MirrorsFile),
		settings.Text("hub-release-ca", "IRONFLOW_HUB_RELEASE_CA", "", "PEM file with the authorities that these registries are trusted for beside the system's; read again when it changes", &c.CAFile),
	}}
}

// HubValidations are the settings of [v1alpha1.HubValidations].
func HubValidations(c *v1alpha1.HubValidations) settings.Group {
	return settings.Group{Title: "Hub: validations", Rows: []settings.Row{
		settings.List("hub-disabled-host-validations", "DISABLED_HOST_VALIDATIONS", "", "comma-separated ids of validations of hosts that are not run; see docs/validations.md", &c.DisabledHost),
		settings.List("hub-disabled-cluster-validations", "DISABLED_CLUSTER_VALIDATIONS", "", "comma-separated ids of validations of clusters that are not run; see docs/validations.md", &c.DisabledCluster),
		settings.List("hub-disabled-steps", "DISABLED_STEPS", "", "comma-separated types of steps that hosts are never asked for, such as tang-connectivity-check", &c.DisabledSteps),
		settings.Text("hub-host-requirements", "HW_VALIDATOR_REQUIREMENTS", "", "hardware requirements of hosts by release, as a JSON list; empty for those of docs/validations.md", &c.HostRequirements),
		settings.Text("hub-agent-version", "IRONFLOW_HUB_AGENT_VERSION", "", "full reference of the container image of the only agent that hosts may run; others are told to make way for it; empty for any", &c.AgentVersion),
	}}
}

// HubInstallation are the settings of [v1alpha1.HubInstallation].
func HubInstallation(c *v1alpha1.HubInstallation) settings.Group {
	return settings.Group{Title: "Hub: what is installed", Rows: []settings.Row{
		settings.Text("hub-ignition-dir", "IRONFLOW_HUB_IGNITION_DIR", "", "folder with the Ignition that installed systems start with, and what else a cluster has been made with: CLUSTER_ID/FILE, or FILE for all clusters, such as master.ign and worker.ign, and of CLUSTER_ID only kubeconfig-noingress and kubeadmin-password; without one, clusters without a release get a minimal Ignition, and others are not installed", &c.IgnitionDir),
		settings.Text("hub-ignition-source", "IRONFLOW_HUB_IGNITION_SOURCE", "files", "where the Ignition comes from of clusters that do not say: files (of hub-ignition-dir), pointer (hosts fetch it from the cluster that they join), openshift-install (needs hub-openshift-install) or kubernetes (needs hub-kubernetes)", &c.IgnitionSource),
		settings.Text("hub-openshift-install", "IRONFLOW_HUB_OPENSHIFT_INSTALL", "", "path of the openshift-install program, which makes the Ignition of clusters with source openshift-install; without one, there is no such source", &c.OpenShiftInstall),
		settings.Bool("hub-kubernetes", "IRONFLOW_HUB_KUBERNETES", "false", "offer the source kubernetes, which makes plain Kubernetes clusters by kubeadm; it has made nodes on systemds that a test boots, and on no machine yet; see docs/kubernetes.md", &c.Kubernetes),
		settings.Text("hub-cluster-image", "IRONFLOW_HUB_CLUSTER_IMAGE", "", "full reference of the image of ironflow-cluster, which the hub puts among the manifests of clusters with the sources kubernetes and openshift-install; without one, their users have to", &c.ClusterImage),
		settings.Text("hub-operators-file", "IRONFLOW_HUB_OPERATORS_FILE", "", "file with operators that clusters with source openshift-install can get beside their release, added to those of docs/operators.md or in the place of those of the same name; read at the start", &c.OperatorsFile),
		settings.Text("hub-installer-image", "INSTALLER_IMAGE", "", "full reference of the container image of assisted-service's installer, which assisted-service's agents run and need; empty for Ironflow's agent, which installs by itself", &c.InstallerImage),
		settings.Text("hub-controller-image", "CONTROLLER_IMAGE", "", "full reference of the container image of the controller that the bootstrap host runs inside a cluster with a release, and that assisted-service's agents need; empty for none", &c.ControllerImage),
		settings.Text("hub-machine-config-image", "IRONFLOW_HUB_MACHINE_CONFIG_IMAGE", "", "container image of the machine config operator, for installers that ask for it", &c.MachineConfigImage),
		settings.Text("hub-must-gather-image", "IRONFLOW_HUB_MUST_GATHER_IMAGE", "", "container image that gathers logs of a cluster, for installers that ask for it", &c.MustGatherImage),
		settings.Text("hub-coreos-image", "IRONFLOW_HUB_COREOS_IMAGE", "", "container image of the system that is installed on hosts whose live system runs from a disk, for a --hub-installer-image that can do that; empty leaves it to the installer", &c.CoreOSImage),
		settings.Bool("hub-reclaim", "IRONFLOW_HUB_RECLAIM", "false", "say that agents run inside installed clusters, and boot a host that is unbound back into its live image; without this, a person does", &c.Reclaim),
		settings.Bool("pause-provisioned-hosts", "PAUSE_PROVISIONED_BMHS", "true", "pause hosts that were installed for an InfraEnv once they are detached, with their status in an annotation, so that a backup or a move takes it along; nobody looks after them meanwhile, nor after their BMCs", &c.PauseProvisionedHosts),
	}}
}

// HubLimits are the settings of [v1alpha1.HubLimits].
func HubLimits(c *v1alpha1.HubLimits) settings.Group {
	return settings.Group{Title: "Hub: limits and time limits", Rows: []settings.Row{
		settings.Number("hub-log-limit", "IRONFLOW_HUB_LOG_LIMIT", "250", "maximum size of an archive of logs that a host or a cluster sends, in MiB", &c.LogMiB),
		settings.Duration("hub-keep-events", "IRONFLOW_HUB_KEEP_EVENTS", "720h0m0s", "how long events stay on the timeline", &c.KeepEvents),
		settings.Duration("hub-silence", "HOST_MAX_DISCONNECTION_TIME", "3m0s", "how long an agent may be silent before its host is disconnected, or its installation has failed; a host that brings up its cluster has two minutes more", &c.Silence),
		settings.Duration("hub-checks-timeout", "IRONFLOW_HUB_CHECKS_TIMEOUT", "17m0s", "how long the last checks before an installation may take", &c.ChecksTimeout),
		settings.Duration("hub-disk-check-timeout", "DISK_CHECK_TIMEOUT", "8m0s", "how long a host may take to measure its disk", &c.DiskCheckTimeout),
		settings.Duration("hub-image-check-timeout", "IMAGE_AVAILABILITY_TIMEOUT", "16m0s", "how long a host may take to pull the images of an installation", &c.ImageCheckTimeout),
		settings.Duration("hub-monitor-interval", "HOST_MONITOR_INTERVAL", "1s", "least time between two looks at the hosts and clusters whose deadlines are over", &c.MonitorInterval),
		settings.Duration("hub-lease-renewal", "IRONFLOW_HUB_LEASE_RENEWAL", "5s", "how often a replica says that it lives; it is taken for gone after three times that", &c.LeaseRenewal),
		settings.Duration("hub-prepare-again", "IRONFLOW_HUB_PREPARE_AGAIN", "1m0s", "pause before an installation that could not be prepared is tried again", &c.PrepareAgain),
		settings.Duration("hub-logs-timeout", "HOST_LOG_COLLECTION_TIMEOUT", "10m0s", "how long the hub waits for logs of a host that failed", &c.LogsTimeout),
		settings.List("hub-stage-timeouts", "IRONFLOW_HUB_STAGE_TIMEOUTS", "", "limits of single stages of an installation instead of those of docs/hub.md, comma-separated STAGE=DURATION, such as Rebooting=1h; 0 for no limit", &c.StageTimeouts),
		settings.Bool("hub-soft-timeouts", "ENABLE_SOFT_TIMEOUTS", "false", "flag stages of an installation that take too long instead of failing it; it fails after a day", &c.SoftTimeouts),
	}}
}
