package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/uuid"

	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/api/commands/settings"
	"github.com/ironflow/ironflow/api/config/topics"
	"github.com/ironflow/ironflow/api/config/v1alpha1"
	"github.com/ironflow/ironflow/api/localtoken"
	"github.com/ironflow/ironflow/controllers/parts/hub"
	"github.com/ironflow/ironflow/hub/auth"
	"github.com/ironflow/ironflow/hub/configured"
	"github.com/ironflow/ironflow/hub/rest"
	"github.com/ironflow/ironflow/hub/service"
)

// Ways to authenticate in an agent-based installation, by the protocol's names.
const (
	authLocal = "agent-installer-local"
	authNone  = configured.AuthNone
)

// nodeZero are the settings of a hub that runs on one of the hosts that it installs: some that
// each hub has, and its own, in the names that the host's environment files have.
type nodeZero struct {
	v1alpha1.IronflowConfiguration

	baseURL             string
	authType, publicKey string
	target, storage     string
	certificates        string
	// digest names the settings of the image.
	digest string
	// hub is what the hub is told of them.
	hub hub.NodeZero
}

// sharedWithHub are the settings of the hub that this one has, too. It has one store, one
// cluster, and neither Kubernetes nor Ironic beside it.
var sharedWithHub = []string{
	"log-level", "tls-min-version", "tls-max-version", "tls-cipher-suites", "tls-curve-preferences", "data-dir", "hub-addr",
	"hub-releases-file", "hub-release-lookup", "hub-release-mirrors", "hub-release-ca",
	"hub-disabled-host-validations", "hub-disabled-cluster-validations", "hub-disabled-steps", "hub-host-requirements",
	"hub-ignition-dir", "hub-ignition-source", "hub-openshift-install", "hub-kubernetes", "hub-cluster-image", "hub-installer-image", "hub-controller-image",
	"hub-machine-config-image", "hub-must-gather-image", "hub-coreos-image", "hub-operators-file", "hub-log-limit", "hub-keep-events",
	"hub-silence", "hub-checks-timeout", "hub-disk-check-timeout", "hub-image-check-timeout", "hub-logs-timeout", "hub-stage-timeouts", "hub-soft-timeouts",
	"hub-monitor-interval", "hub-lease-renewal", "hub-prepare-again",
}

// table lists the settings of `ironflow hub agent-based`.
func (n *nodeZero) table() []settings.Group {
	shared := settings.Only(topics.All(&n.IronflowConfiguration), sharedWithHub...)
	for _, g := range shared {
		for i := range g.Rows {
			if g.Rows[i].Flag == "hub-kubernetes" {
				g.Rows[i].Default = "true" // it needs nothing but the hub
			}
		}
	}
	return append([]settings.Group{n.flags()}, shared...)
}

func (n *nodeZero) flags() settings.Group {
	return settings.Group{Title: "This installation", Rows: []settings.Row{
		settings.Text("service-base-url", places.ServiceBaseURL, "", "URL at which the hosts reach this hub; with http, it listens without TLS", &n.baseURL),
		settings.Text("infra-env-id", places.InfraEnvID, "", "UUID of the infra-env of all hosts, which is in their image", &n.hub.Host.InfraEnvID),
		settings.Text("settings-digest", places.SettingsDigest, "", "digest of the settings of the cluster and its hosts that are in the image; a copy of a hub's state with another one is passed over", &n.digest),
		settings.Text("bootstrap-host-mac", places.BootstrapMAC, "", "MAC address of this host, which is the bootstrap host and a control-plane host, and is installed last", &n.hub.Host.MAC),
		settings.Text("auth-type", "AUTH_TYPE", authLocal, "how users and agents authenticate: agent-installer-local (by tokens that were made with the image) or none", &n.authType),
		settings.Text("auth-public-key", "EC_PUBLIC_KEY_PEM", "", "public key of the tokens, PEM or PEM in base64; empty: the hub makes a key in --data-dir, and writes the tokens to installer-tokens.env there", &n.publicKey),
		settings.Text("cluster-certificates-dir", "EPHEMERAL_INSTALLER_CLUSTER_TLS_CERTS_OVERRIDE_DIR", "", "folder with certificates of the cluster that were made with the image: files of openshift-install's folder tls, or those of kubeadm's folder pki; empty: the hub makes them", &n.certificates),
		settings.Text("install-invoker", "INSTALL_INVOKER", "agent-installer", "name of the installer, which openshift-install records in the cluster", &n.hub.Invoker),
		settings.Text("deploy-target", "DEPLOY_TARGET", "onprem", "only onprem is possible", &n.target),
		settings.Text("storage", "STORAGE", "filesystem", "only filesystem is possible: everything is in --data-dir", &n.storage),
	}}
}

// complete checks the settings, and makes of them what the hub works with.
func (n *nodeZero) complete() error {
	u, err := url.Parse(n.baseURL)
	switch {
	case n.baseURL == "":
		return errors.New("no URL of this hub: set --service-base-url or SERVICE_BASE_URL to the one by which hosts reach it, such as http://192.0.2.10:8090")
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("--service-base-url %q is not a URL such as http://192.0.2.10:8090", n.baseURL)
	case uuid.Validate(n.hub.Host.InfraEnvID) != nil:
		return fmt.Errorf("--infra-env-id %q is not a UUID: set it, or INFRA_ENV_ID, to the id that is in the image of the hosts", n.hub.Host.InfraEnvID)
	case n.target != "onprem":
		return fmt.Errorf("--deploy-target %q: this hub runs on one of its hosts, which is onprem", n.target)
	case n.storage != "filesystem":
		return fmt.Errorf("--storage %q: this hub keeps its files below --data-dir, which is filesystem", n.storage)
	}
	mac, err := net.ParseMAC(n.hub.Host.MAC)
	if err != nil {
		return fmt.Errorf("--bootstrap-host-mac %q is no hardware address: node-zero.service writes it to %s as %s", n.hub.Host.MAC, places.NodeZero, places.BootstrapMAC)
	}
	n.hub.Host.MAC, n.hub.Host.InfraEnvID = mac.String(), strings.ToLower(n.hub.Host.InfraEnvID)
	n.Hub.PublishURL, n.Hub.Auth = strings.TrimSuffix(n.baseURL, "/"), configured.AuthToken
	if u.Scheme == "http" {
		n.Hub.PlainAddress, n.Hub.Address = n.Hub.Address, ""
	}
	if n.hub.Certificates, err = readCertificates(n.certificates); err != nil {
		return fmt.Errorf("--cluster-certificates-dir: %w", err)
	}
	return errors.Join(n.completeLocalAuth(), configured.Validations(n.HubValidations).Apply(&service.Options{}), n.hub.Work(&n.IronflowConfiguration).Check())
}

// completeLocalAuth has tokens checked by the key that was handed in.
func (n *nodeZero) completeLocalAuth() error {
	switch n.authType {
	case authNone:
		n.Hub.Auth = authNone
		return nil
	case authLocal:
	default:
		return fmt.Errorf("--auth-type %q is neither %s nor %s", n.authType, authLocal, authNone)
	}
	n.hub.Local = &rest.Local{InfraEnvID: n.hub.Host.InfraEnvID}
	if n.publicKey == "" {
		return nil // one is made with the data folder
	}
	var err error
	if n.hub.Local.Tokens, err = auth.ParseLocal(n.publicKey); err != nil {
		return fmt.Errorf("--auth-public-key: %w", err)
	}
	return nil
}

// Files of a hub whose key nobody has handed in, below the data folder.
const (
	localKeyFile    = "installer.key"
	localTokensFile = "installer-tokens.env"
)

// makeLocalKey makes the key of tokens that nobody has made before, and writes the tokens
// for those who hand them on. Both stay the same from start to start.
func (n *nodeZero) makeLocalKey() error {
	if n.hub.Local == nil || n.publicKey != "" {
		return nil
	}
	key, err := auth.LoadLocalKey(filepath.Join(n.Store.DataDir, localKeyFile))
	if err != nil {
		return err
	}
	n.hub.Local.Tokens = auth.LocalOf(key)
	tokens := map[string]string{}
	for name, scheme := range map[string]localtoken.Scheme{
		places.UserToken: localtoken.User, places.AgentToken: localtoken.Agent, places.WatcherToken: localtoken.Watcher,
	} {
		if tokens[name], err = key.Token(scheme); err != nil {
			return err
		}
	}
	path := filepath.Join(n.Store.DataDir, localTokensFile)
	if err := os.WriteFile(path, []byte(places.FormatEnv(tokens)), 0o600); err != nil {
		return fmt.Errorf("write the tokens of this installation: %w", err)
	}
	return nil
}

// maxCertificate bounds a file of certificates.
const maxCertificate = 1 << 20

// readCertificates reads all files below the folder; none for an empty path.
func readCertificates(dir string) (map[string][]byte, error) {
	if dir == "" {
		return nil, nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // it was only read
	all := map[string][]byte{}
	err = fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		switch hidden := name != "." && strings.HasPrefix(entry.Name(), "."); { // what a mounted Secret's names lead to
		case err != nil:
			return err
		case hidden && entry.IsDir():
			return fs.SkipDir
		case hidden || entry.IsDir():
			return nil
		}
		info, err := root.Stat(name)
		switch {
		case err != nil:
			return err
		case info.IsDir():
			return nil // a link, as mounted Secrets have them
		case !info.Mode().IsRegular() || info.Size() > maxCertificate:
			return fmt.Errorf("%s is no file of certificates: it is not regular, or larger than 1 MiB", filepath.Join(dir, name))
		}
		all[name], err = root.ReadFile(name)
		return err
	})
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("%s has no files", dir)
	}
	return all, err
}
