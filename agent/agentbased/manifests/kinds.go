package manifests

// Head is what every kind begins with.
type Head struct {
	APIVersion string  `json:"apiVersion,omitzero"`
	Kind       string  `json:"kind,omitzero"`
	Metadata   Meta    `json:"metadata,omitzero"`
	Status     Ignored `json:"status,omitzero"`
}

func (h *Head) head() *Head { return h }

// Meta is an object's own data; what an API server adds is known and means nothing.
type Meta struct {
	Name              string            `json:"name,omitzero"`
	Namespace         string            `json:"namespace,omitzero"`
	Labels            map[string]string `json:"labels,omitzero"`
	Annotations       map[string]string `json:"annotations,omitzero"`
	CreationTimestamp Ignored           `json:"creationTimestamp,omitzero"`
	ResourceVersion   Ignored           `json:"resourceVersion,omitzero"`
	UID               Ignored           `json:"uid,omitzero"`
	Generation        Ignored           `json:"generation,omitzero"`
	ManagedFields     Ignored           `json:"managedFields,omitzero"`
	OwnerReferences   Ignored           `json:"ownerReferences,omitzero"`
	Finalizers        Ignored           `json:"finalizers,omitzero"`
	SelfLink          Ignored           `json:"selfLink,omitzero"`
}

// Ref names an object.
type Ref struct {
	Name      string `json:"name,omitzero"`
	Namespace string `json:"namespace,omitzero"`
}

// Proxy of a cluster or an infra-env.
type Proxy struct {
	HTTPProxy  string `json:"httpProxy,omitzero"`
	HTTPSProxy string `json:"httpsProxy,omitzero"`
	NoProxy    string `json:"noProxy,omitzero"`
}

// ClusterDeployment says what the cluster is called.
type ClusterDeployment struct {
	Head

	Spec struct {
		ClusterName       string  `json:"clusterName,omitzero"`
		BaseDomain        string  `json:"baseDomain,omitzero"`
		PullSecretRef     *Ref    `json:"pullSecretRef,omitzero"`
		Platform          Ignored `json:"platform,omitzero"`
		ClusterInstallRef *struct {
			Group   string `json:"group,omitzero"`
			Version string `json:"version,omitzero"`
			Kind    string `json:"kind,omitzero"`
			Name    string `json:"name,omitzero"`
		} `json:"clusterInstallRef,omitzero"`
		Installed            bool    `json:"installed,omitzero"`
		PreserveOnDelete     Ignored `json:"preserveOnDelete,omitzero"`
		ClusterMetadata      Ignored `json:"clusterMetadata,omitzero" refuse:"the cluster gets its identity when it is installed; take it away"`
		ControlPlaneConfig   Ignored `json:"controlPlaneConfig,omitzero" refuse:"put certificates of the API into extra manifests"`
		Provisioning         Ignored `json:"provisioning,omitzero" refuse:"it is of installations in a cloud; take it away"`
		ManageDNS            Ignored `json:"manageDNS,omitzero" refuse:"it is of installations in a cloud; take it away"`
		HibernateAfter       Ignored `json:"hibernateAfter,omitzero" refuse:"it is of installations in a cloud; take it away"`
		InstallAttemptsLimit Ignored `json:"installAttemptsLimit,omitzero" refuse:"it is of installations in a cloud; take it away"`
	} `json:"spec,omitzero"`
}

// AgentClusterInstall says how the cluster is installed.
type AgentClusterInstall struct {
	Head

	Spec struct {
		ImageSetRef            *Ref          `json:"imageSetRef,omitzero"`
		ClusterDeploymentRef   Ref           `json:"clusterDeploymentRef,omitzero"`
		Networking             Networking    `json:"networking,omitzero"`
		SSHPublicKey           string        `json:"sshPublicKey,omitzero"`
		ProvisionRequirements  Requirements  `json:"provisionRequirements,omitzero"`
		ControlPlane           *MachinePool  `json:"controlPlane,omitzero"`
		Arbiter                *MachinePool  `json:"arbiter,omitzero"`
		Compute                []MachinePool `json:"compute,omitzero"`
		APIVIP                 string        `json:"apiVIP,omitzero"`
		APIVIPs                []string      `json:"apiVIPs,omitzero"`
		IngressVIP             string        `json:"ingressVIP,omitzero"`
		IngressVIPs            []string      `json:"ingressVIPs,omitzero"`
		DiskEncryption         *Encryption   `json:"diskEncryption,omitzero"`
		Proxy                  *Proxy        `json:"proxy,omitzero"`
		PlatformType           string        `json:"platformType,omitzero"`
		External               *External     `json:"external,omitzero"`
		MastersSchedulable     bool          `json:"mastersSchedulable,omitzero"`
		LoadBalancer           *LoadBalancer `json:"loadBalancer,omitzero"`
		NTPSources             []string      `json:"ntpSources,omitzero"`
		HoldInstallation       bool          `json:"holdInstallation,omitzero"`
		ManifestsConfigMapRef  Ignored       `json:"manifestsConfigMapRef,omitzero" refuse:"put the manifests into the folder of extra manifests"`
		ManifestsConfigMapRefs Ignored       `json:"manifestsConfigMapRefs,omitzero" refuse:"put the manifests into the folder of extra manifests"`
		ClusterMetadata        Ignored       `json:"clusterMetadata,omitzero" refuse:"the cluster gets its identity when it is installed; take it away"`
		IgnitionEndpoint       Ignored       `json:"ignitionEndpoint,omitzero" refuse:"it is of hosts that join a running cluster; put it into worker-ignition-endpoint.json"`
		MirrorRegistryRef      Ignored       `json:"mirrorRegistryRef,omitzero" refuse:"name mirrors in the image's registries.conf and in the overrides of the install-config"`
	} `json:"spec,omitzero"`
}

// Networking of a cluster.
type Networking struct {
	ClusterNetwork        []ClusterNetwork `json:"clusterNetwork,omitzero"`
	ServiceNetwork        []string         `json:"serviceNetwork,omitzero"`
	MachineNetwork        []MachineNetwork `json:"machineNetwork,omitzero"`
	NetworkType           string           `json:"networkType,omitzero"`
	UserManagedNetworking *bool            `json:"userManagedNetworking,omitzero"`
}

// ClusterNetwork is a pool of addresses of pods.
type ClusterNetwork struct {
	CIDR       string `json:"cidr,omitzero"`
	HostPrefix int    `json:"hostPrefix,omitzero"`
}

// MachineNetwork is a network that hosts are on.
type MachineNetwork struct {
	CIDR string `json:"cidr,omitzero"`
}

// Requirements say how many hosts the installation waits for.
type Requirements struct {
	ControlPlaneAgents int `json:"controlPlaneAgents,omitzero"`
	ArbiterAgents      int `json:"arbiterAgents,omitzero"`
	WorkerAgents       int `json:"workerAgents,omitzero"`
}

// MachinePool is about the machines of one role.
type MachinePool struct {
	Name           string `json:"name,omitzero"`
	Hyperthreading string `json:"hyperthreading,omitzero"`
}

// Encryption of the installed disks.
type Encryption struct {
	EnableOn    *string `json:"enableOn,omitzero"`
	Mode        *string `json:"mode,omitzero"`
	TangServers string  `json:"tangServers,omitzero"`
}

// External is a platform that somebody else brings.
type External struct {
	PlatformName           string `json:"platformName,omitzero"`
	CloudControllerManager string `json:"cloudControllerManager,omitzero"`
}

// LoadBalancer says who balances the API's and ingress addresses.
type LoadBalancer struct {
	Type string `json:"type,omitzero"`
}

// ClusterImageSet names the release.
type ClusterImageSet struct {
	Head

	Spec struct {
		ReleaseImage string `json:"releaseImage,omitzero"`
	} `json:"spec,omitzero"`
}

// InfraEnv is what hosts boot with.
type InfraEnv struct {
	Head

	Spec struct {
		Proxy                      *Proxy     `json:"proxy,omitzero"`
		AdditionalNTPSources       []string   `json:"additionalNTPSources,omitzero"`
		NTPSources                 []string   `json:"ntpSources,omitzero"`
		SSHAuthorizedKey           string     `json:"sshAuthorizedKey,omitzero"`
		PullSecretRef              *Ref       `json:"pullSecretRef,omitzero"`
		ClusterRef                 *Ref       `json:"clusterRef,omitzero"`
		NMStateConfigLabelSelector Selector   `json:"nmStateConfigLabelSelector,omitzero"`
		AgentApproval              *Approval  `json:"agentApproval,omitzero"`
		KernelArguments            []Argument `json:"kernelArguments,omitzero"`
		IgnitionConfigOverride     string     `json:"ignitionConfigOverride,omitzero"`
		CPUArchitecture            string     `json:"cpuArchitecture,omitzero"`
		OSImageVersion             string     `json:"osImageVersion,omitzero"`
		ImageType                  string     `json:"imageType,omitzero"`
		AdditionalTrustBundle      string     `json:"additionalTrustBundle,omitzero"`
		NetworkDiscoveryDelay      *int64     `json:"networkDiscoveryDelaySeconds,omitzero"`
		AgentLabels                Ignored    `json:"agentLabels,omitzero" refuse:"they are of Agents in Kubernetes, and there are none; take it away"`
		IPXEScriptType             Ignored    `json:"ipxeScriptType,omitzero" refuse:"the image is there before the hub; take it away"`
		MirrorRegistryRef          Ignored    `json:"mirrorRegistryRef,omitzero" refuse:"name mirrors in the image's registries.conf"`
	} `json:"spec,omitzero"`
}

// Selector selects by labels.
type Selector struct {
	MatchLabels      map[string]string `json:"matchLabels,omitzero"`
	MatchExpressions Ignored           `json:"matchExpressions,omitzero" refuse:"write the labels into matchLabels"`
}

// Approval says whether hosts start approved; here they do.
type Approval struct {
	AutoApprove bool `json:"autoApprove,omitzero"`
}

// Argument changes the command line of the live image's kernel.
type Argument struct {
	Operation string `json:"operation,omitzero"`
	Value     string `json:"value,omitzero"`
}

// NMStateConfig is the static network of one host.
type NMStateConfig struct {
	Head

	Spec struct {
		Interfaces []Card `json:"interfaces,omitzero"`
		Config     Free   `json:"config,omitzero"`
	} `json:"spec,omitzero"`
}

// Card is a network interface by its address.
type Card struct {
	Name       string `json:"name,omitzero"`
	MACAddress string `json:"macAddress,omitzero"`
}

// Secret is the pull secret's.
type Secret struct {
	Head

	Type       string            `json:"type,omitzero"`
	StringData map[string]string `json:"stringData,omitzero"`
	Data       map[string]string `json:"data,omitzero"`
	Immutable  Ignored           `json:"immutable,omitzero"`
}

// Operator is one that is installed with the cluster.
type Operator struct {
	Name       string `json:"name,omitzero"`
	Properties string `json:"properties,omitzero"`
}

// RootDeviceHints choose the disk to install; all of them have to fit.
type RootDeviceHints struct {
	DeviceName         string `json:"deviceName,omitzero"`
	HCTL               string `json:"hctl,omitzero"`
	Model              string `json:"model,omitzero"`
	Vendor             string `json:"vendor,omitzero"`
	SerialNumber       string `json:"serialNumber,omitzero"`
	MinSizeGigabytes   int    `json:"minSizeGigabytes,omitzero"`
	WWN                string `json:"wwn,omitzero"`
	WWNWithExtension   string `json:"wwnWithExtension,omitzero"`
	WWNVendorExtension string `json:"wwnVendorExtension,omitzero"`
	Rotational         *bool  `json:"rotational,omitzero"`
}

// Fencing is how a host can be switched off by the others.
type Fencing struct {
	Hostname                string `json:"hostname,omitzero"`
	MACAddress              string `json:"macaddress,omitzero"`
	Address                 string `json:"address,omitzero"`
	Username                string `json:"username,omitzero"`
	Password                string `json:"password,omitzero"`
	CertificateVerification string `json:"certificateVerification,omitzero"`
}
