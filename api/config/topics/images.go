package topics

import (
	"github.com/ironflow/ironflow/api/commands/settings"
	"github.com/ironflow/ironflow/api/config/v1alpha1"
)

// Images are the settings of [v1alpha1.Images].
func Images(c *v1alpha1.Images) settings.Group {
	return settings.Group{Title: "Image server", Rows: []settings.Row{
		settings.Text("images-addr", "IRONFLOW_IMAGES_ADDR", ":8080", "address of the image server (HTTP); 0 switches it off", &c.Address),
		settings.Text("images-tls-addr", "IRONFLOW_IMAGES_TLS_ADDR", ":8443", "address of the image server (HTTPS); 0 switches it off", &c.TLSAddress),
		settings.Text("images-publish-url", "IRONFLOW_IMAGES_PUBLISH_URL", "", "URL by which BMCs reach the image server; empty for http://127.0.0.1 and the port of images-addr", &c.PublishURL),
		settings.Number("images-per-address", "IRONFLOW_IMAGES_PER_ADDRESS", "1024", "maximum number of open connections to the image server from one address, such as that of a proxy or NAT with many BMCs behind it; 0 for no limit", &c.ConnectionsPerAddress),
		settings.Text("base-image", "DEPLOY_ISO", "", "live ISO that images are made from, or a folder of them (NAME.ARCH.iso); empty with base-image-list for a folder below data-dir", &c.BaseImage),
		settings.Text("base-image-list", "IRONFLOW_BASE_IMAGE_LIST", "", "YAML file with base images to download into the folder of base-image, read again every minute", &c.BaseImageList),
	}}
}

// LiveSystem are the settings of [v1alpha1.LiveSystem].
func LiveSystem(c *v1alpha1.LiveSystem) settings.Group {
	return settings.Group{Title: "What live images contain", Rows: []settings.Row{
		settings.Text("host-programs", "IRONFLOW_HOST_PROGRAMS", "", "folder with the programs ironflow-agent and ironflow-step that are put into every live image; empty for the folder of this program, none for no programs", &c.HostPrograms),
		settings.Text("live-nmstatectl", "IRONFLOW_LIVE_NMSTATECTL", "auto", "whether live systems have nmstatectl, which nmstate documents that cannot be translated are passed on to: auto (what is known of the base image), always or never", &c.Nmstatectl),
		settings.Text("agent-image", "IRONFLOW_AGENT_IMAGE", "", "container image that the host agent is taken from, for a hub with an agent of its own; empty for Ironflow's agent", &c.AgentImage),
		settings.List("ironic-base-url", "IRONIC_BASE_URL", "", "comma-separated URLs by which machines reach Ironic; empty for ironic-endpoint", &c.IronicBaseURLs),
		settings.Text("ironic-agent-ca", "IRONFLOW_IRONIC_AGENT_CA_FILE", "", "CA that machines trust for Ironic; empty for ironic-ca", &c.IronicCAFile),
		settings.Text("ironic-agent-image", "IRONIC_AGENT_IMAGE", "", "container image of ironic-python-agent", &c.IronicAgentImage),
		settings.Text("ironic-agent-image-arm", "IRONIC_AGENT_IMAGE_ARM", "", "container image of ironic-python-agent for hosts of aarch64; empty for ironic-agent-image", &c.IronicAgentImageARM),
		settings.Bool("ironic-agent-image-insecure", "IRONFLOW_IRONIC_AGENT_IMAGE_INSECURE", "false", "pull the container image of ironic-python-agent from a registry without a valid certificate", &c.IronicAgentImageInsecure),
		settings.Bool("ironic-agent-foreign", "IRONFLOW_IRONIC_AGENT_FOREIGN", "false", "say that ironic-agent-image lacks Ironflow's plugin for ironic-python-agent: the condition for the agent's start (gate) is left out", &c.IronicAgentForeign),
		settings.Secret("ironic-agent-pull-secret", "IRONIC_AGENT_PULL_SECRET", "", "pull secret of live images, in base64; empty for ironic-agent-pull-secret-file", &c.PullSecret),
		settings.Text("ironic-agent-pull-secret-file", "IRONFLOW_IRONIC_AGENT_PULL_SECRET_FILE", "/run/secrets/pull-secret", "file with the pull secret of live images; ignored when missing", &c.PullSecretFile),
		settings.Text("ironic-agent-vlan-interfaces", "IRONIC_AGENT_VLAN_INTERFACES", "", "whether ironic-python-agent makes the VLAN interfaces that it hears of: always or never; empty: on hosts without network data", &c.VLANInterfaces),
		settings.List("ironic-inspector-base-url", "IRONIC_INSPECTOR_BASE_URL", "", "comma-separated URLs of a separate ironic-inspector; empty when Ironic itself inspects", &c.InspectorBaseURLs),
		settings.Text("ssh-key-file", "IRONFLOW_SSH_KEY_FILE", "", "file with SSH public keys for user core in the live image", &c.SSHKeyFile),
		settings.Text("ssh-key", "IRONIC_RAMDISK_SSH_KEY", "", "an SSH public key for user core in the live image, besides those of ssh-key-file", &c.SSHKey),
		settings.Text("registries-conf", "REGISTRIES_CONF_PATH", "", "file with registries.conf for live images", &c.RegistriesFile),
		settings.Text("ca-bundle", "CA_BUNDLE", "", "file with certificates that live systems trust", &c.CABundleFile),
		settings.Text("ip-options", "IP_OPTIONS", "", "kernel arguments about the network of installed systems, such as ip=dhcp6", &c.IPOptions),
		settings.Text("http-proxy", "HTTP_PROXY", "", "proxy of live systems for http URLs", &c.HTTPProxy),
		settings.Text("https-proxy", "HTTPS_PROXY", "", "proxy of live systems for https URLs", &c.HTTPSProxy),
		settings.Text("no-proxy", "NO_PROXY", "", "names and networks that live systems reach without a proxy", &c.NoProxy),
		settings.List("additional-ntp-servers", "ADDITIONAL_NTP_SERVERS", "", "comma-separated time servers of live systems", &c.NTPServers),
	}}
}
