package clusters

import (
	"context"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/settle"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/vault"
	"github.com/ironflow/ironflow/hub/wire"
)

// Files with credentials of a cluster.
const (
	kubeconfig = "kubeconfig"
	// kubeconfigFirst and password are those that the cluster is made with.
	kubeconfigFirst = "kubeconfig-noingress"
	password        = "kubeadmin-password"
)

// withCredentials are the statuses in which a cluster's credentials are handed out.
var withCredentials = []string{
	wire.ClusterStatusFinalizing, wire.ClusterStatusInstalled, wire.ClusterStatusError, wire.ClusterStatusAddingHosts,
	wire.ClusterStatusCancelled, wire.ClusterStatusInstallingPendingUserAction,
}

// CredentialsFile returns kubeconfig, kubeconfig-noingress or kubeadmin-password.
// What the cluster was made with comes from its Ignition source; kubeconfig has the
// certificate of the cluster's routes, too, once it is known.
func (r *Registry) CredentialsFile(ctx context.Context, clusterID, name string) ([]byte, error) {
	allowed := withCredentials
	switch name {
	case kubeconfig:
	case kubeconfigFirst, password:
		allowed = append(slices.Clone(withCredentials), wire.ClusterStatusInstalling)
	default:
		return nil, apierror.BadRequest("file_name %.80q: want kubeconfig, kubeconfig-noingress or kubeadmin-password", name)
	}
	if err := r.units.RenewCredentials(ctx, clusterID); err != nil {
		return nil, err
	}
	var raw []byte
	err := r.units.View(ctx, func(w *settle.Work) error {
		c, err := w.Cluster(clusterID)
		if err != nil {
			return err
		}
		if !slices.Contains(allowed, c.API.Status) {
			return apierror.Conflict("cluster %s is %s; %s is not handed out then", c.API.Name, c.API.Status, name)
		}
		if name == kubeconfig && c.Routed {
			raw, err = r.units.Made().Routed(w.Reader, clusterID)
			return err
		}
		first := name
		if name == kubeconfig {
			first = kubeconfigFirst
		}
		raw, err = r.units.Made().Credential(w.Reader, clusterID, first)
		if errors.Is(err, vault.ErrNone) {
			return apierror.Conflict("cluster %s has no file %s: its Ignition source made none", c.API.Name, name)
		}
		return err
	})
	return raw, err
}

// Credentials returns how to log in to the cluster's console.
func (r *Registry) Credentials(ctx context.Context, clusterID string) (wire.Credentials, error) {
	c, err := r.Cluster(ctx, clusterID, false)
	if err != nil {
		return wire.Credentials{}, err
	}
	if !slices.Contains(withCredentials, c.Status) {
		return wire.Credentials{}, apierror.Conflict("cluster %s is %s; its credentials are not handed out then", c.Name, c.Status)
	}
	secret, err := r.CredentialsFile(ctx, clusterID, password)
	return wire.Credentials{
		Username: "kubeadmin", Password: strings.TrimSpace(string(secret)),
		ConsoleURL: "https://console-openshift-console.apps." + c.Name + "." + c.BaseDNSDomain,
	}, err
}

// SetIngressCertificate takes the certificate of the cluster's routes, in PEM, and
// adds it to the cluster's kubeconfig. Once it is there, it stays.
func (r *Registry) SetIngressCertificate(ctx context.Context, clusterID, certificate string) error {
	// In one unit: the cluster may be reset and made anew meanwhile, with other credentials.
	_, err := r.units.Cluster(ctx, clusterID, func(w *settle.Work, c *store.Cluster) error {
		if block, _ := pem.Decode([]byte(certificate)); block == nil || block.Type != "CERTIFICATE" {
			return apierror.BadRequest("the body is not a certificate in PEM")
		}
		if c.API.Status != wire.ClusterStatusFinalizing && c.API.Status != wire.ClusterStatusInstalled {
			return apierror.BadRequest("cluster %s is %s; the certificate of its routes is taken when it is finalizing or installed", c.API.Name, c.API.Status)
		}
		if c.Routed {
			return nil
		}
		plain, err := r.units.Made().Credential(w.Reader, clusterID, kubeconfigFirst)
		if errors.Is(err, vault.ErrNone) {
			return fmt.Errorf("%w: cluster %s has no %s to add the certificate to", apierror.ErrUnavailable, c.API.Name, kubeconfigFirst)
		}
		if err != nil {
			return err
		}
		merged, err := trust(plain, certificate)
		if err != nil {
			return fmt.Errorf("%s of cluster %s: %w", kubeconfigFirst, c.API.Name, err)
		}
		sealed, err := r.units.Made().PutRouted(clusterID, merged)
		if err != nil {
			return err
		}
		c.Routed = true
		w.TouchCluster(c)
		w.PutFile(sealed)
		return nil
	})
	return err
}

// trust adds a certificate to those that a kubeconfig trusts.
func trust(config []byte, certificate string) ([]byte, error) {
	var document map[string]any
	if err := yaml.Unmarshal(config, &document); err != nil {
		return nil, err
	}
	clusters, _ := document["clusters"].([]any)
	if len(clusters) == 0 {
		return nil, errors.New("it names no cluster")
	}
	for _, entry := range clusters {
		named, _ := entry.(map[string]any)
		cluster, ok := named["cluster"].(map[string]any)
		if !ok {
			return nil, errors.New("a cluster in it is no object")
		}
		encoded, _ := cluster["certificate-authority-data"].(string)
		known, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			return nil, fmt.Errorf("certificate-authority-data: %w", err)
		}
		all := strings.TrimSpace(string(known)) + "\n" + strings.TrimSpace(certificate) + "\n"
		cluster["certificate-authority-data"] = base64.StdEncoding.EncodeToString([]byte(strings.TrimLeft(all, "\n")))
	}
	return yaml.Marshal(document)
}
