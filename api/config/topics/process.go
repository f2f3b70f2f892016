package topics

import (
	"github.com/ironflow/ironflow/api/commands/settings"
	"github.com/ironflow/ironflow/api/config/v1alpha1"
)

// Kubernetes are the settings of [v1alpha1.Kubernetes].
func Kubernetes(c *v1alpha1.Kubernetes) settings.Group {
	return settings.Group{Title: "Kubernetes", Rows: []settings.Row{
		settings.List("namespace", "WATCH_NAMESPACE", "", "comma-separated namespaces to watch; empty for all", &c.Namespaces),
		settings.Text("kubeconfig", "KUBECONFIG", "", "kubeconfig file of the cluster to work in; empty: the cluster that this pod runs in", &c.Kubeconfig),
		settings.Bool("machines-in-cluster", "IRONFLOW_MACHINES_IN_CLUSTER", "false", "machines and BMCs are inside this Kubernetes cluster, as virtual machines can be: accept published URLs with names and addresses that only the cluster reaches", &c.MachinesInCluster),
	}}
}

// LeaderElection are the settings of [v1alpha1.LeaderElection].
func LeaderElection(c *v1alpha1.LeaderElection) settings.Group {
	return settings.Group{Title: "Leader election", Rows: []settings.Row{
		settings.Bool("leader-elect", "IRONFLOW_LEADER_ELECT", "false", "elect by a lease the one replica that is active; without it, run a single replica only", &c.Enabled),
		settings.Text("lease-namespace", "POD_NAMESPACE", "", "namespace of the lease for leader election; empty: the namespace that this pod runs in", &c.Namespace),
		settings.Number("lease-duration-seconds", "LEASE_DURATION_SECONDS", "0", "seconds after which another replica takes a lease that was not renewed; 0 for 15", &c.LeaseDurationSeconds),
		settings.Number("renew-deadline-seconds", "RENEW_DEADLINE_SECONDS", "0", "seconds for which the active replica tries to renew its lease before it exits; 0 for 10", &c.RenewDeadlineSeconds),
		settings.Number("retry-period-seconds", "RETRY_PERIOD_SECONDS", "0", "seconds between two attempts to get or renew the lease; 0 for 2", &c.RetryPeriodSeconds),
	}}
}

// Monitoring are the settings of [v1alpha1.Monitoring].
func Monitoring(c *v1alpha1.Monitoring) settings.Group {
	return settings.Group{Title: "Logs, metrics and health", Rows: []settings.Row{
		settings.Text("log-level", "IRONFLOW_LOG_LEVEL", "info", "lowest level that is logged: debug, info, warn or error", &c.LogLevel),
		settings.Text("metrics-addr", "IRONFLOW_METRICS_ADDR", ":9443", "address at which metrics are served; 0 switches it off", &c.MetricsAddress),
		settings.Bool("metrics-insecure", "IRONFLOW_METRICS_INSECURE", "false", "serve metrics over plain HTTP without authentication, for test installations; false: over HTTPS, to users whom the Kubernetes API allows to read them", &c.MetricsInsecure),
		settings.Text("metrics-cert-dir", "IRONFLOW_METRICS_CERT_DIR", "", "folder with tls.crt and tls.key of the metrics listener; empty: Ironflow makes a certificate", &c.MetricsCertDir),
		settings.Text("health-addr", "IRONFLOW_HEALTH_ADDR", ":9440", "address at which /healthz and /readyz are served; 0 switches it off", &c.HealthAddress),
		settings.Text("pprof-addr", "IRONFLOW_PPROF_ADDR", "0", "address at which the Go profiler (pprof) is served; 0 switches it off", &c.ProfilerAddress),
	}}
}

// TLS are the settings of [v1alpha1.TLS].
func TLS(c *v1alpha1.TLS) settings.Group {
	return settings.Group{Title: "TLS of the listeners", Rows: []settings.Row{
		settings.Text("tls-min-version", "IRONFLOW_TLS_MIN_VERSION", "TLS12", "lowest TLS version that the metrics listener and the hub's REST API accept: TLS12 or TLS13", &c.MinVersion),
		settings.Text("tls-max-version", "IRONFLOW_TLS_MAX_VERSION", "", "highest TLS version that the metrics listener and the hub's REST API accept: TLS12 or TLS13; empty for no limit", &c.MaxVersion),
		settings.List("tls-cipher-suites", "IRONFLOW_TLS_CIPHER_SUITES", "", "comma-separated cipher suites of TLS 1.2 that the metrics listener and the hub's REST API accept, by their IANA names; empty: Go's defaults", &c.CipherSuites),
		settings.List("tls-curve-preferences", "IRONFLOW_TLS_CURVE_PREFERENCES", "", "comma-separated key exchanges (curves) that the metrics listener and the hub's REST API accept, by names such as X25519 or by IANA's numbers such as 29; empty: Go's defaults", &c.CurvePreferences),
	}}
}

// Store are the settings of [v1alpha1.Store].
func Store(c *v1alpha1.Store) settings.Group {
	return settings.Group{Title: "Records, keys and certificates", Rows: []settings.Row{
		settings.Text("data-dir", "IRONFLOW_DATA_DIR", "/var/lib/ironflow", "folder for the hub's database, certificates, keys and, unless --files names another place, the logs collected from hosts", &c.DataDir),
		settings.Text("database", "IRONFLOW_DATABASE", "", "PostgreSQL database for the hub's records, needed for several replicas: postgres://USER@HOST:5432/DATABASE without a password; empty: the SQLite file hub.sqlite in --data-dir", &c.Database),
		settings.Text("database-password-file", "IRONFLOW_DATABASE_PASSWORD_FILE", "", "file with the password of --database, read for each connection; empty: the variable PGPASSWORD or PGPASSFILE", &c.DatabasePasswordFile),
	}}
}

// Files are the settings of [v1alpha1.Files].
func Files(c *v1alpha1.Files) settings.Group {
	return settings.Group{Title: "Collected logs", Rows: []settings.Row{
		settings.Text("files", "IRONFLOW_FILES", "", "where logs collected from hosts are kept: a folder, or s3://BUCKET/PREFIX on an S3 server, for several replicas; empty: in --data-dir", &c.Address),
		settings.Text("files-endpoint", "S3_ENDPOINT_URL", "", "URL of the S3 server of --files, https://HOST:PORT; empty: Amazon's S3 in --files-region", &c.Endpoint),
		settings.Text("files-region", "S3_REGION", "us-east-1", "region of the S3 server of --files", &c.Region),
		settings.Text("files-addressing", "IRONFLOW_FILES_ADDRESSING", "auto", "where requests to the S3 server name the bucket: path, host, or auto, which is host for Amazon and path for others", &c.Addressing),
		settings.Text("files-ca", "IRONFLOW_FILES_CA_FILE", "", "PEM file with CAs for the certificate of the S3 server of --files, besides the system's", &c.CAFile),
		settings.Text("files-credentials-file", "IRONFLOW_FILES_CREDENTIALS_FILE", "", "file with credentials of the S3 server of --files: aws_access_key_id and aws_secret_access_key below [default], read for each request; empty: the variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY", &c.CredentialsFile),
	}}
}
