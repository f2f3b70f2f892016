package topics

import (
	"github.com/ironflow/ironflow/api/commands/settings"
	"github.com/ironflow/ironflow/api/config/v1alpha1"
	"github.com/ironflow/ironflow/api/names"
)

// Hosts are the settings of [v1alpha1.Hosts].
func Hosts(c *v1alpha1.Hosts) settings.Group {
	return settings.Group{Title: "Hosts", Rows: []settings.Row{
		settings.Number("concurrency", "BMO_CONCURRENCY", "0", "maximum number of hosts that are reconciled concurrently; 0 for 100", &c.Concurrency),
		settings.Bool("host-series", "IRONFLOW_HOST_SERIES", "false", "add the labels namespace and host to the per-host metrics that baremetal-operator has too, which makes one series for each host", &c.MetricSeries),
		settings.Bool("hostclaims", "IRONFLOW_HOSTCLAIMS", "false", "assign hosts to HostClaims, where HostDeployPolicies allow it", &c.HostClaims),
		settings.Number("limit-hosts", "IRONFLOW_LIMIT_HOSTS", "0", "maximum number of hosts that are inspected, cleaned or deployed concurrently; 0 for no limit", &c.Limit),
		settings.Number("limit-network-boot", "PROVISIONING_LIMIT", "20", "maximum number of hosts that boot over the network (PXE) and are inspected, cleaned or deployed concurrently; hosts with virtual media do not count; 0 for no limit", &c.LimitNetworkBoot),
		settings.Number("limit-per-ironic", "IRONFLOW_LIMIT_PER_IRONIC", "0", "maximum number of hosts of one Ironic that are inspected, cleaned or deployed concurrently; 0 for no limit", &c.LimitPerIronic),
		settings.Number("limit-per-failure-domain", "IRONFLOW_LIMIT_PER_FAILURE_DOMAIN", "0", "maximum number of hosts of one failure domain (label "+names.FailureDomain+") that are inspected, cleaned or deployed concurrently; 0 for no limit", &c.LimitPerFailureDomain),
		settings.Number("max-provisioning-retries", "IRONFLOW_MAX_PROVISIONING_RETRIES", "5", "number of deployments of a host that may fail in a row; after that, it waits for a person; 0 for no limit", &c.MaxProvisioningRetries),
		settings.Text("direct-deploy-boot-device", "DIRECT_DEPLOY_FORCE_PERSISTENT_BOOT_DEVICE", "Default", "value of Ironic's force_persistent_boot_device for hosts that are deployed with an image or a custom deploy step: Default, Always or Never", &c.DirectDeployBootDevice),
		settings.Text("live-iso-boot-device", "LIVE_ISO_FORCE_PERSISTENT_BOOT_DEVICE", "Default", "value of Ironic's force_persistent_boot_device for hosts that are deployed with a live ISO: Default, Always or Never", &c.LiveISOBootDevice),
		settings.Bool("provisioning-network-disabled", "PROVISIONING_NETWORK_DISABLED", "false", "refuse hosts whose type of BMC address needs network boot (PXE), because there is no network for it", &c.ProvisioningNetworkDisabled),
	}}
}

// Ironic are the settings of [v1alpha1.Ironic].
func Ironic(c *v1alpha1.Ironic) settings.Group {
	return settings.Group{Title: "Ironic", Rows: []settings.Row{
		settings.Text("ironic-endpoint", "IRONIC_ENDPOINT", "", "Ironic's URL without /v1, such as https://ironic.example:6385", &c.Endpoint),
		settings.Text("ironic-endpoints", "IRONFLOW_IRONIC_ENDPOINTS", "", "YAML file that lists several Ironics, used instead of --ironic-endpoint and the other settings of one Ironic; see docs/ironic.md", &c.EndpointsFile),
		settings.Text("ironic-auth-root", "METAL3_AUTH_ROOT_DIR", "/opt/metal3/auth", "folder with the files ironic/username and ironic/password for HTTP basic authentication at Ironic; without these files, no authentication", &c.AuthRoot),
		settings.Text("ironic-ca", "IRONIC_CACERT_FILE", "/opt/metal3/certs/ca/tls.crt", "file with the CA of Ironic's certificate; if it is missing, the system's CAs are trusted", &c.CAFile),
		settings.Text("ironic-client-cert", "IRONIC_CLIENT_CERT_FILE", "/opt/metal3/certs/client/tls.crt", "file with a client certificate to authenticate with at Ironic; not used if it is missing", &c.ClientCertFile),
		settings.Text("ironic-client-key", "IRONIC_CLIENT_PRIVATE_KEY_FILE", "/opt/metal3/certs/client/tls.key", "file with the private key of --ironic-client-cert", &c.ClientKeyFile),
		settings.Bool("ironic-insecure", "IRONIC_INSECURE", "false", "do not verify Ironic's certificate", &c.Insecure),
		settings.Bool("ironic-skip-names", "IRONIC_SKIP_CLIENT_SAN_VERIFY", "false", "verify that a trusted CA has signed Ironic's certificate, but not which host names are in it", &c.SkipNames),
		settings.Text("ironic-keystone-url", "OS_AUTH_URL", "", "URL of Keystone (v3), for an Ironic that authenticates by it; the user's password is in the file keystone/password in --ironic-auth-root; empty: no Keystone", &c.KeystoneURL),
		settings.Text("ironic-keystone-user", "OS_USERNAME", "ironflow", "user at Keystone", &c.KeystoneUser),
		settings.Text("ironic-keystone-domain", "OS_USER_DOMAIN_NAME", "Default", "Keystone domain of the user and of the project", &c.KeystoneDomain),
		settings.Text("ironic-keystone-project", "OS_PROJECT_NAME", "", "Keystone project to act in; empty: the whole system (system scope)", &c.KeystoneProject),
		settings.Duration("ironic-timeout", "IRONIC_CLIENT_TIMEOUT", "30s", "time limit of one request to Ironic", &c.Timeout),
		settings.Duration("ironic-heartbeat-timeout", "IRONFLOW_IRONIC_HEARTBEAT_TIMEOUT", "0s", "value of Ironic's own setting [api]ramdisk_heartbeat_timeout: after that time without a heartbeat an agent counts as lost; 0: learn it from the heartbeats", &c.HeartbeatTimeout),
		settings.Text("ironic-external-url-v6", "IRONIC_EXTERNAL_URL_V6", "", "URL at which BMCs with an IPv6 address reach Ironic's image server; empty: as Ironic is configured", &c.ExternalURLv6),
	}}
}

// DeployImages are the settings of [v1alpha1.DeployImages].
func DeployImages(c *v1alpha1.DeployImages) settings.Group {
	return settings.Group{Title: "Live images without an image server", Rows: []settings.Row{
		settings.Bool("build-preprov-image", "IRONFLOW_BUILD_PREPROV_IMAGE", "false", "create a PreprovisioningImage for each host; another program has to build its live image", &c.BuildPreprovisioningImages),
		settings.Text("deploy-iso-url", "DEPLOY_ISO_URL", "", "URL of the live ISO for all hosts whose BMC boots one (virtual media)", &c.ISOURL),
		settings.Text("deploy-kernel-url", "DEPLOY_KERNEL_URL", "", "URL of the kernel of the live image for all hosts that boot over the network; needs --deploy-ramdisk-url", &c.KernelURL),
		settings.Text("deploy-ramdisk-url", "DEPLOY_RAMDISK_URL", "", "URL of the ramdisk of the live image for all hosts that boot over the network; needs --deploy-kernel-url", &c.RamdiskURL),
		settings.List("deploy-iso-by-arch", "DEPLOY_ISO_BY_ARCH", "", "comma-separated ARCHITECTURE:URL, used instead of --deploy-iso-url for hosts of these architectures", &c.ISOByArch),
		settings.List("deploy-kernel-by-arch", "DEPLOY_KERNEL_BY_ARCH", "", "comma-separated ARCHITECTURE:URL, used instead of --deploy-kernel-url for hosts of these architectures", &c.KernelByArch),
		settings.List("deploy-ramdisk-by-arch", "DEPLOY_RAMDISK_BY_ARCH", "", "comma-separated ARCHITECTURE:URL, used instead of --deploy-ramdisk-url for hosts of these architectures", &c.RamdiskByArch),
	}}
}
