// Package places names the files of an agent-based install and reads and writes
// them: each path once, environment files as systemd reads them, and content that is
// there as a whole or not at all, whenever the power fails. What the files mean is
// their users' business. Paths are a host's; a [hostfile.Dir] says where its root is.
package places

import "github.com/ironflow/ironflow/api/hostfile"

// What the image, or the config image, brings.
const (
	// Assisted is the folder of all settings.
	Assisted = "/etc/assisted"
	// RendezvousHost is an environment file: NODE_ZERO_IP, SERVICE_BASE_URL and more.
	// Hosts wait for it, so whoever writes it writes it last.
	RendezvousHost = Assisted + "/rendezvous-host.env"
	// AddNodes is an environment file that is there when hosts join a running cluster.
	AddNodes = Assisted + "/add-nodes.env"
	// ClusterConfig holds what is known of the running cluster that hosts join.
	ClusterConfig = Assisted + "/clusterconfig"
	// NoConfigImage, when it is there, says that no config image is wanted.
	NoConfigImage = Assisted + "/no-config-image"
	// PasswordSet, when it is there, says that the appliance has set the password of
	// the user core.
	PasswordSet = Assisted + "/appliance-override-password-set"
	// ClusterCertificates holds certificates of the cluster that were made with the image, so
	// that its kubeconfig is there before the cluster.
	ClusterCertificates = "/opt/agent/tls"
	// PasswordHash holds a hash of that password, as /etc/shadow has it.
	PasswordHash = "/opt/agent/tls/kubeadmin-password.hash" //nolint:gosec // a path
	// ConfigImageLabel is the label of the medium with a config image.
	ConfigImageLabel = "agent_configimage"
	// ConfigFilesEnv is the variable with the list of files of a config image, with commas.
	ConfigFilesEnv = "CONFIG_IMAGE_FILES"
	// Manifests holds what the client turns into calls.
	Manifests = Assisted + "/manifests"
	// ClusterImageSet says which release is installed.
	ClusterImageSet = Manifests + "/cluster-image-set.yaml"
	// AgentClusterInstall says how many hosts there will be.
	AgentClusterInstall = Manifests + "/agent-cluster-install.yaml"
	// ExtraManifests are added to the cluster's own.
	ExtraManifests = Assisted + "/extra-manifests"
	// HostConfig holds a folder for each host with what is wanted of it.
	HostConfig = Assisted + "/hostconfig"
	// Networks holds a folder hostN for each host with settings of its network.
	Networks = Assisted + "/network"
	// NetworkDelay is an environment file: DISCOVERY_DELAY_SECONDS.
	NetworkDelay = Networks + "/discovery.env"
	// Hostnames holds files named after MAC addresses, with names of hosts.
	Hostnames = Assisted + "/hostnames"
	// ServiceSettings holds environment files of the hub and its clients.
	ServiceSettings = "/usr/local/share/assisted-service"
	// HubSettings is an environment file of settings of the hub that somebody has added to
	// the image.
	HubSettings = ServiceSettings + "/hub.env"
	// StartCluster is an environment file: REQUIRED_MASTER_NODES and the like.
	StartCluster = "/usr/local/share/start-cluster/start-cluster.env"
)

// What comes to be on the host.
const (
	// NodeZero is an environment file that only the rendezvous host has:
	// BOOTSTRAP_HOST_MAC.
	NodeZero = Assisted + "/node0"
	// AnotherHub, when it is there, says that the hub of another host has answered since the
	// boot: the cluster has its rendezvous host.
	AnotherHub = hostfile.RunDir + "/another-hub"
	// ClientConfig is where the client keeps CLUSTER_ID and INFRA_ENV_ID.
	ClientConfig = Assisted + "/client_config"
	// HostConfigFailures has a line "host: reason" for each host whose settings could
	// not be applied. /var/run is the same folder.
	HostConfigFailures = "/run/agent-installer/host-config-failures"
	// HostConfigApplied lists the hosts that have what the image says of them.
	HostConfigApplied = "/run/agent-installer/host-config-applied"
	// Keyfiles is where NetworkManager looks for connections.
	Keyfiles = "/etc/NetworkManager/system-connections"
)

// Names of settings in the environment files.
const (
	// NodeZeroIP is the address of the rendezvous host, or several of it.
	NodeZeroIP = "NODE_ZERO_IP"
	// ServiceBaseURL is the hub's.
	ServiceBaseURL = "SERVICE_BASE_URL"
	// DiscoveryDelay is how many seconds a host waits for cards that its network names.
	DiscoveryDelay = "DISCOVERY_DELAY_SECONDS"
	// UIURL is where people look at the installation; empty for nowhere.
	UIURL = "AIUI_URL"
	// BootstrapMAC is the MAC address of the rendezvous host.
	BootstrapMAC = "BOOTSTRAP_HOST_MAC"
	// ClusterID and InfraEnvID are the hub's ids.
	ClusterID  = "CLUSTER_ID"
	InfraEnvID = "INFRA_ENV_ID"
	// SettingsDigest names the settings of the cluster and its hosts that are in the image.
	SettingsDigest = "SETTINGS_DIGEST"
	// WatchHostConfigEnv has the client's configure go on with hosts that register later, where it is
	// "true".
	WatchHostConfigEnv = "HOST_CONFIG_WATCH"
	// UserToken, AgentToken and WatcherToken are one for each scheme of the hub.
	UserToken    = "USER_AUTH_TOKEN"    //nolint:gosec // a name
	AgentToken   = "AGENT_AUTH_TOKEN"   //nolint:gosec // a name
	WatcherToken = "WATCHER_AUTH_TOKEN" //nolint:gosec // a name
	// TokenExpiry is when the tokens end, for those that do not say so themselves.
	TokenExpiry = "AUTH_TOKEN_EXPIRY" //nolint:gosec // a name
)
