package topics

import (
	"github.com/ironflow/ironflow/api/commands/settings"
	"github.com/ironflow/ironflow/api/config/v1alpha1"
)

// Images are the settings of [v1alpha1.Images].
func Images(c *v1alpha1.Images) settings.Group {
	return settings.Group{Title: "Image server", Rows: []settings.Row{
		settings.Text("images-addr", "IRONFLOW_IMAGES_ADDR", ":8080", "address at which the image server listens for HTTP; 0 switches it off", &c.Address),
		settings.Text("images-tls-addr", "IRONFLOW_IMAGES_TLS_ADDR", ":8443", "address at which the image server listens for HTTPS; 0 switches it off", &c.TLSAddress),
		settings.Text("images-publish-url", "IRONFLOW_IMAGES_PUBLISH_URL", "", "URL at which BMCs reach the image server; empty: http://127.0.0.1 with the port of --images-addr, which only this computer reaches", &c.PublishURL),
		settings.Number("images-per-address", "IRONFLOW_IMAGES_PER_ADDRESS", "1024", "maximum number of open connections to the image server from one address, such as that of a proxy or NAT with many BMCs behind it; 0 for no limit", &c.ConnectionsPerAddress),
		settings.Text("base-image", "DEPLOY_ISO", "", "live ISO that the images of hosts are made from, or a folder of them (NAME.ARCH.iso); if it is empty and --base-image-list is given: a folder in --data-dir", &c.BaseImage),
		settings.Text("base-image-list", "IRONFLOW_BASE_IMAGE_LIST", "", "YAML file with base images to download into the folder of --base-image; read again every minute; see docs/images.md", &c.BaseImageList),
	}}
}

// LiveSystem are the settings of [v1alpha1.LiveSystem].
func LiveSystem(c *v1alpha1.LiveSystem) settings.Group {
	return settings.Group{Title: "What live images contain", Rows: []settings.Row{
		settings.Text("host-programs", "IRONFLOW_HOST_PROGRAMS", "", "folder with the programs ironflow-agent and ironflow-step, which are put into every live image; empty: the folder of this program; none: no programs", &c.HostPrograms),
		settings.Text("live-nmstatectl", "IRONFLOW_LIVE_NMSTATECTL", "auto", "whether live systems have nmstatectl, to which nmstate documents are passed on that Ironflow cannot translate: auto (looked up in the base image), always or never", &c.Nmstatectl),
		settings.Text("agent-image", "IRONFLOW_AGENT_IMAGE", "", "container image that the host agent is taken from, for a hub that is not Ironflow's; empty: Ironflow's agent", &c.AgentImage),
		settings.List("ironic-base-url", "IRONIC_BASE_URL", "", "comma-separated URLs at which machines reach Ironic; empty: --ironic-endpoint", &c.IronicBaseURLs),
		settings.Text("ironic-agent-ca", "IRONFLOW_IRONIC_AGENT_CA_FILE", "", "file with the CA that machines verify Ironic's certificate with; empty: --ironic-ca", &c.IronicCAFile),
		settings.Text("ironic-agent-image", "IRONIC_AGENT_IMAGE", "", "container image of ironic-python-agent, which live systems pull", &c.IronicAgentImage),
		settings.Text("ironic-agent-image-arm", "IRONIC_AGENT_IMAGE_ARM", "", "container image of ironic-python-agent for hosts of architecture aarch64; empty: --ironic-agent-image", &c.IronicAgentImageARM),
		settings.Bool("ironic-agent-image-insecure", "IRONFLOW_IRONIC_AGENT_IMAGE_INSECURE", "false", "do not verify the certificate of the registry that ironic-python-agent is pulled from", &c.IronicAgentImageInsecure),
		settings.Bool("ironic-agent-foreign", "IRONFLOW_IRONIC_AGENT_FOREIGN", "false", "declare that --ironic-agent-image lacks Ironflow's plugin for ironic-python-agent: the unit of the host agent is then made without the condition that only Ironflow's deploy step fulfils", &c.IronicAgentForeign),
		settings.Secret("ironic-agent-pull-secret", "IRONIC_AGENT_PULL_SECRET", "", "pull secret of live images, in base64; empty: --ironic-agent-pull-secret-file", &c.PullSecret),
		settings.Text("ironic-agent-pull-secret-file", "IRONFLOW_IRONIC_AGENT_PULL_SECRET_FILE", "/run/secrets/pull-secret", "file with the pull secret of live images; not used if it is missing", &c.PullSecretFile),
		settings.Text("ironic-agent-vlan-interfaces", "IRONIC_AGENT_VLAN_INTERFACES", "", "whether ironic-python-agent creates interfaces for the VLANs that it learns of: always or never; empty: on hosts without network data", &c.VLANInterfaces),
		settings.List("ironic-inspector-base-url", "IRONIC_INSPECTOR_BASE_URL", "", "comma-separated URLs of a separate ironic-inspector; empty: Ironic itself inspects", &c.InspectorBaseURLs),
		settings.Text("ssh-key-file", "IRONFLOW_SSH_KEY_FILE", "", "file with SSH public keys for the user core of live systems", &c.SSHKeyFile),
		settings.Text("ssh-key", "IRONIC_RAMDISK_SSH_KEY", "", "one more SSH public key for the user core of live systems", &c.SSHKey),
		settings.Text("registries-conf", "REGISTRIES_CONF_PATH", "", "file registries.conf for live systems, with mirrors of registries", &c.RegistriesFile),
		settings.Text("ca-bundle", "CA_BUNDLE", "", "PEM file with CA certificates that live systems trust", &c.CABundleFile),
		settings.Text("ip-options", "IP_OPTIONS", "", "kernel arguments for the network of installed systems, such as ip=dhcp6", &c.IPOptions),
		settings.Text("http-proxy", "HTTP_PROXY", "", "proxy that live systems use for http URLs", &c.HTTPProxy),
		settings.Text("https-proxy", "HTTPS_PROXY", "", "proxy that live systems use for https URLs", &c.HTTPSProxy),
		settings.Text("no-proxy", "NO_PROXY", "", "comma-separated names and networks that live systems reach without a proxy", &c.NoProxy),
		settings.List("additional-ntp-servers", "ADDITIONAL_NTP_SERVERS", "", "comma-separated time servers of live systems", &c.NTPServers),
	}}
}
