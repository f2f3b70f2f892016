// Package messages is all that an agent-based install says to people who stand before
// a host: one table of texts, each with the file that it lies in, and the [Console] that
// shows them. Every text also reaches the hub as an event (see [Reporter]), so that
// there is nothing to read on the host that cannot be read outside.
package messages

import (
	"fmt"
	"slices"
	"strings"
)

// Severity is how bad a message is, in the words of the hub's events.
type Severity string

// Severities.
const (
	Info    Severity = "info"
	Warning Severity = "warning"
	Error   Severity = "error"
)

// Slot is the name of a message's file in /etc/issue.d and /etc/motd.d. Its number
// sorts the messages: 60 rendezvous host, config image, the host's own network and name and its earlier installation, 65 tokens and registry, 70 services and
// the hub's state, 80 settings of hosts, 90 start of the installation and its page, 95 contents of the config image.
// A slot has one message at a time; the newer one replaces the older.
type Slot string

// Slots.
const (
	SlotConfigImageWanted Slot = "60_config-image"
	SlotHostname          Slot = "60_hostname"
	SlotInstalled         Slot = "60_installed"
	SlotNetwork           Slot = "60_network"
	SlotNmstate           Slot = "60_network-nmstate"
	SlotRendezvous        Slot = "60_rendezvous-host"
	SlotRegistry          Slot = "65_registry"
	SlotTokens            Slot = "65_token"
	SlotServices          Slot = "70_agent-services"
	SlotHub               Slot = "70_hub"
	SlotHubCopy           Slot = "70_hub-copy"
	SlotHubState          Slot = "70_hub-state"
	SlotImportCluster     Slot = "70_import-cluster"
	SlotRegisterCluster   Slot = "70_register-cluster"
	SlotRegisterInfraEnv  Slot = "70_register-infraenv"
	SlotApplyHostConfig   Slot = "80_apply-host-config"
	SlotHostConfig        Slot = "80_host-config"
	SlotAddNode           Slot = "90_add-node"
	SlotStart             Slot = "90_start-cluster"
	SlotUI                Slot = "90_ui-availability"
	SlotConfigImage       Slot = "95_load-config-image"
)

// ID names a message; events have it as their name, with the prefix [EventPrefix].
type ID string

// EventPrefix leads the names of the hub's events.
const EventPrefix = "agent_based_"

// Messages.
const (
	ConfigImageWanted      ID = "config_image_wanted"
	HostnameFailed         ID = "hostname_failed"
	InstalledBefore        ID = "installed_before"
	InstalledFollows       ID = "installed_before_follows"
	NetworkFailed          ID = "network_failed"
	NetworkNotFound        ID = "network_not_found"
	NmstateFailed          ID = "nmstate_failed"
	RendezvousUnknown      ID = "rendezvous_unknown"
	RendezvousInvalid      ID = "rendezvous_invalid"
	RendezvousNoAddress    ID = "rendezvous_no_address"
	RendezvousNoNetwork    ID = "rendezvous_no_network"
	RendezvousExpected     ID = "rendezvous_expected"
	RendezvousDuplicate    ID = "rendezvous_duplicate"
	RendezvousIs           ID = "rendezvous_is"
	RendezvousIsNot        ID = "rendezvous_is_not"
	RegistryUnreachable    ID = "registry_unreachable"
	RegistryPassedOver     ID = "registry_passed_over"
	TokensExpire           ID = "tokens_expire"
	TokensExpired          ID = "tokens_expired"
	TokensUnusable         ID = "tokens_unusable" //nolint:gosec // a name
	ServicesWaiting        ID = "services_waiting"
	HubStatePassedOver     ID = "hub_state_passed_over"
	HubFailed              ID = "hub_failed"
	HubCopyStale           ID = "hub_copy_stale"
	ImportClusterFailed    ID = "import_cluster_failed"
	RegisterClusterFailed  ID = "register_cluster_failed"
	RegisterInfraEnvFailed ID = "register_infraenv_failed"
	ApplyHostConfigFailed  ID = "apply_host_config_failed"
	HostConfigFailed       ID = "host_config_failed"
	StartHubAway           ID = "start_hub_away"
	StartHostsMissing      ID = "start_hosts_missing"
	StartHostsTooMany      ID = "start_hosts_too_many"
	StartClusterNotReady   ID = "start_cluster_not_ready"
	StartRefused           ID = "start_refused"
	StartInstalling        ID = "start_installing"
	StartPersonWanted      ID = "start_person_wanted"
	StartEnded             ID = "start_ended"
	StartInstalled         ID = "start_installed"
	AddNodeWaiting         ID = "add_node_waiting"
	AddNodeRefused         ID = "add_node_refused"
	AddNodeInstalling      ID = "add_node_installing"
	AddNodePersonWanted    ID = "add_node_person_wanted"
	AddNodeEnded           ID = "add_node_ended"
	UIAvailable            ID = "ui_available"
	ConfigImageRefused     ID = "config_image_refused"
	ConfigImageUnused      ID = "config_image_unused"
	ConfigImageLoaded      ID = "config_image_loaded"
)

// Message is a row of the table.
type Message struct {
	ID       ID
	Slot     Slot
	Severity Severity
	// Format is the text with fmt's verb %s for each of Args, which say what it is.
	Format string
	Args   []string
}

var table = []Message{
	{ConfigImageWanted, SlotConfigImageWanted, Warning, "This host waits for its config image: attach a medium with the label %s (a USB device, or virtual media of the BMC).", []string{"label"}},

	{HostnameFailed, SlotHostname, Error, "This host does not get the name that its settings say: %s.", []string{"reason"}},

	{
		InstalledBefore, SlotInstalled, Error,
		"This host was installed by this image at %s, to %s, and does not begin again: set its boot order to that disk. To install again, and lose what is on the disks, boot this host with the kernel argument %s, " +
			"or all hosts from an image that was made into another folder or with other settings.",
		[]string{"time", "disk", "argument"},
	},
	{
		InstalledFollows, SlotInstalled, Warning,
		"This host was installed by this image at %s, to %s: set its boot order to that disk. It is installed again only if a hub on the rendezvous host orders it.",
		[]string{"time", "disk"},
	},

	{NetworkFailed, SlotNetwork, Error, "The network of this host is not set up: %s.", []string{"reason"}},
	{NetworkNotFound, SlotNetwork, Warning, "No network description of the image names a card of this host, which has %s, so it uses DHCP. If it should have one, correct the MAC addresses and make the image again.", []string{"cards and their MAC addresses"}},

	{NmstateFailed, SlotNmstate, Error, "The network of this host is not set up: %s.", []string{"what nmstatectl says"}},

	{RendezvousUnknown, SlotRendezvous, Warning, "This host waits for %s, which names the rendezvous host; it comes with the image, or with the config image.", []string{"file"}},
	{RendezvousInvalid, SlotRendezvous, Error, "The rendezvous host is not known: %s. Make the image again with the address of one of the hosts.", []string{"what is wrong"}},
	{RendezvousNoAddress, SlotRendezvous, Warning, "This host has no address yet; the rendezvous host has %s. Look at cables, VLANs and DHCP.", []string{"expected addresses"}},
	{RendezvousNoNetwork, SlotRendezvous, Warning, "This host has no address yet; the rendezvous host has %s. %s", []string{"expected addresses", "the message about its network"}},
	{RendezvousExpected, SlotRendezvous, Warning, "The rendezvous host has %s; this host has %s, and waits for more.", []string{"expected addresses", "addresses"}},
	{RendezvousDuplicate, SlotRendezvous, Error, "This host has %s of the rendezvous host on %s, and so has another one in the network: take it from one of them.", []string{"address", "interface"}},
	{RendezvousIs, SlotRendezvous, Info, "This host is the rendezvous host: it has %s on %s.", []string{"address", "interface"}},
	{RendezvousIsNot, SlotRendezvous, Info, "This host is not the rendezvous host: that one has %s, this host has %s.", []string{"expected addresses", "addresses"}},

	{RegistryUnreachable, SlotRegistry, Warning, "This host reaches no registry of the release %s, and waits until it does, or a person at its first terminal sets up its network or goes on without: %s.", []string{"release", "what has failed"}},
	{RegistryPassedOver, SlotRegistry, Warning, "A person has this host go on, though it reaches no registry of the release %s: %s.", []string{"release", "what has failed"}},

	{TokensExpire, SlotTokens, Warning, "The authentication token of this image ends at %s; a host that is not installed by then needs a new image.", []string{"time"}},
	{TokensExpired, SlotTokens, Error, "Installation cannot proceed: the authentication token of this image has ended at %s, and this host's clock says %s. Make a new image and boot it, or set the clock.", []string{"time", "the host's time"}},
	{TokensUnusable, SlotTokens, Error, "Installation cannot proceed: the authentication tokens of this image cannot be used: %s. Make a new image and boot it.", []string{"reason"}},

	{ServicesWaiting, SlotServices, Warning, "Waiting for services: %s", []string{"services and their states"}},

	{HubFailed, SlotHub, Error, "Installation cannot proceed: the hub of this installation does not start, and is tried again: %s.", []string{"reason"}},

	{HubCopyStale, SlotHubCopy, Warning, "The copy of the hub's state on the disk of this host is not up to date; after a loss of power, the installation may have to begin anew: %s.", []string{"reason"}},

	{
		HubStatePassedOver, SlotHubState, Warning,
		"The installation begins anew: the copy of the hub's state on %s is of an image with other settings, and is not used. Boot all hosts from this image, also those that were installed before.",
		[]string{"disks"},
	},

	{ImportClusterFailed, SlotImportCluster, Error, "Installation cannot proceed: the running cluster is not imported into the hub, which is tried again: %s.", []string{"reason"}},

	{RegisterClusterFailed, SlotRegisterCluster, Error, "Installation cannot proceed: the cluster is not registered at the hub, which is tried again: %s.", []string{"reason"}},

	{RegisterInfraEnvFailed, SlotRegisterInfraEnv, Error, "Installation cannot proceed: the infra-env is not registered at the hub, which is tried again: %s.", []string{"reason"}},

	{ApplyHostConfigFailed, SlotApplyHostConfig, Error, "Installation cannot proceed: roles and disks of the hosts are not set, which is tried again: %s.", []string{"reason"}},

	{HostConfigFailed, SlotHostConfig, Error, "Installation cannot proceed: %s", []string{"hosts and what is wrong with their settings"}},

	{AddNodeWaiting, SlotAddNode, Warning, "This host does not join the cluster yet: %s.", []string{"state of the host"}},
	{AddNodeRefused, SlotAddNode, Error, "The hub does not install this host: %s.", []string{"reason"}},
	{AddNodeInstalling, SlotAddNode, Info, "This host is being installed for the cluster: %s.", []string{"state of the host"}},
	{AddNodePersonWanted, SlotAddNode, Warning, "The installation of this host waits for a person: %s.", []string{"state of the host, and what to do"}},
	{AddNodeEnded, SlotAddNode, Error, "The installation of this host has failed: %s.", []string{"state of the host"}},

	{StartHubAway, SlotStart, Warning, "The hub of this installation does not answer: %s.", []string{"reason"}},
	{StartHostsMissing, SlotStart, Warning, "The installation has not begun: %s.", []string{"which hosts are there, and which are not ready"}},
	{StartHostsTooMany, SlotStart, Error, "Installation cannot proceed: %s. Switch off those that are too many and remove them from the hub.", []string{"which hosts are there"}},
	{StartClusterNotReady, SlotStart, Warning, "All hosts are ready, the cluster is not: %s.", []string{"state of the cluster"}},
	{StartRefused, SlotStart, Error, "The hub does not start the installation: %s.", []string{"reason"}},
	{StartInstalling, SlotStart, Info, "The cluster is being installed: %s.", []string{"state of the cluster"}},
	{StartPersonWanted, SlotStart, Warning, "The installation waits for a person: %s.", []string{"which hosts, and what to do"}},
	{StartEnded, SlotStart, Error, "The installation has ended without a cluster: %s.", []string{"state of the cluster"}},
	{StartInstalled, SlotStart, Info, "The cluster is installed.", nil},

	{UIAvailable, SlotUI, Info, "Look at the installation at %s", []string{"URL"}},

	{ConfigImageRefused, SlotConfigImage, Error, "Installation cannot proceed: the config image on %s is refused: %s.", []string{"device", "what is wrong"}},
	{ConfigImageUnused, SlotConfigImage, Warning, "The config image on %s is not used, and the installation goes on: %s.", []string{"device", "why it is not used"}},
	{ConfigImageLoaded, SlotConfigImage, Info, "The config image on %s is in place.", []string{"device"}},
}

// Table lists all messages in the order of their files.
func Table() []Message { return slices.Clone(table) }

// find returns the row of a message. The test of the table proves that each ID has one.
func find(id ID) Message {
	if i := slices.IndexFunc(table, func(m Message) bool { return m.ID == id }); i >= 0 {
		return table[i]
	}
	return Message{ID: id, Slot: SlotServices, Severity: Error, Format: string(id)}
}

// text renders the message. Arguments come from outside as well: what could move the
// cursor of a terminal is not in the text.
func (m Message) text(args []string) string {
	values := make([]any, len(args))
	for i, a := range args {
		values[i] = printable(a)
	}
	return strings.ReplaceAll(fmt.Sprintf(m.Format, values...), " \n", "\n")
}

// maxArgument bounds what one argument adds to a screen of 80x24.
const maxArgument = 1000

// printable keeps lines, and drops every other control character, and what looks like a secret:
// everybody who passes by a screen reads it.
func printable(text string) string {
	text = clean(strings.Map(func(r rune) rune {
		if (r < ' ' && r != '\n') || (r >= 0x7f && r < 0xa0) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "?")))
	if len(text) > maxArgument {
		text = strings.ToValidUTF8(text[:maxArgument], "") + " …"
	}
	return text
}
