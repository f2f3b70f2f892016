package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
	"github.com/ironflow/ironflow/hub/wire"
)

// kubeconfigKey is that of the Secret, as Hive reads it.
const kubeconfigKey = "kubeconfig"

// ownerOnly are the rights of the file: whoever reads it is the cluster's administrator.
const ownerOnly fs.FileMode = 0o600

func newKubeconfig(c *connection) *cobra.Command {
	var file string
	var overwrite bool
	cmd := &cobra.Command{
		Use:   "kubeconfig CLUSTER",
		Short: "Print the administrator's kubeconfig of an installed cluster, or write it to a file",
		Long: "Print the administrator's kubeconfig of an installed cluster, or write it to a file.\n\n" +
			"CLUSTER is the name of the ClusterDeployment, of the AgentClusterInstall, or of the cluster itself; where that is\n" +
			"more than one, cd/NAME or aci/NAME. It needs the right to read the Secret that the cluster's resource names.",
		Example: "  kubectl ironflow kubeconfig prod -o prod.kubeconfig\n  kubectl --kubeconfig prod.kubeconfig get nodes",
		Args:    cobra.ExactArgs(1), ValidArgsFunction: c.complete(clusterKind, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if overwrite && file == "" {
				return usage("--overwrite is of --output")
			}
			cl, namespace, err := c.open()
			if err != nil {
				return err
			}
			config, note, err := adminKubeconfig(cmd.Context(), cl, namespace, args[0])
			if err != nil {
				return err
			}
			if note != "" {
				fmt.Fprintln(cmd.ErrOrStderr(), note)
			}
			return putKubeconfig(cmd.OutOrStdout(), config, file, overwrite)
		},
	}
	cmd.Flags().StringVarP(&file, "output", "o", "", "file to write to, readable by its owner only; empty: print it")
	cmd.Flags().BoolVar(&overwrite, "overwrite", false, "replace the file if there is one")
	return cmd
}

// adminKubeconfig reads the kubeconfig from the Secret that the cluster's resource names. The note is for a
// person who may expect more of it. Errors never have its content.
func adminKubeconfig(ctx context.Context, cl client.Client, namespace, name string) (config []byte, note string, err error) {
	c, err := findCluster(ctx, cl, namespace, name)
	if err != nil {
		return nil, "", err
	}
	secretName, err := c.kubeconfigSecret()
	if err != nil {
		return nil, "", err
	}
	secret := &corev1.Secret{}
	switch err := cl.Get(ctx, types.NamespacedName{Namespace: namespace, Name: secretName}, secret); {
	case apierrors.IsNotFound(err):
		return nil, "", fmt.Errorf("Secret %s/%s, which cluster %s names, is not there: Ironflow puts it there again with its next look at the cluster, "+ //nolint:staticcheck // a kind
			"unless the condition SpecSynced says why it cannot; see kubectl ironflow describe cluster %s", namespace, secretName, c.name(), c.name())
	case apierrors.IsForbidden(err):
		return nil, "", fmt.Errorf("you may not read the kubeconfig of cluster %s: %w; ask for the right to get this Secret", c.name(), err)
	case err != nil:
		return nil, "", fmt.Errorf("kubeconfig of cluster %s: %w", c.name(), err)
	}
	config = secret.Data[kubeconfigKey]
	if len(config) == 0 {
		return nil, "", fmt.Errorf("Secret %s/%s has no key %s: it is not the one with the kubeconfig of cluster %s; remove it, and Ironflow puts the right one there", //nolint:staticcheck // a kind
			namespace, secretName, kubeconfigKey, c.name())
	}
	if parsed, err := clientcmd.Load(config); err != nil || len(parsed.Clusters) == 0 { // the error may quote it
		return nil, "", fmt.Errorf("what Secret %s/%s has in %s is no kubeconfig with a cluster; remove the Secret, and Ironflow puts it there again", namespace, secretName, kubeconfigKey)
	}
	return config, c.kubeconfigNote(), nil
}

// kubeconfigSecret names the Secret, or says why there is none yet.
func (c cluster) kubeconfigSecret() (string, error) {
	if c.install != nil && c.install.Spec.ClusterMetadata != nil && c.install.Spec.ClusterMetadata.AdminKubeconfigSecretRef.Name != "" {
		return c.install.Spec.ClusterMetadata.AdminKubeconfigSecretRef.Name, nil
	}
	if d := c.deployment; d != nil && d.Spec.Installed && d.Spec.ClusterMetadata != nil && d.Spec.ClusterMetadata.AdminKubeconfigSecretRef.Name != "" {
		return d.Spec.ClusterMetadata.AdminKubeconfigSecretRef.Name, nil // somebody else has installed it
	}
	if c.install == nil {
		return "", fmt.Errorf("cluster %s has no kubeconfig: no AgentClusterInstall of its namespace names it, so nobody installs it", c.name())
	}
	status := &c.install.Status
	if done := hiveextv1.FindCondition(status.Conditions, hiveextv1.ConditionCompleted); done != nil && done.Reason == hiveextv1.ReasonHostsInstalled {
		return "", fmt.Errorf("cluster %s has no kubeconfig: its hosts are installed, and its Ignition source made no credentials of a cluster; with source files, put kubeconfig-noingress into the cluster's folder", c.name())
	}
	if synced := hiveextv1.FindCondition(status.Conditions, hiveextv1.ConditionSpecSynced); synced != nil && synced.Reason == hiveextv1.ReasonCredentialsNotStored {
		return "", fmt.Errorf("the kubeconfig of cluster %s is not in a Secret: %s", c.name(), synced.Message)
	}
	return "", fmt.Errorf("cluster %s has no kubeconfig yet: it is %s, and has one once its installation has begun; see kubectl ironflow describe cluster %s",
		c.name(), cmp.Or(status.DebugInfo.State, "not registered at the hub"), c.name())
}

// runningStates are the states of a cluster whose kubeconfig can be expected to work.
var runningStates = []string{wire.ClusterStatusInstalled, wire.ClusterStatusAddingHosts}

// kubeconfigNote warns of a kubeconfig whose cluster may not answer.
func (c cluster) kubeconfigNote() string {
	if c.install == nil || c.install.Status.DebugInfo.State == "" {
		return ""
	}
	state := c.install.Status.DebugInfo.State
	if slices.Contains(runningStates, state) {
		return ""
	}
	return fmt.Sprintf("note: cluster %s is %s; its API may not answer yet, or not any more", c.name(), state)
}

// putKubeconfig prints it, or writes it to the file, which only its owner can read.
func putKubeconfig(w io.Writer, config []byte, file string, overwrite bool) error {
	if file == "" {
		_, err := w.Write(config)
		return err
	}
	if !overwrite {
		return newFile(config, file)
	}
	// A file of its own, renamed: nobody sees half of it, and a file that was there gets the narrow rights too.
	f, err := os.CreateTemp(filepath.Dir(file), ".kubeconfig-*")
	if err != nil {
		return fmt.Errorf("write the kubeconfig: %w", err)
	}
	_, err = f.Write(config)
	err = errors.Join(err, f.Chmod(ownerOnly), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		return fmt.Errorf("write the kubeconfig: %w", errors.Join(err, os.Remove(f.Name())))
	}
	return nil
}

// newFile writes a file that was not there, or nothing.
func newFile(content []byte, path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, ownerOnly)
	switch {
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%s is there already: choose another file, or replace it with --overwrite", path)
	case err != nil:
		return fmt.Errorf("write the kubeconfig: %w", err)
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write the kubeconfig: %w", errors.Join(err, os.Remove(path)))
	}
	return nil
}
