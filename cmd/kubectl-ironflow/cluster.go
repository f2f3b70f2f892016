package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	hivev1 "github.com/ironflow/ironflow/api/hive/v1"
	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
)

// cluster is a cluster by its resources; either of them may be missing.
type cluster struct {
	// deployment is nil when there is none of the name that the installation says.
	deployment *hivev1.ClusterDeployment
	// install is nil when none names the deployment.
	install *hiveextv1.AgentClusterInstall
}

// name is what the cluster is called in commands.
func (c cluster) name() string {
	if c.deployment != nil {
		return c.deployment.Name
	}
	return c.install.Name
}

// namespace is that of its objects.
func (c cluster) namespace() string {
	if c.deployment != nil {
		return c.deployment.Namespace
	}
	return c.install.Namespace
}

// keys are those of its objects, as keyOf has them.
func (c cluster) keys() []string {
	var keys []string
	if c.deployment != nil {
		keys = append(keys, c.deployment.Namespace+"/"+c.deployment.Name+"/ClusterDeployment")
	}
	if c.install != nil {
		keys = append(keys, c.install.Namespace+"/"+c.install.Name+"/AgentClusterInstall")
	}
	return keys
}

// String names the objects, for a person who has to choose.
func (c cluster) String() string {
	var parts []string
	if c.deployment != nil {
		parts = append(parts, "cd/"+c.deployment.Name)
	}
	if c.install != nil {
		parts = append(parts, "aci/"+c.install.Name)
	}
	return strings.Join(parts, " with ")
}

// The prefixes of a name that say of which kind it is.
var (
	deploymentPrefixes = []string{"cd", "clusterdeployment", "clusterdeployments"}
	installPrefixes    = []string{"aci", "agentclusterinstall", "agentclusterinstalls"}
)

// is reports whether a person means the cluster by the name: that of either object or of the cluster in DNS,
// or with a prefix that of one kind alone.
func (c cluster) is(name string) bool {
	kind, bare, prefixed := strings.Cut(name, "/")
	if !prefixed {
		kind, bare = "", name
	}
	byDeployment := c.deployment != nil && c.deployment.Name == bare
	byInstall := c.install != nil && c.install.Name == bare
	switch {
	case slices.Contains(deploymentPrefixes, kind):
		return byDeployment
	case slices.Contains(installPrefixes, kind):
		return byInstall
	}
	return byDeployment || byInstall || c.deployment != nil && c.deployment.Spec.ClusterName == bare ||
		c.install != nil && c.install.Spec.ClusterDeploymentRef.Name == bare
}

// checkClusterName refuses a prefix that is of no kind of a cluster.
func checkClusterName(name string) error {
	kind, _, prefixed := strings.Cut(name, "/")
	if prefixed && !slices.Contains(slices.Concat(deploymentPrefixes, installPrefixes), kind) {
		return usage("%q: want NAME, cd/NAME or aci/NAME", name)
	}
	return nil
}

// clusters are all of the namespace.
func clusters(ctx context.Context, cl client.Client, namespace string) ([]cluster, error) {
	var deployments hivev1.ClusterDeploymentList
	var installs hiveextv1.AgentClusterInstallList
	if err := cl.List(ctx, &deployments, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("list ClusterDeployments: %w", err)
	}
	if err := cl.List(ctx, &installs, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("list AgentClusterInstalls: %w", err)
	}
	return pair(deployments.Items, installs.Items), nil
}

// pair finds the objects of the same cluster.
func pair(deployments []hivev1.ClusterDeployment, installs []hiveextv1.AgentClusterInstall) []cluster {
	var all []cluster
	named := map[client.ObjectKey]bool{}
	for i := range installs {
		c := cluster{install: &installs[i]}
		ref := client.ObjectKey{Namespace: c.install.Namespace, Name: c.install.Spec.ClusterDeploymentRef.Name}
		named[ref] = true
		if at := slices.IndexFunc(deployments, func(d hivev1.ClusterDeployment) bool { return client.ObjectKeyFromObject(&d) == ref }); at >= 0 {
			c.deployment = &deployments[at]
		}
		all = append(all, c)
	}
	for i := range deployments {
		if d := &deployments[i]; !named[client.ObjectKeyFromObject(d)] {
			all = append(all, cluster{deployment: d})
		}
	}
	return all
}

// findCluster is the one cluster of the namespace that the name means.
func findCluster(ctx context.Context, cl client.Client, namespace, name string) (cluster, error) {
	if err := checkClusterName(name); err != nil {
		return cluster{}, err
	}
	all, err := clusters(ctx, cl, namespace)
	if err != nil {
		return cluster{}, err
	}
	c, err := choose(all, name)
	if errors.Is(err, errNoCluster) {
		return cluster{}, fmt.Errorf("no cluster %s in namespace %s: there is no ClusterDeployment or AgentClusterInstall of that name; look for it with kubectl ironflow get clusters -A, and choose its namespace with -n", name, namespace)
	}
	return c, err
}

var errNoCluster = errors.New("there is no ClusterDeployment or AgentClusterInstall of that name; kubectl ironflow get clusters -A lists them")

// choose is the one cluster of a namespace that the name means.
func choose(all []cluster, name string) (cluster, error) {
	if err := checkClusterName(name); err != nil {
		return cluster{}, err
	}
	all = slices.DeleteFunc(slices.Clone(all), func(c cluster) bool { return !c.is(name) })
	switch len(all) {
	case 0:
		return cluster{}, fmt.Errorf("no cluster %s: %w", name, errNoCluster)
	case 1:
		return all[0], nil
	}
	var texts []string
	for _, c := range all {
		texts = append(texts, c.String())
	}
	slices.Sort(texts)
	return cluster{}, fmt.Errorf("several clusters of namespace %s match %s: %s; name one as cd/NAME or aci/NAME", all[0].namespace(), name, strings.Join(texts, ", "))
}
