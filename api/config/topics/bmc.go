package topics

import (
	"github.com/ironflow/ironflow/api/commands/settings"
	"github.com/ironflow/ironflow/api/config/v1alpha1"
)

// BMC are the settings of [v1alpha1.BMC].
func BMC(c *v1alpha1.BMC) settings.Group {
	return settings.Group{Title: "BMCs", Rows: []settings.Row{
		settings.Bool("bmc", "IRONFLOW_BMC", "false", "read from BMCs over Redfish what they are and can do (resource BMC), and check against that what hosts ask for, before their machines are started", &c.Enabled),
		settings.Text("bmc-ca", "IRONFLOW_BMC_CA_FILE", "", "file with the CAs that certificates of BMCs are verified with; empty: the system's CAs; for hosts with disableCertificateVerification, any certificate is accepted", &c.CAFile),
		settings.Text("bmc-quirks", "IRONFLOW_BMC_QUIRKS_FILE", "", "YAML file with the site's own rows of the table of BMC quirks, such as a mounted ConfigMap; read again when it changes; see docs/quirks.md", &c.QuirksFile),
		settings.Bool("bmc-image-sizes", "IRONFLOW_BMC_IMAGE_SIZES", "true", "ask web servers for the size of live ISOs and firmware images, where the BMC is known to accept images up to a certain size only; see docs/preflight.md", &c.ImageSizes),
		settings.Duration("bmc-health-every", "IRONFLOW_BMC_HEALTH_EVERY", "15m0s", "how often the health of each machine is read, with at most 12 requests to its BMC each time; 0 for never", &c.HealthEvery),
	}}
}

// BMCEvents are the settings of [v1alpha1.BMCEvents].
func BMCEvents(c *v1alpha1.BMCEvents) settings.Group {
	return settings.Group{Title: "Events that BMCs push", Rows: []settings.Row{
		settings.Text("bmc-events-addr", "IRONFLOW_BMC_EVENTS_ADDR", "", "address to listen at for events that BMCs push, such as :8092; empty: no listener, BMCs are polled; see docs/bmc-watch.md", &c.Address),
		settings.Text("bmc-events-publish-url", "IRONFLOW_BMC_EVENTS_PUBLISH_URL", "", "URL at which BMCs reach the listener of --bmc-events-addr, such as https://ironflow.example:8092", &c.PublishURL),
		settings.Text("bmc-events-cert-dir", "IRONFLOW_BMC_EVENTS_CERT_DIR", "", "folder with tls.crt and tls.key of the listener of --bmc-events-addr; empty: Ironflow makes a certificate, for which it needs a data folder", &c.CertDir),
		settings.Text("bmc-events-key-file", "IRONFLOW_BMC_EVENTS_KEY_FILE", "", "file with at least 32 random bytes, from which the secret URL is made that the BMC of each host pushes to; the same for all replicas; empty: a file in the data folder", &c.KeyFile),
		settings.Duration("bmc-events-every", "IRONFLOW_BMC_EVENTS_EVERY", "30m0s", "how often the event subscription at each BMC is checked, with one request while it is in order, and two more after the BMC has ended the session", &c.Every),
		settings.Duration("bmc-events-health-every", "IRONFLOW_BMC_EVENTS_HEALTH_EVERY", "4h0m0s", "how often the health of machines whose BMC pushes events is read, instead of --bmc-health-every", &c.HealthEvery),
	}}
}

// BMCCredentials are the settings of [v1alpha1.BMCCredentials].
func BMCCredentials(c *v1alpha1.BMCCredentials) settings.Group {
	return settings.Group{Title: "Passwords and certificates of BMCs", Rows: []settings.Row{
		settings.Duration("bmc-rotate-every", "IRONFLOW_BMC_ROTATE_EVERY", "0s", "how often the password of each BMC is changed, such as 2160h; 0: only on request, by the annotation ironflow.io/rotate-credentials of its host; see docs/rotation.md", &c.RotateEvery),
		settings.Number("bmc-rotations", "IRONFLOW_BMC_ROTATIONS", "2", "maximum number of BMCs whose password or certificate is changed concurrently", &c.AtOnce),
		settings.Text("bmc-password-policy", "IRONFLOW_BMC_PASSWORD_POLICY", "", "rules for new passwords of BMCs; empty: length=20,least=16,classes=lower+upper+digit+symbol; the annotation ironflow.io/password-policy of a host is used instead where it is set", &c.PasswordPolicy),
		settings.Text("bmc-issuer", "IRONFLOW_BMC_ISSUER_DIR", "", "folder with tls.crt and tls.key of the CA that signs certificates for BMCs, and ca.crt with its root if it is an intermediate CA, such as a mounted Secret of type kubernetes.io/tls; empty: no certificates are replaced; see docs/rotation.md", &c.IssuerDir),
		settings.Duration("bmc-certificate-life", "IRONFLOW_BMC_CERTIFICATE_LIFE", "8760h0m0s", "how long certificates that the CA of --bmc-issuer signs for BMCs are valid", &c.CertificateLife),
		settings.Bool("bmc-renew-certificates", "IRONFLOW_BMC_RENEW_CERTIFICATES", "false", "replace certificates of BMCs automatically: those that the CA of --bmc-issuer has not signed, and those with less than a third of their lifetime left; false: only on request, by the annotation ironflow.io/replace-certificate of a host", &c.RenewCertificates),
		settings.Bool("bmc-issuer-in-ironic", "IRONFLOW_BMC_ISSUER_IN_IRONIC", "false", "declare that Ironic's conductors trust the CA of --bmc-issuer; false: only certificates that Ironic does not verify are replaced", &c.IssuerInIronic),
	}}
}
