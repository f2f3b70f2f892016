// Package names holds every name that users and other tools meet on resources:
// annotations, labels, finalizers, reasons and addresses. Constants only.
//
// The first group is Ironflow's own (prefix ironflow.io/); the others belong to
// metal3.io and agent-install.openshift.io and are part of their contracts, so
// they must never change here.
package names

// Ironflow's own annotations.
const (
	// Retry asks for an immediate new attempt; any new value counts.
	Retry = "ironflow.io/retry"
	// ForceDelete, with the host's name as value, releases a host without touching the machine.
	ForceDelete = "ironflow.io/force-delete"
	// Ironic names the Ironic endpoint of this host; set once by policy.
	Ironic = "ironflow.io/ironic"
	// StepDeadlines overrides deadlines of the deploy step, e.g. "start=10m,idle=30m,total=3h".
	StepDeadlines = "ironflow.io/step-deadlines"
	// Rebooting stands in the place of a reboot annotation, or beside it, while a restart is made sure of, and on a
	// host whose deployment was cut off and whose machine was restarted for that; ours to write.
	Rebooting = "ironflow.io/rebooting"
	// Deployed, on a host, names what was deployed on its machine last, by a digest, from before Ironic is asked until the
	// machine is given back. Unlike the status it comes along with a move or a backup; ours to write.
	Deployed = "ironflow.io/deployed"
	// Hold stops every automatic action on this host.
	Hold = "ironflow.io/hold"
	// DeployOwner, on a host, records that what it is deployed with is the linking controller's; ours to write.
	DeployOwner = "ironflow.io/deploy-owner"
	// BoundHost, on a HostClaim, is the host that it has, as NAMESPACE/NAME, by which that host is waited for where the
	// status does not come along, as in a backup or a move; ours to write.
	BoundHost = "ironflow.io/bound-host"
	// GiveBack, with the host's name as value, has a host that was installed for an InfraEnv cleaned, and
	// given back to its pool.
	GiveBack = "ironflow.io/give-back"
	// GivingBack, on a host that is being given back, is since when and why; ours to write.
	GivingBack = "ironflow.io/giving-back"
	// PreserveHosts, on an AgentClusterInstall, records that its ClusterDeployment says preserveOnDelete; ours
	// to write.
	PreserveHosts = "ironflow.io/preserve-hosts"
	// ClusterState, on an AgentClusterInstall, is a copy of the state in its status, by which the hub knows the
	// cluster again where the status does not come along, as in a backup or a move; ours to write.
	ClusterState = "ironflow.io/cluster-state"
	// IgnitionSource, on an AgentClusterInstall, names what makes its hosts' Ignition: files, openshift-install,
	// kubernetes or pointer.
	IgnitionSource = "ironflow.io/ignition-source"
	// IgnitionFiles, on an AgentClusterInstall of source files, names the ConfigMaps and Secrets beside it that
	// hold its role files, as KIND/NAME with commas between them.
	IgnitionFiles = "ironflow.io/ignition-files"
	// KubernetesVersion, on an AgentClusterInstall of source kubernetes, is its version, such as v1.37.1.
	KubernetesVersion = "ironflow.io/kubernetes-version"
	// KubernetesSettings, on an AgentClusterInstall of source kubernetes, are further settings as a JSON object.
	KubernetesSettings = "ironflow.io/kubernetes"
	// Revoke, on an InfraEnv, revokes the tokens of its agents once for each other text.
	Revoke = "ironflow.io/revoke-agent-tokens"
	// RevokeCluster, on an AgentClusterInstall, revokes the token of the program inside the cluster once for each other text.
	RevokeCluster = "ironflow.io/revoke-cluster-token"
	// SingleHost, with the value "true" on an InfraEnv, gives each of its hosts a cluster of its own.
	SingleHost = "ironflow.io/single-host"
	// Probe, on a host, asks for a new report of its BMC; any new value counts.
	Probe = "ironflow.io/probe"
	// PreflightOverride, with the value "true" on a host, lets it be prepared though its wishes
	// do not fit the hardware.
	PreflightOverride = "ironflow.io/preflight-override"
	// RotateCredentials, on a host, asks for a new password of its BMC; any new value counts.
	RotateCredentials = "ironflow.io/rotate-credentials" //nolint:gosec // the name of an annotation
	// PasswordPolicy, on a host, is what that password is made of, in place of the flag's.
	PasswordPolicy = "ironflow.io/password-policy"
	// RotateManagedSecret, with the value "true" on a BMC's Secret that is rendered from
	// elsewhere, allows to change its password all the same.
	RotateManagedSecret = "ironflow.io/rotate-managed-secret" //nolint:gosec // the name of an annotation
	// ReplaceCertificate, on a host, asks for a new certificate of its BMC; any new value counts.
	ReplaceCertificate = "ironflow.io/replace-certificate"
	// EventKey, on a host, is the number of the key that its BMC's events come with; another
	// number is another key.
	EventKey = "ironflow.io/event-key"
	// Told, on a BMC, is what another replica than the leader has heard of it; ours to write.
	Told = "ironflow.io/told"
	// SubscribedAt, on a BMC, names the BMCs that may have an event subscription of the host,
	// the former ones among them; ours to write, and sealed.
	SubscribedAt = "ironflow.io/subscribed-at"
	// ReplacedImage, on a PreprovisioningImage, stands for the image that its host waits in while
	// another takes its place; the host is rebooted once that one is handed out.
	ReplacedImage = "ironflow.io/replaced-image"
	// CopiedLabels, on a PreprovisioningImage, names the labels that it has from its host, with commas
	// between them: these go when the host loses them. Ours to write.
	CopiedLabels = "ironflow.io/copied-labels"
	// SeenIn, on an Agent, stands for the records of the hub in which its host was seen last: where
	// they are others, the host was lost, and was not removed. Ours to write.
	SeenIn = "ironflow.io/seen-in"
	// ImageOf, on an Agent, is whose live image its host has registered from, by the token in it: the boot MAC address
	// of a machine, "namespace/name" of a host that had none when its image was made, or [ImageOfAll]. Without it nobody knows. Ours to write.
	ImageOf = "ironflow.io/image-of"
	// ImageOfAll is its value for an image that is for all hosts of the InfraEnv.
	ImageOfAll = "infra-env"
	// HandedOutFor, on a PreprovisioningImage whose host was given another InfraEnv's label, is the
	// InfraEnv from before and what stands for the address that was handed out for it. Ours to write.
	HandedOutFor = "ironflow.io/handed-out-for"
)

// metal3.io annotations, labels and finalizers.
const (
	Paused             = "baremetalhost.metal3.io/paused"
	Detached           = "baremetalhost.metal3.io/detached"
	Status             = "baremetalhost.metal3.io/status"
	Reboot             = "reboot.metal3.io"
	RebootPrefix       = Reboot + "/" // behind it is the key of a client who keeps the machine off
	Inspect            = "inspect.metal3.io"
	HardwareDetails    = "inspect.metal3.io/hardwaredetails"
	EnvironmentLabel   = "environment.metal3.io"
	EnvironmentValue   = "baremetal"
	FailureDomain      = "infrastructure.cluster.x-k8s.io/failure-domain"
	HostFinalizer      = "baremetalhost.metal3.io"
	HardwareFinalizer  = "baremetalhost.metal3.io/hardwareData"
	SecretFinalizer    = "baremetalhost.metal3.io/secret"
	HostImageFinalizer = "baremetalhost.metal3.io/preprovisioningImage"
	ImageFinalizer     = "preprovisioningimage.metal3.io"
)

// What clusters are described with, beside the members of their kinds.
const (
	// AgentInstallPrefix begins the annotations of an AgentClusterInstall.
	AgentInstallPrefix = "agent-install.openshift.io/"
	// InstallConfigOverrides is a JSON object that is merged into the install-config last.
	InstallConfigOverrides = "agent-install.openshift.io/install-config-overrides"
	// IgnoredClusterValidations and IgnoredHostValidations are ids with commas between them, or all.
	IgnoredClusterValidations = "agent-install.openshift.io/ignored-cluster-validations"
	IgnoredHostValidations    = "agent-install.openshift.io/ignored-host-validations"
	// ClusterConsumerLabel, on an AgentClusterInstall, is who made it.
	ClusterConsumerLabel = "agentclusterinstalls.agent-install.openshift.io/consumer"
	// HiveReconcilePause, with a true value on a ClusterDeployment, holds its installation.
	HiveReconcilePause = "hive.openshift.io/reconcile-pause"
	// HostedCluster, on a ClusterDeployment and whatever its value, tells that the cluster's control plane runs in the
	// namespace of the object.
	HostedCluster = "agentClusterRef"
	// HiveDeploymentLabel and HiveSecretTypeLabel say of a Secret whose credentials it holds, and which.
	HiveDeploymentLabel = "hive.openshift.io/cluster-deployment-name"
	HiveSecretTypeLabel = "hive.openshift.io/secret-type"
)

// agent-install.openshift.io labels and annotations.
const (
	InfraEnvLabel = "infraenvs.agent-install.openshift.io"
	// InfraEnvPrefix begins annotations of an InfraEnv.
	InfraEnvPrefix = "infraenv.agent-install.openshift.io/"
	// IronicAgentImage, on an InfraEnv, is the image of ironic-python-agent for its hosts.
	IronicAgentImage = InfraEnvPrefix + "ironic-agent-image-override"
	// IPFamily, on an InfraEnv, names the families of addresses that its machines have: v4, v6 or both.
	IPFamily = InfraEnvPrefix + "ip-family"
	// PropagateNodeLabels, on an InfraEnv, names the labels of it that the Nodes of its hosts get, with commas between them.
	PropagateNodeLabels = InfraEnvPrefix + "propagate-node-labels"
	// IronicAgentEnabled, on an InfraEnv, is what another hub notes there; it asks for nothing.
	IronicAgentEnabled = InfraEnvPrefix + "enable-ironic-agent"

	// InventoryPrefix and ClassificationPrefix begin the labels of Agents that say what the
	// machine is, InventoryVersion the annotation that says which of them there are.
	InventoryPrefix      = "inventory.agent-install.openshift.io/"
	InventoryVersion     = InventoryPrefix + "version"
	ClassificationPrefix = "agentclassification.agent-install.openshift.io/"
	// AgentClusterNamespace is the namespace of the ClusterDeployment of an Agent.
	AgentClusterNamespace = "agent-install.openshift.io/clusterdeployment-namespace"

	AgentHostLabel = "agent-install.openshift.io/bmh"
	BMACRole       = "bmac.agent-install.openshift.io/role"
	BMACHostname   = "bmac.agent-install.openshift.io/hostname"
	BMACCluster    = "bmac.agent-install.openshift.io/cluster-reference"
	// The next three are copied to the Agent's spec as they are.
	BMACMachineConfigPool = "bmac.agent-install.openshift.io/machine-config-pool"
	BMACInstallerArgs     = "bmac.agent-install.openshift.io/installer-args"
	BMACIgnitionOverrides = "bmac.agent-install.openshift.io/ignition-config-overrides"

	// BMACNodeLabel and BMACAgentLabel begin annotations that become labels of the Node and of the Agent.
	BMACNodeLabel  = "bmac.agent-install.openshift.io.node-label."
	BMACAgentLabel = "bmac.agent-install.openshift.io.agent-label."
	// BMACFencing and BMACMakeFencing ask for fencing, which the hub makes no clusters with.
	BMACFencing     = "bmac.agent-install.openshift.io/fencing-credentials-secret-name"
	BMACMakeFencing = "bmac.agent-install.openshift.io/create-fencing-credentials-secret"

	// BMACRemove has the machine of a host that is deleted cleaned, and its Agent deleted.
	BMACRemove = "bmac.agent-install.openshift.io/remove-agent-and-node-on-delete"
	// BMACDrainTimeout is how long the Node of such a host may be drained before, such as 10m; the other two
	// are since when it is, and how far; ours to write.
	BMACDrainTimeout  = "bmac.agent-install.openshift.io/drain-timeout"
	BMACDrainStarted  = "bmac.agent-install.openshift.io/drain-started-at"
	BMACDrainStatus   = "bmac.agent-install.openshift.io/drain-status"
	BMACFinalizer     = "bmac.agent-install.openshift.io/deprovision"
	BMACManage        = "bmac.agent-install.openshift.io/allow-provisioned-host-management"
	InfraEnvFinalizer = "infraenv.agent-install.openshift.io/ai-deprovision"
	AgentFinalizer    = "agent.agent-install.openshift.io/ai-deprovision"

	// The next four, on an Agent, are copies of its status, by which the hub knows an installed host
	// again where the status does not come along, as in a backup or a move. Ours to write.
	AgentState     = "agent.agent-install.openshift.io/state"
	AgentRole      = "agent.agent-install.openshift.io/role"
	AgentInventory = "agent.agent-install.openshift.io/inventory"
	AgentStage     = "agent.agent-install.openshift.io/current-stage"

	// InheritedNodeLabels, on an Agent, names the labels of spec.nodeLabels that it has from its InfraEnv, with commas
	// between them: these go when the InfraEnv loses them. Ours to write.
	InheritedNodeLabels = "agent.agent-install.openshift.io/inherited-node-labels"
)

// Names of tools that move objects to another cluster.
const (
	// BackupLabel has an object taken into backups of the hub's cluster.
	BackupLabel = "cluster.open-cluster-management.io/backup"
	// DeleteForMove is set by clusterctl move on what it deletes here, because it is elsewhere now.
	DeleteForMove = "clusterctl.cluster.x-k8s.io/delete-for-move"
)

// Deploy steps.
const (
	StartAssistedInstall = "start_assisted_install"
	ConfirmInstall       = "confirm_install"
	InstallCoreOS        = "install_coreos"
)

// The hub's namespace, leases and listeners.
const (
	HubNamespace     = "ironflow-system"
	ControllersLease = "ironflow-controllers"
	HubLease         = "ironflow-hub"
	ImagesLease      = "ironflow-images"
	OperatorLease    = "baremetal-operator"
	HubPort          = 8090
	ImagesPort       = 8080
	ImagesTLSPort    = 8443
	DashboardPort    = 8091
	MetricsPort      = 9443
	HealthPort       = 9440
	// NodeNameSeparator joins namespace and name in an Ironic node's name.
	NodeNameSeparator = "~"
)
