package topics

import (
	"github.com/ironflow/ironflow/api/commands/settings"
	"github.com/ironflow/ironflow/api/config/v1alpha1"
)

// BMC are the settings of [v1alpha1.BMC].
func BMC(c *v1alpha1.BMC) settings.Group {
	return settings.Group{Title: "BMCs", Rows: []settings.Row{
		settings.Bool("bmc", "IRONFLOW_BMC", "false", "ask BMCs over Redfish what they are and can do (kind BMC), and check what hosts ask for against that before their machines are started", &c.Enabled),
		settings.Text("bmc-ca", "IRONFLOW_BMC_CA_FILE", "", "file with the certificate authorities that BMCs are trusted by; empty for the system's; a host with disableCertificateVerification trusts any certificate", &c.CAFile),
		settings.Text("bmc-quirks", "IRONFLOW_BMC_QUIRKS_FILE", "", "YAML file with a site's own rows of the table of quirks, such as a mounted ConfigMap, read again when it changes; see docs/quirks.md", &c.QuirksFile),
		settings.Bool("bmc-image-sizes", "IRONFLOW_BMC_IMAGE_SIZES", "true", "ask the web servers of live ISOs and firmware images how large these are, where a BMC is known to take images only up to a size; see docs/preflight.md", &c.ImageSizes),
		settings.Duration("bmc-health-every", "IRONFLOW_BMC_HEALTH_EVERY", "15m0s", "time between two readings of a machine's health, each of at most 12 requests to its BMC; 0 for never", &c.HealthEvery),
	}}
}

// BMCEvents are the settings of [v1alpha1.BMCEvents].
func BMCEvents(c *v1alpha1.BMCEvents) settings.Group {
	return settings.Group{Title: "Events that BMCs push", Rows: []settings.Row{
		settings.Text("bmc-events-addr", "IRONFLOW_BMC_EVENTS_ADDR", "", "address of the listener that BMCs push their events to, such as :8092; empty: BMCs are asked instead; see docs/bmc-watch.md", &c.Address),
		settings.Text("bmc-events-publish-url", "IRONFLOW_BMC_EVENTS_PUBLISH_URL", "", "URL by which BMCs reach the listener of bmc-events-addr, such as https://ironflow.example:8092", &c.PublishURL),
		settings.Text("bmc-events-cert-dir", "IRONFLOW_BMC_EVENTS_CERT_DIR", "", "folder with tls.crt and tls.key of the listener of bmc-events-addr; empty for a certificate of Ironflow's own, where there is a data folder", &c.CertDir),
		settings.Text("bmc-events-key-file", "IRONFLOW_BMC_EVENTS_KEY_FILE", "", "file with at least 32 random bytes that the secret addresses of hosts are made of, the same for all replicas; empty for one in the data folder", &c.KeyFile),
		settings.Duration("bmc-events-every", "IRONFLOW_BMC_EVENTS_EVERY", "30m0s", "time between two looks at the event subscription at a BMC, each of one request while it is in order, and two more where the BMC has ended the session", &c.Every),
		settings.Duration("bmc-events-health-every", "IRONFLOW_BMC_EVENTS_HEALTH_EVERY", "4h0m0s", "time between two readings of a machine's health whose BMC pushes events, instead of bmc-health-every", &c.HealthEvery),
	}}
}

// BMCCredentials are the settings of [v1alpha1.BMCCredentials].
func BMCCredentials(c *v1alpha1.BMCCredentials) settings.Group {
	return settings.Group{Title: "Passwords and certificates of BMCs", Rows: []settings.Row{
		settings.Duration("bmc-rotate-every", "IRONFLOW_BMC_ROTATE_EVERY", "0s", "time between two changes of a BMC's password, such as 2160h; 0 for never, only on request by a host's annotation ironflow.io/rotate-credentials; see docs/rotation.md", &c.RotateEvery),
		settings.Number("bmc-rotations", "IRONFLOW_BMC_ROTATIONS", "2", "maximum number of BMCs whose password or certificate is changed concurrently", &c.AtOnce),
		settings.Text("bmc-password-policy", "IRONFLOW_BMC_PASSWORD_POLICY", "", "rules for new passwords of BMCs, such as length=20,least=16,classes=lower+upper+digit+symbol, which is the default; a host's annotation ironflow.io/password-policy comes first", &c.PasswordPolicy),
		settings.Text("bmc-issuer", "IRONFLOW_BMC_ISSUER_DIR", "", "folder with tls.crt and tls.key of the authority that signs certificates for BMCs, and ca.crt if that has a root of its own, such as a mounted Secret of type kubernetes.io/tls; empty: none are replaced; see docs/rotation.md", &c.IssuerDir),
		settings.Duration("bmc-certificate-life", "IRONFLOW_BMC_CERTIFICATE_LIFE", "8760h0m0s", "how long certificates that the authority of bmc-issuer signs for BMCs are valid", &c.CertificateLife),
		settings.Bool("bmc-renew-certificates", "IRONFLOW_BMC_RENEW_CERTIFICATES", "false", "replace certificates of BMCs without being asked: those that the issuer has not signed, and those with a third of their life left; else on request only, by a host's annotation ironflow.io/replace-certificate", &c.RenewCertificates),
		settings.Bool("bmc-issuer-in-ironic", "IRONFLOW_BMC_ISSUER_IN_IRONIC", "false", "say that Ironic's conductors trust the authority of bmc-issuer; without this, only certificates that Ironic does not check are replaced", &c.IssuerInIronic),
	}}
}
