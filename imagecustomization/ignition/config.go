// Package ignition renders the Ignition config of a host's live image.
//
// A config has three layers, merged by Ignition's own rules, where the later
// one wins by path and unit name: the base with the host agent (shipped
// disabled, behind its gate), ironic-python-agent (IPA), and what the user adds.
// [Build] takes a [HostConfig] and gives spec 3.2.0, validated as a whole; the
// same input gives the same bytes. [Decode] reads a config back.
package ignition

import (
	"encoding/json"
	"log/slog"

	"github.com/ironflow/ironflow/api/hostfile"
)

// Secret is a string that never shows itself in logs and messages.
type Secret string

const redacted = "(redacted)"

// String implements fmt.Stringer.
func (s Secret) String() string { return redacted }

// GoString implements fmt.GoStringer.
func (s Secret) GoString() string { return redacted }

// LogValue implements slog.LogValuer.
func (s Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalJSON implements json.Marshaler; secrets do not travel as JSON.
func (s Secret) MarshalJSON() ([]byte, error) { return json.Marshal(redacted) }

// HostConfig is all that a host's live image is told. Zero values leave the
// feature out.
type HostConfig struct {
	// IPA makes the image boot ironic-python-agent; nil gives an image without
	// Ironic, in which the agent starts by itself.
	IPA *IPA
	// Agent adds the host agent.
	Agent *Agent
	// SSHKeys may log in as user core; one authorized_keys line each.
	SSHKeys []string
	// PullSecret is a container registry authentication file (JSON).
	PullSecret Secret
	// NTPServers are added to chrony's configuration.
	NTPServers []string
	// Registries is the content of /etc/containers/registries.conf.
	Registries string
	// CABundle holds PEM certificates that the whole live system trusts.
	CABundle string
	// Proxy is for IPA's and, unless it has its own, the agent's traffic.
	Proxy Proxy
	// Keyfiles are NetworkManager keyfiles by file name, written to the running
	// system (as opposed to those that the initrd takes from the image).
	Keyfiles map[string][]byte
	// Nmstate is what the live system sets up of the network by itself.
	Nmstate []Nmstate
	// Hostname is the name of the host, whatever the network says; empty for none.
	Hostname string
	// Files and Units are what somebody else has rendered for this live system, such as
	// those of a cluster that installs itself.
	Files []Placed
	Units []Unit
	// Override is the user's Ignition config of any 3.x version; it wins.
	Override json.RawMessage
}

// Placed is a file of the live system.
type Placed struct {
	// Path is absolute.
	Path string
	// Mode holds the permission bits.
	Mode int
	// Data is the content, which may be secret.
	Data Secret
}

// Unit is a unit of the live system's systemd.
type Unit struct {
	Name string
	// Enabled tells whether it starts by itself.
	Enabled bool
	Content string
}

// IPA says how ironic-python-agent runs and which Ironic it talks to.
type IPA struct {
	// APIURLs are Ironic's base URLs; the port defaults to 6385.
	APIURLs []string
	// InspectionURLs are where inspection data goes, only for an inspector of its
	// own: the port defaults to 5050 and the path to /v1/continue.
	InspectionURLs []string
	// CA holds PEM certificates to verify Ironic with; without it the system's are used.
	CA string
	// Insecure switches the verification off.
	Insecure bool
	// VLANInterfaces is IPA's enable_vlan_interfaces: "all", a list, or empty.
	VLANInterfaces string
	// Image is the container image of IPA.
	Image string
	// ImageInsecure allows a registry without a valid certificate.
	ImageInsecure bool
	// Command runs IPA as a program of the live system; instead of Image.
	Command []string
	// DefaultHostname is the name of a host that gets none from the network.
	DefaultHostname string
	// IPOptions are kernel arguments for the installed system, e.g. "ip=dhcp6".
	IPOptions string
	// CopyNetwork carries the live system's keyfiles to the installed system.
	CopyNetwork bool
}

// Agent says how the host agent runs and which hub it talks to.
type Agent struct {
	// URL is the hub's base URL.
	URL string
	// InfraEnvID is the UUID of the infra-env to register in.
	InfraEnvID string
	// Version is sent to the hub as the agent's version, usually an image reference.
	Version string
	// Image is a container image that the agent is taken out of, for a hub that
	// brings an agent of its own; empty runs the agent that rides in the image.
	Image string
	// ImageInsecure allows a registry without a valid certificate.
	ImageInsecure bool
	// Token authenticates the agent; it lies in a file that only root can read.
	Token Secret
	// CA holds PEM certificates to verify the hub with; without it the system's are used.
	CA string
	// Proxy replaces [HostConfig.Proxy] for the agent when it is not empty.
	Proxy Proxy
	// Deadlines of the deploy step; zero fields keep the program's defaults.
	Deadlines hostfile.StepDeadlines
	// Gate adds the condition that only a running deploy step satisfies. It needs
	// Ironflow's IPA plugin: the stock plugin takes a closed gate for success.
	Gate bool
}

// Proxy is the usual trio of proxy settings.
type Proxy struct {
	// HTTP and HTTPS are proxy URLs, No the list of exceptions.
	HTTP, HTTPS, No string
}

// Empty tells whether no proxy is set.
func (p Proxy) Empty() bool { return p == Proxy{} }
