package topics

import (
	"github.com/ironflow/ironflow/api/commands/settings"
	"github.com/ironflow/ironflow/api/config/v1alpha1"
)

// Hub are the settings of [v1alpha1.Hub].
func Hub(c *v1alpha1.Hub) settings.Group {
	return settings.Group{Title: "Hub: its REST API", Rows: []settings.Row{
		settings.Text("hub-addr", "IRONFLOW_HUB_ADDR", ":8090", "address at which the hub's REST API listens, with TLS", &c.Address),
		settings.Text("hub-plain-addr", "IRONFLOW_HUB_PLAIN_ADDR", "", "second address at which the hub's REST API listens, without TLS, for a proxy that terminates TLS; let only the proxy reach it, such as by 127.0.0.1:8091 for one in the same pod; empty for none", &c.PlainAddress),
		settings.Text("hub-publish-url", "IRONFLOW_HUB_PUBLISH_URL", "", "URL at which machines reach the hub; empty: https://127.0.0.1 with the port of --hub-addr, which only this computer reaches", &c.PublishURL),
		settings.Text("hub-auth", "IRONFLOW_HUB_AUTH", "token", "how agents authenticate at the hub: token (tokens that the hub alone makes and checks), local (JSON web tokens of a key pair that is handed in, as with assisted-service's AUTH_TYPE=local), or none for no authentication", &c.Auth),
		settings.Secret("hub-auth-private-key", "EC_PRIVATE_KEY_PEM", "", "private key that signs tokens with --hub-auth=local, PEM or PEM in base64, of the curve P-256; give it by the environment, since command lines can be seen; empty: --hub-auth-private-key-file", &c.AuthPrivateKey),
		settings.Text("hub-auth-private-key-file", "IRONFLOW_HUB_AUTH_PRIVATE_KEY_FILE", "", "file with that private key; read at the start", &c.AuthPrivateKeyFile),
		settings.Text("hub-auth-public-key", "EC_PUBLIC_KEY_PEM", "", "public keys that check tokens with --hub-auth=local, PEM or PEM in base64: that of the private key, and former ones whose tokens are to be good for a while; empty: --hub-auth-public-key-file", &c.AuthPublicKey),
		settings.Text("hub-auth-public-key-file", "IRONFLOW_HUB_AUTH_PUBLIC_KEY_FILE", "", "file with those public keys; read at the start; empty: only that of the private key", &c.AuthPublicKeyFile),
		settings.Text("hub-user-token-file", "IRONFLOW_HUB_USER_TOKEN_FILE", "", "file with a token of at least 16 characters by which users may call the hub's REST API (Authorization: Bearer TOKEN); empty: no such token", &c.UserTokenFile),
		settings.Text("hub-users-file", "IRONFLOW_HUB_USERS_FILE", "", "file with users of the hub's REST API, one a line as NAME,ROLE,TOKEN, where ROLE is admin, read-only-admin, or user, who sees only what that user has created; read at the start; empty for none", &c.UsersFile),
		settings.Bool("hub-user-reviews", "IRONFLOW_HUB_USER_REVIEWS", "false", "also let Kubernetes users call the hub's REST API with their tokens: the API server says who they are (TokenReview), and which role they have (SubjectAccessReview of get /ironflow/hub/roles/ROLE)", &c.UserReviews),
	}}
}

// HubReleases are the settings of [v1alpha1.HubReleases].
func HubReleases(c *v1alpha1.HubReleases) settings.Group {
	return settings.Group{Title: "Hub: releases", Rows: []settings.Row{
		settings.Text("hub-releases-file", "IRONFLOW_HUB_RELEASES_FILE", "", "YAML or JSON file with release_images and release_sources (OpenShift releases), such as a mounted ConfigMap; read again when it changes; empty for no list of releases", &c.File),
		settings.Text("hub-update-service", "IRONFLOW_HUB_UPDATE_SERVICE", "", "URL of an OpenShift update service, such as https://api.openshift.com/api/upgrades_info/v1/graph, that is asked every 3 hours for the releases of release_sources; empty: none is asked, and release_sources are only displayed", &c.UpdateService),
		settings.Text("hub-release-lookup", "IRONFLOW_HUB_RELEASE_LOOKUP", "needed", "which release images the hub reads from their registry, with the cluster's pull secret: needed (those whose version is told neither by --hub-releases-file nor by the user nor by the tag), always (all that are not in --hub-releases-file) or never", &c.Lookup),
		settings.Text("hub-release-mirrors", "IRONFLOW_HUB_RELEASE_MIRRORS", "", "file with the mirrors that release images are read from: registries.conf, or an ImageDigestMirrorSet or ImageContentSourcePolicy; read again when it changes", &c.MirrorsFile),
		settings.Text("hub-release-ca", "IRONFLOW_HUB_RELEASE_CA", "", "PEM file with CAs for the certificates of the registries of release images, besides the system's; read again when it changes", &c.CAFile),
	}}
}

// HubValidations are the settings of [v1alpha1.HubValidations].
func HubValidations(c *v1alpha1.HubValidations) settings.Group {
	return settings.Group{Title: "Hub: validations", Rows: []settings.Row{
		settings.List("hub-disabled-host-validations", "DISABLED_HOST_VALIDATIONS", "", "comma-separated ids of host validations to skip; see docs/validations.md", &c.DisabledHost),
		settings.List("hub-disabled-cluster-validations", "DISABLED_CLUSTER_VALIDATIONS", "", "comma-separated ids of cluster validations to skip; see docs/validations.md", &c.DisabledCluster),
		settings.List("hub-disabled-steps", "DISABLED_STEPS", "", "comma-separated types of steps that agents are never asked to run, such as tang-connectivity-check", &c.DisabledSteps),
		settings.Text("hub-host-requirements", "HW_VALIDATOR_REQUIREMENTS", "", "minimum hardware of hosts by release, as a JSON list; empty: the values of docs/validations.md", &c.HostRequirements),
		settings.Text("hub-agent-version", "IRONFLOW_HUB_AGENT_VERSION", "", "full reference of the container image of the only agent that hosts may run; other agents are told to replace themselves by it; empty: any agent", &c.AgentVersion),
	}}
}

// HubInstallation are the settings of [v1alpha1.HubInstallation].
func HubInstallation(c *v1alpha1.HubInstallation) settings.Group {
	return settings.Group{Title: "Hub: what is installed", Rows: []settings.Row{
		settings.Text("hub-ignition-dir", "IRONFLOW_HUB_IGNITION_DIR", "", "folder with the Ignition configs of installed systems, such as master.ign and worker.ign: FILE for all clusters, or CLUSTER_ID/FILE for one, which can also have kubeconfig-noingress and kubeadmin-password; where there is none, clusters without a release get a minimal Ignition config, and others are not installed", &c.IgnitionDir),
		settings.Text("hub-ignition-source", "IRONFLOW_HUB_IGNITION_SOURCE", "files", "where Ignition configs come from, for clusters that do not say it themselves: files (of --hub-ignition-dir), pointer (hosts fetch it from the running cluster that they join), openshift-install (needs --hub-openshift-install) or kubernetes (needs --hub-kubernetes)", &c.IgnitionSource),
		settings.Text("hub-openshift-install", "IRONFLOW_HUB_OPENSHIFT_INSTALL", "", "path of the program openshift-install, which makes the Ignition configs of clusters with the source openshift-install; empty: that source is not offered", &c.OpenShiftInstall),
		settings.Bool("hub-kubernetes", "IRONFLOW_HUB_KUBERNETES", "false", "offer the source kubernetes, which makes plain Kubernetes clusters with kubeadm; it was tested with simulated and virtual machines; see docs/kubernetes.md", &c.Kubernetes),
		settings.Text("hub-cluster-image", "IRONFLOW_HUB_CLUSTER_IMAGE", "", "full reference of the container image of ironflow-cluster, which the hub adds to the manifests of clusters with the sources kubernetes and openshift-install; empty: users have to add it themselves", &c.ClusterImage),
		settings.Text("hub-operators-file", "IRONFLOW_HUB_OPERATORS_FILE", "", "file with operators that can be installed on clusters with the source openshift-install, added to those of docs/operators.md; one of the same name replaces that of docs/operators.md; read at the start", &c.OperatorsFile),
		settings.Text("hub-installer-image", "INSTALLER_IMAGE", "", "full reference of the image of assisted-service's installer, which assisted-service's agents need; empty: Ironflow's agent, which has its own installer", &c.InstallerImage),
		settings.Text("hub-controller-image", "CONTROLLER_IMAGE", "", "full reference of the image of the controller that the bootstrap host starts in a cluster with a release; assisted-service's agents need it; empty for none", &c.ControllerImage),
		settings.Text("hub-machine-config-image", "IRONFLOW_HUB_MACHINE_CONFIG_IMAGE", "", "image of the machine config operator, for installers that ask for it; empty for none", &c.MachineConfigImage),
		settings.Text("hub-must-gather-image", "IRONFLOW_HUB_MUST_GATHER_IMAGE", "", "image that gathers logs of a cluster, for installers that ask for it; empty for none", &c.MustGatherImage),
		settings.Text("hub-coreos-image", "IRONFLOW_HUB_COREOS_IMAGE", "", "image of the system that is installed on hosts whose live system runs from a disk, if --hub-installer-image can do that; empty: the installer chooses", &c.CoreOSImage),
		settings.Bool("hub-reclaim", "IRONFLOW_HUB_RECLAIM", "false", "declare that agents run inside installed clusters, and reboot a host that is unbound into its live image; false: a person has to do that", &c.Reclaim),
		settings.Bool("pause-provisioned-hosts", "PAUSE_PROVISIONED_BMHS", "true", "pause hosts that were installed for an InfraEnv once they are detached, with their status in an annotation, so that a backup or a move takes it along; a paused host and its BMC are not watched", &c.PauseProvisionedHosts),
	}}
}

// HubLimits are the settings of [v1alpha1.HubLimits].
func HubLimits(c *v1alpha1.HubLimits) settings.Group {
	return settings.Group{Title: "Hub: limits and time limits", Rows: []settings.Row{
		settings.Number("hub-log-limit", "IRONFLOW_HUB_LOG_LIMIT", "250", "maximum size of a log archive that a host or a cluster sends, in MiB", &c.LogMiB),
		settings.Duration("hub-keep-events", "IRONFLOW_HUB_KEEP_EVENTS", "720h0m0s", "how long the hub's events are kept", &c.KeepEvents),
		settings.Duration("hub-silence", "HOST_MAX_DISCONNECTION_TIME", "3m0s", "after how long without a sign of life from its agent a host is disconnected or, while it is being installed, has failed; the bootstrap host has two minutes more", &c.Silence),
		settings.Duration("hub-checks-timeout", "IRONFLOW_HUB_CHECKS_TIMEOUT", "17m0s", "time limit of the last checks before an installation", &c.ChecksTimeout),
		settings.Duration("hub-disk-check-timeout", "DISK_CHECK_TIMEOUT", "8m0s", "time limit of the check of a disk's speed", &c.DiskCheckTimeout),
		settings.Duration("hub-image-check-timeout", "IMAGE_AVAILABILITY_TIMEOUT", "16m0s", "time limit for a host to pull the images of an installation", &c.ImageCheckTimeout),
		settings.Duration("hub-monitor-interval", "HOST_MONITOR_INTERVAL", "1s", "minimum time between two looks for hosts and clusters whose deadlines have passed", &c.MonitorInterval),
		settings.Duration("hub-lease-renewal", "IRONFLOW_HUB_LEASE_RENEWAL", "5s", "how often a replica of the hub records that it is alive; without a record for three times that, it counts as gone", &c.LeaseRenewal),
		settings.Duration("hub-prepare-again", "IRONFLOW_HUB_PREPARE_AGAIN", "1m0s", "pause before an installation whose preparation failed is tried again", &c.PrepareAgain),
		settings.Duration("hub-logs-timeout", "HOST_LOG_COLLECTION_TIMEOUT", "10m0s", "time limit for the hub to wait for the logs of a host that failed", &c.LogsTimeout),
		settings.List("hub-stage-timeouts", "IRONFLOW_HUB_STAGE_TIMEOUTS", "", "time limits of single stages of an installation, instead of those of docs/hub.md, as comma-separated STAGE=DURATION, such as Rebooting=1h; 0 for no limit", &c.StageTimeouts),
		settings.Bool("hub-soft-timeouts", "ENABLE_SOFT_TIMEOUTS", "false", "only report stages of an installation that take too long, instead of failing the installation; it fails after a day", &c.SoftTimeouts),
	}}
}
