package topics

import (
	"github.com/ironflow/ironflow/api/commands/settings"
	"github.com/ironflow/ironflow/api/config/v1alpha1"
)

// Kubernetes are the settings of [v1alpha1.Kubernetes].
func Kubernetes(c *v1alpha1.Kubernetes) settings.Group {
	return settings.Group{Title: "Kubernetes", Rows: []settings.Row{
		settings.List("namespace", "WATCH_NAMESPACE", "", "comma-separated namespaces to watch; empty for all", &c.Namespaces),
		settings.Text("kubeconfig", "KUBECONFIG", "", "kubeconfig file; empty for the cluster that this runs in", &c.Kubeconfig),
		settings.Bool("machines-in-cluster", "IRONFLOW_MACHINES_IN_CLUSTER", "false", "machines and BMCs resolve names of this Kubernetes cluster and reach its Services, as virtual machines in it do: take published addresses that only the cluster reaches", &c.MachinesInCluster),
	}}
}

// LeaderElection are the settings of [v1alpha1.LeaderElection].
func LeaderElection(c *v1alpha1.LeaderElection) settings.Group {
	return settings.Group{Title: "Leader election", Rows: []settings.Row{
		settings.Bool("leader-elect", "IRONFLOW_LEADER_ELECT", "false", "elect one active replica by a lease", &c.Enabled),
		settings.Text("lease-namespace", "POD_NAMESPACE", "", "namespace of the lease by which a replica is elected; empty for the one that this runs in", &c.Namespace),
		settings.Number("lease-duration-seconds", "LEASE_DURATION_SECONDS", "0", "seconds after which another replica takes a lease that was not renewed; 0 for 15", &c.LeaseDurationSeconds),
		settings.Number("renew-deadline-seconds", "RENEW_DEADLINE_SECONDS", "0", "seconds that the active replica tries to renew its lease before it ends; 0 for 10", &c.RenewDeadlineSeconds),
		settings.Number("retry-period-seconds", "RETRY_PERIOD_SECONDS", "0", "seconds between two tries to get or renew the lease; 0 for 2", &c.RetryPeriodSeconds),
	}}
}

// Monitoring are the settings of [v1alpha1.Monitoring].
func Monitoring(c *v1alpha1.Monitoring) settings.Group {
	return settings.Group{Title: "Logs, metrics and health", Rows: []settings.Row{
		settings.Text("log-level", "IRONFLOW_LOG_LEVEL", "info", "debug, info or error", &c.LogLevel),
		settings.Text("metrics-addr", "IRONFLOW_METRICS_ADDR", ":9443", "address of the metrics listener; 0 switches it off", &c.MetricsAddress),
		settings.Bool("metrics-insecure", "IRONFLOW_METRICS_INSECURE", "false", "serve metrics over plain HTTP to everybody, for a laboratory; else over HTTPS, to those whom the Kubernetes API lets read them", &c.MetricsInsecure),
		settings.Text("metrics-cert-dir", "IRONFLOW_METRICS_CERT_DIR", "", "folder with tls.crt and tls.key of the metrics listener; empty for a certificate of Ironflow's own", &c.MetricsCertDir),
		settings.Text("health-addr", "IRONFLOW_HEALTH_ADDR", ":9440", "address of /healthz and /readyz; 0 switches it off", &c.HealthAddress),
		settings.Text("pprof-addr", "IRONFLOW_PPROF_ADDR", "0", "address of the Go profiler's listener; 0 switches it off", &c.ProfilerAddress),
	}}
}

// TLS are the settings of [v1alpha1.TLS].
func TLS(c *v1alpha1.TLS) settings.Group {
	return settings.Group{Title: "TLS of the listeners", Rows: []settings.Row{
		settings.Text("tls-min-version", "IRONFLOW_TLS_MIN_VERSION", "TLS12", "oldest TLS version of the metrics listener and the hub's REST API: TLS12 or TLS13", &c.MinVersion),
		settings.Text("tls-max-version", "IRONFLOW_TLS_MAX_VERSION", "", "newest TLS version of the metrics listener and the hub's REST API: TLS12 or TLS13; empty for no limit", &c.MaxVersion),
		settings.List("tls-cipher-suites", "IRONFLOW_TLS_CIPHER_SUITES", "", "comma-separated cipher suites of TLS 1.2 of the metrics listener and the hub's REST API, by their IANA names; empty for Go's choice", &c.CipherSuites),
		settings.List("tls-curve-preferences", "IRONFLOW_TLS_CURVE_PREFERENCES", "", "comma-separated key exchanges of the metrics listener and the hub's REST API, by names such as X25519 or by IANA's numbers such as 29; empty for Go's choice", &c.CurvePreferences),
	}}
}

// Store are the settings of [v1alpha1.Store].
func Store(c *v1alpha1.Store) settings.Group {
	return settings.Group{Title: "Records, keys and certificates", Rows: []settings.Row{
		settings.Text("data-dir", "IRONFLOW_DATA_DIR", "/var/lib/ironflow", "folder for the hub's store, certificates, keys and, unless files names another place, collected logs", &c.DataDir),
		settings.Text("database", "IRONFLOW_DATABASE", "", "PostgreSQL database of the hub's records, postgres://USER@HOST:5432/DATABASE without a password, for several replicas; empty for the file hub.sqlite in data-dir", &c.Database),
		settings.Text("database-password-file", "IRONFLOW_DATABASE_PASSWORD_FILE", "", "file with the password of database, read for each connection; empty for the variables PGPASSWORD or PGPASSFILE", &c.DatabasePasswordFile),
	}}
}

// Files are the settings of [v1alpha1.Files].
func Files(c *v1alpha1.Files) settings.Group {
	return settings.Group{Title: "Collected logs", Rows: []settings.Row{
		settings.Text("files", "IRONFLOW_FILES", "", "where collected logs are kept: s3://BUCKET/PREFIX on a server that speaks S3, for several replicas, or a folder; empty for logs in data-dir", &c.Address),
		settings.Text("files-endpoint", "S3_ENDPOINT_URL", "", "URL of the S3 server of files, https://HOST:PORT; empty for Amazon's of files-region", &c.Endpoint),
		settings.Text("files-region", "S3_REGION", "us-east-1", "region of the S3 server of files", &c.Region),
		settings.Text("files-addressing", "IRONFLOW_FILES_ADDRESSING", "auto", "where requests name the bucket: path, host, or auto: host for Amazon, path for others", &c.Addressing),
		settings.Text("files-ca", "IRONFLOW_FILES_CA_FILE", "", "file with certificate authorities that the S3 server of files is trusted by, besides the system's", &c.CAFile),
		settings.Text("files-credentials-file", "IRONFLOW_FILES_CREDENTIALS_FILE", "", "file with credentials of the S3 server of files: aws_access_key_id and aws_secret_access_key below [default], read for each request; empty for the variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY", &c.CredentialsFile),
	}}
}
