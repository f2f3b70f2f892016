package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Hub is the hub's REST API, and who may call it.
type Hub struct {
	Address      string `json:"address,omitempty"`
	PlainAddress string `json:"plainAddress,omitempty"`
	PublishURL   string `json:"publishURL,omitempty"`
	// Auth is token, local or none.
	Auth string `json:"auth,omitempty"`
	// AuthPrivateKey signs tokens with local, and AuthPublicKey has more keys that check them;
	// both are the content of files, which name them otherwise. No file has the first.
	AuthPrivateKey     string `json:"-"`
	AuthPrivateKeyFile string `json:"authPrivateKeyFile,omitempty"`
	AuthPublicKey      string `json:"authPublicKey,omitempty"`
	AuthPublicKeyFile  string `json:"authPublicKeyFile,omitempty"`
	UserTokenFile      string `json:"userTokenFile,omitempty"`
	UsersFile          string `json:"usersFile,omitempty"`
	// UserReviews asks the Kubernetes API who other users are.
	UserReviews bool `json:"userReviews,omitempty"`
}

// HubReleases is which releases clusters can have, and how the hub finds out which release an image is.
type HubReleases struct {
	File          string `json:"file,omitempty"`
	UpdateService string `json:"updateService,omitempty"`
	// Lookup is needed, always or never.
	Lookup      string `json:"lookup,omitempty"`
	MirrorsFile string `json:"mirrorsFile,omitempty"`
	CAFile      string `json:"caFile,omitempty"`
}

// HubValidations changes what the hub asks of hosts and clusters.
type HubValidations struct {
	DisabledHost    []string `json:"disabledHost,omitempty"`
	DisabledCluster []string `json:"disabledCluster,omitempty"`
	DisabledSteps   []string `json:"disabledSteps,omitempty"`
	// HostRequirements of hosts by release, as JSON.
	HostRequirements string `json:"hostRequirements,omitempty"`
	AgentVersion     string `json:"agentVersion,omitempty"`
}

// HubInstallation is what the hub installs with.
type HubInstallation struct {
	IgnitionDir    string `json:"ignitionDir,omitempty"`
	IgnitionSource string `json:"ignitionSource,omitempty"`
	// OpenShiftInstall is the path of that program; empty for none.
	OpenShiftInstall      string `json:"openshiftInstall,omitempty"`
	Kubernetes            bool   `json:"kubernetes,omitempty"`
	ClusterImage          string `json:"clusterImage,omitempty"`
	OperatorsFile         string `json:"operatorsFile,omitempty"`
	InstallerImage        string `json:"installerImage,omitempty"`
	ControllerImage       string `json:"controllerImage,omitempty"`
	MachineConfigImage    string `json:"machineConfigImage,omitempty"`
	MustGatherImage       string `json:"mustGatherImage,omitempty"`
	CoreOSImage           string `json:"coreosImage,omitempty"`
	Reclaim               bool   `json:"reclaim,omitempty"`
	PauseProvisionedHosts bool   `json:"pauseProvisionedHosts,omitempty"`
}

// HubLimits is how much the hub keeps, and how patient it is.
type HubLimits struct {
	// LogMiB bounds an archive of logs.
	LogMiB            int             `json:"logMiB,omitempty"`
	KeepEvents        metav1.Duration `json:"keepEvents,omitzero"`
	Silence           metav1.Duration `json:"silence,omitzero"`
	ChecksTimeout     metav1.Duration `json:"checksTimeout,omitzero"`
	DiskCheckTimeout  metav1.Duration `json:"diskCheckTimeout,omitzero"`
	ImageCheckTimeout metav1.Duration `json:"imageCheckTimeout,omitzero"`
	MonitorInterval   metav1.Duration `json:"monitorInterval,omitzero"`
	LeaseRenewal      metav1.Duration `json:"leaseRenewal,omitzero"`
	PrepareAgain      metav1.Duration `json:"prepareAgain,omitzero"`
	LogsTimeout       metav1.Duration `json:"logsTimeout,omitzero"`
	// StageTimeouts is a list of STAGE=DURATION.
	StageTimeouts []string `json:"stageTimeouts,omitempty"`
	SoftTimeouts  bool     `json:"softTimeouts,omitempty"`
}
