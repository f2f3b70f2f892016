package cluster

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	hivev1 "github.com/ironflow/ironflow/api/hive/v1"
	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/wire"
)

// Files of credentials, as the hub names them.
const (
	kubeconfig      = "kubeconfig"
	firstKubeconfig = "kubeconfig-noingress"
	adminPassword   = "kubeadmin-password"
)

// credentials puts what opens the cluster where Hive looks for it, as soon as the hub hands
// it out. It reports whether that is there.
func (r *reconciler) credentials(ctx context.Context, aci *hiveextv1.AgentClusterInstall, cd *hivev1.ClusterDeployment, record *wire.Cluster) (bool, error) {
	file := kubeconfig
	if record.Status == wire.ClusterStatusInstalling {
		file = firstKubeconfig
	}
	config, err := r.handedOut(ctx, record.ID, file)
	if err != nil || config == nil {
		return aci.Spec.ClusterMetadata != nil, err
	}
	meta := hiveextv1.ClusterMetadata{}
	if had := aci.Spec.ClusterMetadata; had != nil {
		meta = *had.DeepCopy()
	}
	meta.ClusterID, meta.InfraID = cmp.Or(record.OpenshiftClusterID, meta.ClusterID, record.ID), record.ID
	meta.AdminKubeconfigSecretRef.Name = cd.Name + "-admin-kubeconfig"
	if own := cd.Spec.ClusterMetadata; own != nil && own.AdminKubeconfigSecretRef.Name != "" {
		meta.AdminKubeconfigSecretRef.Name = own.AdminKubeconfigSecretRef.Name
	}
	if err := r.store(ctx, cd, meta.AdminKubeconfigSecretRef.Name, "kubeconfig", map[string][]byte{"kubeconfig": config}); err != nil {
		return false, err
	}
	secret, err := r.handedOut(ctx, record.ID, adminPassword)
	if err != nil {
		return false, err
	}
	if secret != nil {
		meta.AdminPasswordSecretRef = &corev1.LocalObjectReference{Name: cd.Name + "-admin-password"}
		data := map[string][]byte{"username": []byte("kubeadmin"), "password": bytes.TrimSpace(secret)}
		if err := r.store(ctx, cd, meta.AdminPasswordSecretRef.Name, "kubeadmincreds", data); err != nil {
			return false, err
		}
	}
	return true, r.identify(ctx, aci, meta)
}

// handedOut reads a file of credentials; nil when there is none, or not yet.
func (r *reconciler) handedOut(ctx context.Context, id, file string) ([]byte, error) {
	raw, err := r.hub.CredentialsFile(ctx, id, file)
	switch code := service.Code(err); {
	case err == nil:
		return raw, nil
	case code == http.StatusConflict || code == http.StatusNotFound:
		return nil, nil
	}
	return nil, &reconcile.Unavailable{What: "the hub's " + file, Err: err}
}

// store keeps credentials in a Secret of the ClusterDeployment. A Secret of somebody else
// stays as it is.
func (r *reconciler) store(ctx context.Context, cd *hivev1.ClusterDeployment, name, kind string, data map[string][]byte) error {
	labels := map[string]string{
		names.HiveDeploymentLabel: cd.Name, names.HiveSecretTypeLabel: kind, names.EnvironmentLabel: names.EnvironmentValue,
	}
	owner := metav1.OwnerReference{APIVersion: hivev1.GroupVersion.String(), Kind: deploymentKind, Name: cd.Name, UID: cd.UID}
	secret, found, err := r.secrets.Get(ctx, types.NamespacedName{Namespace: cd.Namespace, Name: name})
	switch {
	case err != nil:
		return err
	case !found:
		secret = &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: cd.Namespace, Name: name, Labels: labels, OwnerReferences: []metav1.OwnerReference{owner}},
			Data:       data,
		}
		return notStored(r.Client.Create(ctx, secret))
	case secret.Labels[names.HiveDeploymentLabel] != cd.Name || secret.Labels[names.HiveSecretTypeLabel] != kind:
		return reconcile.Stall(hiveextv1.ReasonCredentialsNotStored,
			"Secret %s/%s is there already and does not hold the credentials of ClusterDeployment %s: remove it, or name another one in its spec.clusterMetadata.adminKubeconfigSecretRef",
			cd.Namespace, name, cd.Name)
	}
	before := secret.DeepCopy()
	maps.Copy(secret.Labels, labels)
	secret.Data, secret.OwnerReferences = data, []metav1.OwnerReference{owner}
	if equality.Semantic.DeepEqual(before, secret) {
		return nil
	}
	return notStored(r.Client.Patch(ctx, secret, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})))
}

// notStored says what to do where Ironflow has no right to write Secrets.
func notStored(err error) error {
	if apierrors.IsForbidden(err) {
		return reconcile.Stall(hiveextv1.ReasonCredentialsNotStored,
			"the credentials of the cluster are not in a Secret: Ironflow lacks a right: %w. Next: kubectl apply -k config/cluster-credentials", err)
	}
	if err != nil {
		return fmt.Errorf("keep the credentials of the cluster: %w", err)
	}
	return nil
}

// identify writes who the cluster is, and where its credentials are, for Hive to read.
func (r *reconciler) identify(ctx context.Context, aci *hiveextv1.AgentClusterInstall, meta hiveextv1.ClusterMetadata) error {
	if equality.Semantic.DeepEqual(aci.Spec.ClusterMetadata, &meta) {
		return nil
	}
	after := aci.DeepCopy()
	after.Spec.ClusterMetadata = &meta
	if err := r.Client.Patch(ctx, after, client.MergeFromWithOptions(aci.DeepCopy(), client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("write spec.clusterMetadata: %w", err)
	}
	return nil
}
