package link

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	hivev1 "github.com/ironflow/ironflow/api/hive/v1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/link/drain"
)

// drain has the Node of the Agent's machine drained and removed. A cluster that nobody has the
// kubeconfig of is not waited for.
func (r *Reconciler) drain(ctx context.Context, in Input, force bool) error {
	job, missing, err := r.job(ctx, in.Agent)
	if err != nil {
		return err
	}
	key := client.ObjectKeyFromObject(in.Host)
	if missing != "" {
		r.Nodes.Tell(key, drain.Progress{Done: true, Says: notDrained + missing})
		return nil
	}
	job.Force = force
	r.Nodes.Look(ctx, key, job)
	return nil
}

// job is to have the Node of the Agent's machine removed, or what is missing for that.
func (r *Reconciler) job(ctx context.Context, agent *agentv1.Agent) (job drain.Job, missing string, err error) {
	ref := agent.Spec.ClusterDeploymentName
	live := r.Live
	if live == nil {
		live = r.Client
	}
	cd := &hivev1.ClusterDeployment{}
	if err := live.Get(ctx, types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}, cd); err != nil {
		return job, fmt.Sprintf("ClusterDeployment %s/%s does not exist", ref.Namespace, ref.Name), client.IgnoreNotFound(err)
	}
	name := cd.Name + "-admin-kubeconfig"
	if meta := cd.Spec.ClusterMetadata; meta != nil {
		name = cmp.Or(meta.AdminKubeconfigSecretRef.Name, name)
	}
	secret := &corev1.Secret{}
	if err := live.Get(ctx, types.NamespacedName{Namespace: cd.Namespace, Name: name}, secret); err != nil {
		return job, fmt.Sprintf("Secret %s/%s with the cluster's kubeconfig does not exist", cd.Namespace, name), client.IgnoreNotFound(err)
	}
	if len(secret.Data["kubeconfig"]) == 0 {
		return job, fmt.Sprintf("Secret %s/%s has no key kubeconfig", cd.Namespace, name), nil
	}
	found := agent.Status.Inventory
	job = drain.Job{Kubeconfig: secret.Data["kubeconfig"], Server: hostedAPI(cd), MachineID: agent.Name, Hostname: cmp.Or(agent.Spec.Hostname, found.Hostname)}
	for _, nic := range found.Interfaces {
		for _, prefix := range slices.Concat(nic.IPV4Addresses, nic.IPV6Addresses) {
			address, _, _ := strings.Cut(prefix, "/")
			job.Addresses = append(job.Addresses, address)
		}
	}
	return job, "", nil
}

// hostedAPI is where the API of a hosted cluster answers: its control plane runs beside its ClusterDeployment, and what
// its kubeconfig names may be for those outside only. Empty for any other cluster.
func hostedAPI(cd *hivev1.ClusterDeployment) string {
	if _, hosted := cd.Labels[names.HostedCluster]; !hosted {
		return ""
	}
	return "https://kube-apiserver." + cd.Namespace + ".svc:6443"
}

func (r *Reconciler) forgetNode(host types.NamespacedName) {
	if r.Nodes != nil {
		r.Nodes.Forget(host)
	}
}
