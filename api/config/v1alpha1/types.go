package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// IronflowConfiguration is everything that can be set. A field that a file leaves out has its
// default; a field that belongs to no part that runs has no effect, so that one file serves all parts.
type IronflowConfiguration struct {
	metav1.TypeMeta `json:",inline"`

	Kubernetes      Kubernetes      `json:"kubernetes,omitzero"`
	LeaderElection  LeaderElection  `json:"leaderElection,omitzero"`
	Monitoring      Monitoring      `json:"monitoring,omitzero"`
	TLS             TLS             `json:"tls,omitzero"`
	Hosts           Hosts           `json:"hosts,omitzero"`
	Ironic          Ironic          `json:"ironic,omitzero"`
	BMC             BMC             `json:"bmc,omitzero"`
	BMCEvents       BMCEvents       `json:"bmcEvents,omitzero"`
	BMCCredentials  BMCCredentials  `json:"bmcCredentials,omitzero"`
	Store           Store           `json:"store,omitzero"`
	Files           Files           `json:"files,omitzero"`
	Hub             Hub             `json:"hub,omitzero"`
	HubReleases     HubReleases     `json:"hubReleases,omitzero"`
	HubValidations  HubValidations  `json:"hubValidations,omitzero"`
	HubInstallation HubInstallation `json:"hubInstallation,omitzero"`
	HubLimits       HubLimits       `json:"hubLimits,omitzero"`
	Images          Images          `json:"images,omitzero"`
	LiveSystem      LiveSystem      `json:"liveSystem,omitzero"`
	DeployImages    DeployImages    `json:"deployImages,omitzero"`
}

// Kubernetes is the cluster that is worked in.
type Kubernetes struct {
	Namespaces        []string `json:"namespaces,omitempty"`
	Kubeconfig        string   `json:"kubeconfig,omitempty"`
	MachinesInCluster bool     `json:"machinesInCluster,omitempty"`
}

// LeaderElection is the lease by which one of several replicas leads. Times are in seconds, as
// baremetal-operator has them; 0 for those of the Kubernetes client.
type LeaderElection struct {
	Enabled              bool   `json:"enabled,omitempty"`
	Namespace            string `json:"namespace,omitempty"`
	LeaseDurationSeconds int    `json:"leaseDurationSeconds,omitempty"`
	RenewDeadlineSeconds int    `json:"renewDeadlineSeconds,omitempty"`
	RetryPeriodSeconds   int    `json:"retryPeriodSeconds,omitempty"`
}

// Monitoring is how the program is watched.
type Monitoring struct {
	LogLevel        string `json:"logLevel,omitempty"`
	MetricsAddress  string `json:"metricsAddress,omitempty"`
	MetricsInsecure bool   `json:"metricsInsecure,omitempty"`
	MetricsCertDir  string `json:"metricsCertDir,omitempty"`
	HealthAddress   string `json:"healthAddress,omitempty"`
	ProfilerAddress string `json:"profilerAddress,omitempty"`
}

// TLS is what our listeners agree to.
type TLS struct {
	MinVersion   string   `json:"minVersion,omitempty"`
	MaxVersion   string   `json:"maxVersion,omitempty"`
	CipherSuites []string `json:"cipherSuites,omitempty"`
	// CurvePreferences are key exchanges, by their names or by IANA's numbers of them.
	CurvePreferences []string `json:"curvePreferences,omitempty"`
}

// Hosts is how hosts are worked on.
type Hosts struct {
	Concurrency           int  `json:"concurrency,omitempty"`
	MetricSeries          bool `json:"metricSeries,omitempty"`
	HostClaims            bool `json:"hostClaims,omitempty"`
	Limit                 int  `json:"limit,omitempty"`
	LimitNetworkBoot      int  `json:"limitNetworkBoot,omitempty"`
	LimitPerIronic        int  `json:"limitPerIronic,omitempty"`
	LimitPerFailureDomain int  `json:"limitPerFailureDomain,omitempty"`
	// MaxProvisioningRetries is 0 for any number.
	MaxProvisioningRetries int `json:"maxProvisioningRetries,omitempty"`
	// DirectDeployBootDevice and LiveISOBootDevice are Default, Always or Never.
	DirectDeployBootDevice      string `json:"directDeployBootDevice,omitempty"`
	LiveISOBootDevice           string `json:"liveISOBootDevice,omitempty"`
	ProvisioningNetworkDisabled bool   `json:"provisioningNetworkDisabled,omitempty"`
}

// Ironic is how this program reaches Ironic.
type Ironic struct {
	Endpoint string `json:"endpoint,omitempty"`
	// EndpointsFile lists several, in the place of the others.
	EndpointsFile   string          `json:"endpointsFile,omitempty"`
	AuthRoot        string          `json:"authRoot,omitempty"`
	CAFile          string          `json:"caFile,omitempty"`
	ClientCertFile  string          `json:"clientCertFile,omitempty"`
	ClientKeyFile   string          `json:"clientKeyFile,omitempty"`
	Insecure        bool            `json:"insecure,omitempty"`
	SkipNames       bool            `json:"skipNames,omitempty"`
	KeystoneURL     string          `json:"keystoneURL,omitempty"`
	KeystoneUser    string          `json:"keystoneUser,omitempty"`
	KeystoneDomain  string          `json:"keystoneDomain,omitempty"`
	KeystoneProject string          `json:"keystoneProject,omitempty"`
	Timeout         metav1.Duration `json:"timeout,omitzero"`
	// HeartbeatTimeout is Ironic's own limit for those of ramdisks; 0: not known.
	HeartbeatTimeout metav1.Duration `json:"heartbeatTimeout,omitzero"`
	ExternalURLv6    string          `json:"externalURLv6,omitempty"`
}

// BMC is whether and how BMCs are asked by this program itself.
type BMC struct {
	Enabled    bool   `json:"enabled,omitempty"`
	CAFile     string `json:"caFile,omitempty"`
	QuirksFile string `json:"quirksFile,omitempty"`
	ImageSizes bool   `json:"imageSizes,omitempty"`
	// HealthEvery is 0 for never.
	HealthEvery metav1.Duration `json:"healthEvery,omitzero"`
}

// BMCEvents is whether and how BMCs push their events.
type BMCEvents struct {
	// Address is where they are taken, PublishURL how BMCs reach that; both empty for not at all.
	Address    string `json:"address,omitempty"`
	PublishURL string `json:"publishURL,omitempty"`
	// CertDir and KeyFile may be empty where there is a data folder.
	CertDir     string          `json:"certDir,omitempty"`
	KeyFile     string          `json:"keyFile,omitempty"`
	Every       metav1.Duration `json:"every,omitzero"`
	HealthEvery metav1.Duration `json:"healthEvery,omitzero"`
}

// BMCCredentials is when passwords and certificates of BMCs are changed, besides on request.
type BMCCredentials struct {
	// RotateEvery is 0 for never.
	RotateEvery    metav1.Duration `json:"rotateEvery,omitzero"`
	AtOnce         int             `json:"atOnce,omitempty"`
	PasswordPolicy string          `json:"passwordPolicy,omitempty"`
	// IssuerDir is the folder with what a Secret of type kubernetes.io/tls holds; empty for none.
	IssuerDir         string          `json:"issuerDir,omitempty"`
	CertificateLife   metav1.Duration `json:"certificateLife,omitzero"`
	RenewCertificates bool            `json:"renewCertificates,omitempty"`
	IssuerInIronic    bool            `json:"issuerInIronic,omitempty"`
}

// Store is where the hub keeps its records, and everybody certificates and keys.
type Store struct {
	DataDir string `json:"dataDir,omitempty"`
	// Database is PostgreSQL's address without a password, empty for a file in DataDir.
	Database             string `json:"database,omitempty"`
	DatabasePasswordFile string `json:"databasePasswordFile,omitempty"`
}

// Files is where the hub keeps files.
type Files struct {
	// Address is a folder or s3://BUCKET/PREFIX; empty for a folder in the data folder. The others are for S3.
	Address         string `json:"address,omitempty"`
	Endpoint        string `json:"endpoint,omitempty"`
	Region          string `json:"region,omitempty"`
	Addressing      string `json:"addressing,omitempty"`
	CAFile          string `json:"caFile,omitempty"`
	CredentialsFile string `json:"credentialsFile,omitempty"`
}

// Images is the image server.
type Images struct {
	Address    string `json:"address,omitempty"`
	TLSAddress string `json:"tlsAddress,omitempty"`
	PublishURL string `json:"publishURL,omitempty"`
	// ConnectionsPerAddress is how many connections one remote address may have; 0 for any number.
	ConnectionsPerAddress int    `json:"connectionsPerAddress,omitempty"`
	BaseImage             string `json:"baseImage,omitempty"`
	// BaseImageList is a file that names base images to download.
	BaseImageList string `json:"baseImageList,omitempty"`
}

// LiveSystem is what every live image begins with.
type LiveSystem struct {
	// HostPrograms is the folder of the host programs, AgentImage a container image instead.
	HostPrograms string `json:"hostPrograms,omitempty"`
	// Nmstatectl says whether live systems have that program: auto, always or never.
	Nmstatectl               string   `json:"nmstatectl,omitempty"`
	AgentImage               string   `json:"agentImage,omitempty"`
	IronicBaseURLs           []string `json:"ironicBaseURLs,omitempty"`
	IronicCAFile             string   `json:"ironicCAFile,omitempty"`
	IronicAgentImage         string   `json:"ironicAgentImage,omitempty"`
	IronicAgentForeign       bool     `json:"ironicAgentForeign,omitempty"`
	SSHKeyFile               string   `json:"sshKeyFile,omitempty"`
	SSHKey                   string   `json:"sshKey,omitempty"`
	IronicAgentImageARM      string   `json:"ironicAgentImageARM,omitempty"`
	IronicAgentImageInsecure bool     `json:"ironicAgentImageInsecure,omitempty"`
	// PullSecret is in base64, the content of PullSecretFile is not. No file has it.
	PullSecret     string `json:"-"`
	PullSecretFile string `json:"pullSecretFile,omitempty"`
	// VLANInterfaces is always, never, or empty.
	VLANInterfaces    string   `json:"vlanInterfaces,omitempty"`
	InspectorBaseURLs []string `json:"inspectorBaseURLs,omitempty"`
	RegistriesFile    string   `json:"registriesFile,omitempty"`
	CABundleFile      string   `json:"caBundleFile,omitempty"`
	IPOptions         string   `json:"ipOptions,omitempty"`
	HTTPProxy         string   `json:"httpProxy,omitempty"`
	HTTPSProxy        string   `json:"httpsProxy,omitempty"`
	NoProxy           string   `json:"noProxy,omitempty"`
	NTPServers        []string `json:"ntpServers,omitempty"`
}

// DeployImages is the live image where no image server of ours is.
type DeployImages struct {
	BuildPreprovisioningImages bool   `json:"buildPreprovisioningImages,omitempty"`
	ISOURL                     string `json:"isoURL,omitempty"`
	KernelURL                  string `json:"kernelURL,omitempty"`
	RamdiskURL                 string `json:"ramdiskURL,omitempty"`
	// ISOByArch and the like are lists of ARCHITECTURE:URL.
	ISOByArch     []string `json:"isoByArch,omitempty"`
	KernelByArch  []string `json:"kernelByArch,omitempty"`
	RamdiskByArch []string `json:"ramdiskByArch,omitempty"`
}
