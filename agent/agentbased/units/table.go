package units

import (
	"strconv"
	"strings"

	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/api/exitcode"
	"github.com/ironflow/ironflow/api/hostfile"
)

// Names of units that others are ordered by.
const (
	selinux        = "selinux.service"
	networkConfig  = "pre-network-manager-config.service"
	console        = "agent-interactive-console.service"
	setHostname    = "set-hostname.service"
	networkStatus  = "agent-network-status.service"
	nodeZero       = "node-zero.service"
	pod            = "assisted-service-pod.service"
	database       = "assisted-service-db.service"
	service        = "assisted-service.service"
	registerOne    = "agent-register-cluster.service"
	registerTwo    = "agent-register-infraenv.service"
	hostConfig     = "apply-host-config.service"
	installStatus  = "install-status.service"
	startCluster   = "start-cluster-installation.service"
	agent          = hostfile.AgentUnit
	reports        = "agent-console-messages.service"
	loadConfig     = "load-config-iso@.service"
	checkConfig    = "agent-check-config-image.service"
	importCluster  = "agent-import-cluster.service"
	addNode        = "agent-add-node.service"
	tokens         = "agent-auth-token-status.service" //nolint:gosec // a name
	networkManager = "NetworkManager.service"
	nmstate        = hostfile.NmstateUnit
	multiUser      = "multi-user.target"
)

// Names that programs of the units rely on.
const (
	HubUnit              = service
	RegisterClusterUnit  = registerOne
	RegisterInfraEnvUnit = registerTwo
	HostConfigUnit       = hostConfig
	StartClusterUnit     = startCluster
	ImportClusterUnit    = importCluster
	AddNodeUnit          = addNode
	// RunAgain starts all units, also those whose condition was not met before.
	RunAgain = multiUser
)

// run is a command line of the host's program.
func run(words string) string { return "ExecStart=" + Binary + " " + words }

// client is one of the client, whose files are on this host.
func client(subcommand string) string { return run("agent-installer-client " + subcommand) }

// once is a service that does its work and counts as active from then on.
func once(lines ...string) []string {
	return append([]string{"Type=oneshot", "RemainAfterExit=yes"}, lines...)
}

// retried is the same, repeated after a failure.
func retried(seconds int, lines ...string) []string {
	return once(append(lines, "Restart=on-failure", "RestartSec="+strconv.Itoa(seconds))...)
}

// daemon is a service that runs on.
func daemon(lines ...string) []string {
	return append([]string{"Type=simple", "Restart=on-failure", "RestartSec=5"}, lines...)
}

// configured fails as long as the hosts have not got their roles and disks: the installation
// would choose a disk itself.
const configured = "ExecStartPre=/usr/bin/systemctl is-active --quiet " + hostConfig

// clientFiles tells the client where the host has the manifests: its own defaults are
// those of a container.
var clientFiles = []string{
	"Environment=CLUSTER_DEPLOYMENT_FILE=" + places.Manifests + "/cluster-deployment.yaml",
	"Environment=AGENT_CLUSTER_INSTALL_FILE=" + places.AgentClusterInstall,
	"Environment=INFRA_ENV_FILE=" + places.Manifests + "/infraenv.yaml",
	"Environment=PULL_SECRET_FILE=" + places.Manifests + "/pull-secret.yaml",
	"Environment=CLUSTER_IMAGE_SET_FILE=" + places.ClusterImageSet,
	"Environment=NMSTATE_CONFIG_FILE=" + places.Manifests + "/nmstateconfig.yaml",
	"Environment=OPERATOR_INSTALL_FILE=" + places.Manifests + "/operators.yaml",
	"Environment=EXTRA_MANIFESTS_PATH=" + places.ExtraManifests,
	"EnvironmentFile=-" + places.ServiceSettings + "/assisted-service.env",
	"EnvironmentFile=-" + places.ServiceSettings + "/images.env",
	"EnvironmentFile=-" + places.AddNodes,
	"EnvironmentFile=" + places.RendezvousHost,
	"EnvironmentFile=-" + places.ClientConfig,
}

// everywhere are units of all hosts.
func everywhere() []Unit {
	return []Unit{
		{
			Name: selinux, Description: "SELinux policy for chronyd and the host agent",
			Conditions: []string{"/sys/fs/selinux/policy"}, Before: []string{agent}, WantedBy: multiUser,
			Service: once("ExecStart=/usr/sbin/semodule --install " + policyModule),
		},
		{
			Name: networkConfig, Description: "Pick the network of this host",
			Conditions: []string{places.Networks}, Wants: []string{"network-pre.target"},
			Before: []string{networkManager, "network-pre.target"}, WantedBy: multiUser,
			Service: once("TimeoutStartSec=infinity", run("pre-network-manager-config")), // what it waits for is bounded by the settings
		},
		{
			Name: console, Description: "Check that this host reaches the release image, and let a person fix its network",
			In:         []Workflow{Automated, AddNodes}, // an appliance has the release on its disk
			Conditions: []string{"/dev/fb0", "!" + places.NodeZero},
			After:      []string{networkManager, networkConfig, nmstate}, Before: []string{"getty@tty1.service", agent, nodeZero}, WantedBy: multiUser,
			// The registry may be behind the live system's proxy, which the agent has, too.
			Service: once(
				"TTYPath=/dev/tty1", "StandardInput=tty", "StandardOutput=tty", "TTYReset=yes", "TTYVHangup=yes",
				"EnvironmentFile=-"+hostfile.AgentEnv, "Environment=TERM=linux", "TimeoutStartSec=infinity", run("agent-interactive-console"),
			),
		},
		{
			// Its cards may come late, which networkConfig waits for.
			Name: setHostname, Description: "Give this host the name that its settings say",
			Conditions: []string{places.Hostnames}, After: []string{"dbus.socket", networkConfig}, Before: []string{agent}, WantedBy: multiUser,
			Service: once(run("set-hostname")),
		},
		{
			// Run again with the live system's unit, which may have succeeded meanwhile.
			Name: networkStatus, Description: "Tell on the console why this host does not have the network of its settings",
			After: []string{networkConfig, nmstate}, With: []string{nmstate}, Before: []string{nodeZero}, WantedBy: multiUser,
			Service: once(run("network-status")),
		},
		{
			Name: nodeZero, Description: "Find out whether this host is the rendezvous host",
			After: []string{networkConfig, console, networkManager, nmstate}, Before: []string{agent}, WantedBy: multiUser,
			// Units whose condition was looked at before, because this had failed, are started now.
			// So are all others that have ended: what is done once has to remain after its exit.
			// A host that is not the rendezvous host is watched on: it may get the address later.
			Service: []string{
				"Type=notify", "RemainAfterExit=yes", "TimeoutStartSec=infinity", run("node-zero"), "ExecStartPost=/usr/bin/systemctl start --no-block " + RunAgain,
				"Restart=on-failure", "RestartSec=5",
			},
		},
	}
}

// hub are the units of node zero's hub, which is one process with its own store.
func hub(o Options) []Unit {
	arguments := o.HubArguments
	if len(arguments) == 0 {
		arguments = []string{"hub", "agent-based"}
	}
	return []Unit{
		{
			Name: pod, Description: "The hub of this installation (API, images)", OnNodeZero: true,
			After: []string{nodeZero}, Wants: []string{database, service}, WantedBy: multiUser,
			Service: once("ExecStart=/usr/bin/true"),
		},
		{
			Name: database, Description: "The hub's store, which is part of assisted-service.service", OnNodeZero: true,
			After: []string{nodeZero, pod}, BindsTo: []string{pod}, WantedBy: multiUser,
			Service: once("ExecStart=/usr/bin/true"),
		},
		{
			Name: service, Description: "The hub's REST API", OnNodeZero: true,
			After: []string{nodeZero, pod, database}, BindsTo: []string{pod}, WantedBy: multiUser,
			Service: daemon(
				"EnvironmentFile="+places.ServiceSettings+"/assisted-service.env", "EnvironmentFile=-"+places.ServiceSettings+"/images.env",
				"EnvironmentFile=-"+places.HubSettings,
				"EnvironmentFile="+places.RendezvousHost, "EnvironmentFile="+places.NodeZero,
				"ExecStart="+HubBinary+" "+strings.Join(arguments, " "),
			),
		},
	}
}

// registration are the units that turn manifests into calls.
func registration() []Unit {
	return []Unit{
		{
			Name: registerOne, Description: "Register the cluster", In: []Workflow{Automated, Appliance}, OnNodeZero: true,
			After: []string{service}, With: []string{service}, Conflicts: []string{importCluster}, WantedBy: multiUser,
			Service: retried(30, append(clientFiles, client("registerCluster"))...),
		},
		{
			Name: registerTwo, Description: "Register the infra-env", OnNodeZero: true,
			After: []string{service, registerOne, importCluster}, With: []string{service}, WantedBy: multiUser,
			Service: retried(30, append(clientFiles, client("registerInfraEnv"))...),
		},
		{
			Name: hostConfig, Description: "Apply roles and root device hints of the hosts", OnNodeZero: true,
			After: []string{registerTwo}, With: []string{registerTwo}, WantedBy: multiUser,
			// It goes on with hosts that register once all are configured: it is ready when they are.
			Service: append([]string{"Type=notify", "RemainAfterExit=yes", "TimeoutStartSec=infinity", "Restart=on-failure", "RestartSec=30"},
				append(clientFiles, "Environment="+places.WatchHostConfigEnv+"=true", client("configure"))...),
		},
	}
}

// lead are the units that start the installation and tell how it goes.
func lead() []Unit {
	return []Unit{
		{
			Name: installStatus, Description: "Tell on the console what the installation waits for", OnNodeZero: true,
			After: []string{nodeZero}, WantedBy: multiUser, Service: daemon(run("install-status")),
		},
		{
			Name: startCluster, Description: "Start the installation once all hosts are there", In: []Workflow{Automated, Appliance}, OnNodeZero: true,
			After: []string{hostConfig}, With: []string{service}, WantedBy: multiUser, OffIn: []Workflow{Appliance},
			Service: retried(10, "TimeoutStartSec=infinity", configured, run("start-cluster-installation")),
		},
		{
			Name: agent, Description: "Ironflow host agent",
			After: []string{nodeZero, setHostname, selinux, networkManager}, WantedBy: multiUser,
			Service: []string{
				"Type=notify", "NotifyAccess=all", "TimeoutStartSec=infinity", "TimeoutStopSec=25",
				"Restart=on-failure", "RestartSec=3",
				"RestartPreventExitStatus=" + strconv.Itoa(exitcode.AgentFailed) + " " + strconv.Itoa(exitcode.AgentCancelled),
				"EnvironmentFile=-" + hostfile.AgentEnv, run("start-agent"),
			},
		},
		{
			Name: reports, Description: "Bring the console's messages to the hub", WantedBy: multiUser,
			Service: daemon(run("report-messages")),
		},
	}
}

// appliance are the units that wait for a config image and load it.
func appliance(o Options) []Unit {
	load := append(retried(10, "TimeoutStartSec=infinity"), run("load-config-iso %I"))
	if len(o.ConfigImageFiles) > 0 {
		load = append(load, "Environment="+places.ConfigFilesEnv+"="+strings.Join(o.ConfigImageFiles, ","))
	}
	return []Unit{
		{
			Name: loadConfig, Description: "Load the config image on %I", In: []Workflow{Appliance},
			Conditions: []string{"!" + places.NoConfigImage}, Service: load,
		},
		{
			Name: checkConfig, Description: "Ask for the config image until it is loaded", In: []Workflow{Appliance},
			Conditions: []string{"!" + places.RendezvousHost, "!" + places.NoConfigImage}, WantedBy: multiUser,
			Service: daemon(run("check-config-image")),
		},
	}
}

// addNodes are the units of a host that joins a running cluster.
func addNodes() []Unit {
	only, there := []Workflow{AddNodes}, []string{places.AddNodes}
	return []Unit{
		{
			Name: importCluster, Description: "Import the running cluster", In: only, OnNodeZero: true, Conditions: there,
			After: []string{service, tokens}, With: []string{service, tokens}, Conflicts: []string{registerOne}, WantedBy: multiUser,
			Service: retried(30, append(clientFiles, client("importCluster"))...),
		},
		{
			Name: addNode, Description: "Start the installation of this host", In: only, OnNodeZero: true, Conditions: there,
			After: []string{hostConfig, tokens}, With: []string{service, tokens}, WantedBy: multiUser,
			Service: retried(10, "TimeoutStartSec=infinity", configured, run("add-node")),
		},
		{
			Name: tokens, Description: "Warn of tokens that end, and stop on those that have ended", In: only, Conditions: there,
			After: []string{nodeZero}, WantedBy: multiUser,
			Service: []string{"Type=notify", "Restart=on-failure", "RestartSec=5", "TimeoutStartSec=infinity", run("auth-token-status")},
		},
	}
}

// policyModule is a policy module in the form that semodule takes without a compiler.
const policyModule = places.ServiceSettings + "/assisted.cil"

// policy lets chronyd reach container files and a datagram socket: time sources are
// asked for by its socket.
const policy = `(typeattributeset cil_gen_require chronyd_t)
(typeattributeset cil_gen_require container_file_t)
(typeattributeset cil_gen_require spc_t)
(allow chronyd_t container_file_t (dir (search)))
(allow chronyd_t container_file_t (sock_file (write)))
(allow chronyd_t spc_t (unix_dgram_socket (sendto)))
`

// udevRule starts the unit of a medium with the right label; systemd turns the slashes
// of the device into dashes.
const (
	udevRule = "/etc/udev/rules.d/80-agent-config-image.rules"
	udev     = `ACTION=="add|change", SUBSYSTEM=="block", ENV{ID_FS_LABEL}=="` + places.ConfigImageLabel + `", TAG+="systemd", ENV{SYSTEMD_WANTS}+="load-config-iso@$devnode.service"
`
)
