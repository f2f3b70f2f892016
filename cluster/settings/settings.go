// Package settings is what the program inside a cluster can be told: one table of flags
// and environment variables. A flag wins. The names of the environment are those of the
// protocol where it has the setting.
package settings

import (
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"time"
)

// Settings are all of them.
type Settings struct {
	HubURL, ClusterID string
	TokenFile, CAFile string
	Insecure, Stay    bool
	HubLeaves         bool
	Kubeconfig        string
	KubeAPI           string
	APIPort           uint
	StartWithin       time.Duration
	Listen, LogLevel  string
	// Token is the hub's; it comes from the environment alone.
	Token string

	// Image and OpenShift are for the manifests only.
	Image     string
	OpenShift bool
}

// TokenEnv names the variable with the hub's token, which is never on a command line.
const TokenEnv = "PULL_SECRET_TOKEN"

// Row is one setting.
type Row struct {
	Flag, Env, Usage string
	// Value is where it goes: *string, *bool, *uint or *time.Duration, with its default.
	Value any
	// Manifests tells of a setting of the command manifests alone.
	Manifests bool
}

// Table fills in the defaults and returns all settings.
func (s *Settings) Table() []Row {
	s.APIPort, s.StartWithin, s.Listen, s.LogLevel = 6443, 70*time.Minute, "127.0.0.1:9445", "info"
	return []Row{
		{"hub-url", "INVENTORY_URL", "base URL of the hub, such as https://hub.example:8090 (required)", &s.HubURL, false},
		{"cluster-id", "CLUSTER_ID", "UUID that this cluster has at the hub (required)", &s.ClusterID, false},
		{"token-file", "IRONFLOW_CLUSTER_TOKEN_FILE", "file with the token for the hub, read again when the hub refuses it; empty: the variable " + TokenEnv, &s.TokenFile, false},
		{"ca-file", "CA_CERT_PATH", "PEM file with CAs for the hub's certificate, besides the system's", &s.CAFile, false},
		{"insecure", "SKIP_CERT_VERIFICATION", "do not verify the hub's certificate", &s.Insecure, false},
		{"stay", "IRONFLOW_CLUSTER_STAY", "keep running after the installation, for signing requests and for hosts that are added later", &s.Stay, false},
		{"hub-leaves", "IRONFLOW_CLUSTER_HUB_LEAVES", "the hub runs on one of the cluster's hosts and ends when that host reboots: then go on without it, with what is in the ConfigMap of the manifests", &s.HubLeaves, false},
		{"kubeconfig", "KUBECONFIG", "kubeconfig file; empty: the pod's service account", &s.Kubeconfig, false},
		{"kube-api", "IRONFLOW_CLUSTER_KUBE_API", "address of the Kubernetes API, for host networks that do not reach its Service; empty: the Service", &s.KubeAPI, false},
		{"api-port", "IRONFLOW_CLUSTER_API_PORT", "port of the Kubernetes API on each control-plane host (plain Kubernetes only)", &s.APIPort, false},
		{"start-within", "IRONFLOW_CLUSTER_START_WITHIN", "how long to wait at the start for a hub that does not answer", &s.StartWithin, false},
		{"listen", "IRONFLOW_CLUSTER_LISTEN", "address at which /metrics and /healthz are served, by plain HTTP; 0 switches it off", &s.Listen, false},
		{"log-level", "IRONFLOW_LOG_LEVEL", "lowest level that is logged: debug, info, warn or error", &s.LogLevel, false},
		{"image", "IRONFLOW_CLUSTER_IMAGE", "full reference of the container image of ironflow-cluster, with registry and tag or digest (required)", &s.Image, true},
		{"openshift", "IRONFLOW_CLUSTER_OPENSHIFT", "the cluster is OpenShift: also grant the right to read the CA of its routes", &s.OpenShift, true},
	}
}

// Bind makes flags of the settings, whose defaults are the environment's.
func (s *Settings) Bind(flags *flag.FlagSet, manifests bool) error {
	var wrong []error
	for _, r := range s.Table() {
		if r.Manifests && !manifests {
			continue
		}
		switch v := r.Value.(type) {
		case *string:
			flags.StringVar(v, r.Flag, *v, r.Usage)
		case *bool:
			flags.BoolVar(v, r.Flag, *v, r.Usage)
		case *uint:
			flags.UintVar(v, r.Flag, *v, r.Usage)
		case *time.Duration:
			flags.DurationVar(v, r.Flag, *v, r.Usage)
		}
		if text := os.Getenv(r.Env); text != "" {
			if err := flags.Set(r.Flag, text); err != nil {
				wrong = append(wrong, fmt.Errorf("environment %s: %w", r.Env, err))
			}
		}
	}
	s.Token = os.Getenv(TokenEnv)
	return errors.Join(wrong...)
}

var uuidForm = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// Check says what cannot be used, all of it.
func (s *Settings) Check() error {
	var wrong []error
	if u, err := url.Parse(s.HubURL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
		wrong = append(wrong, fmt.Errorf("--hub-url (INVENTORY_URL) is %q: want http(s)://HOST[:PORT][/PREFIX]", s.HubURL))
	}
	if !uuidForm.MatchString(s.ClusterID) {
		wrong = append(wrong, fmt.Errorf("--cluster-id (CLUSTER_ID) is %q: want the cluster's UUID at the hub", s.ClusterID))
	}
	if s.APIPort == 0 || s.APIPort > 65535 {
		wrong = append(wrong, fmt.Errorf("--api-port is %d: want 1 to 65535", s.APIPort))
	}
	if s.KubeAPI != "" {
		if u, err := url.Parse(s.KubeAPI); err != nil || u.Host == "" || u.Scheme != "https" {
			wrong = append(wrong, fmt.Errorf("--kube-api is %q: want https://HOST:PORT", s.KubeAPI))
		}
	}
	return errors.Join(wrong...)
}
