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
		{"hub-url", "INVENTORY_URL", "the hub's base URL", &s.HubURL, false},
		{"cluster-id", "CLUSTER_ID", "the hub's id of this cluster", &s.ClusterID, false},
		{"token-file", "IRONFLOW_CLUSTER_TOKEN_FILE", "file with the hub's token, read again when the hub refuses it; else the variable " + TokenEnv, &s.TokenFile, false},
		{"ca-file", "CA_CERT_PATH", "PEM bundle that the hub is trusted for besides the system's", &s.CAFile, false},
		{"insecure", "SKIP_CERT_VERIFICATION", "do not verify the hub's certificate", &s.Insecure, false},
		{"stay", "IRONFLOW_CLUSTER_STAY", "go on after the installation: signing requests and hosts of later days", &s.Stay, false},
		{"hub-leaves", "IRONFLOW_CLUSTER_HUB_LEAVES", "the hub runs on one of the cluster's hosts and ends with its live system: go on without it then, by the config map that comes with the manifests", &s.HubLeaves, false},
		{"kubeconfig", "KUBECONFIG", "kubeconfig file; empty for the pod's service account", &s.Kubeconfig, false},
		{"kube-api", "IRONFLOW_CLUSTER_KUBE_API", "address of the Kubernetes API in the place of the service's, for a host network without it", &s.KubeAPI, false},
		{"api-port", "IRONFLOW_CLUSTER_API_PORT", "port of the API on each control-plane host of a plain Kubernetes", &s.APIPort, false},
		{"start-within", "IRONFLOW_CLUSTER_START_WITHIN", "how long the hub may be away at the start", &s.StartWithin, false},
		{"listen", "IRONFLOW_CLUSTER_LISTEN", "address of /metrics and /healthz, plain HTTP for this host alone; 0 switches it off", &s.Listen, false},
		{"log-level", "IRONFLOW_LOG_LEVEL", "debug, info, warn or error", &s.LogLevel, false},
		{"image", "IRONFLOW_CLUSTER_IMAGE", "full reference of this program's image, with registry and tag or digest", &s.Image, true},
		{"openshift", "IRONFLOW_CLUSTER_OPENSHIFT", "the cluster is OpenShift: also the right to read the authority of its routes", &s.OpenShift, true},
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
