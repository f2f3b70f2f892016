package image

import (
	"cmp"
	"slices"

	"github.com/ironflow/ironflow/agent/agentbased/manifests"
	"github.com/ironflow/ironflow/api/names"
	inside "github.com/ironflow/ironflow/cluster/manifests"
)

// Names of settings of the hub that say who makes the Ignition of the installed hosts.
const (
	ignitionSource  = "IRONFLOW_HUB_IGNITION_SOURCE"
	ignitionDir     = "IRONFLOW_HUB_IGNITION_DIR"
	installProgram  = "IRONFLOW_HUB_OPENSHIFT_INSTALL"
	clusterImage    = "IRONFLOW_HUB_CLUSTER_IMAGE"
	controllerImage = "CONTROLLER_IMAGE"
)

// Sources of Ignition, as the hub has them.
const (
	fromFiles      = "files"
	fromInstaller  = "openshift-install"
	fromKubernetes = "kubernetes"
)

// insideManifest is the extra manifest that brings the program inside a cluster, as the hub knows it.
const insideManifest = "ironflow-cluster.yaml"

// installs wants a hub that can install the cluster: it would say so only once all hosts have
// booted. What an appliance's own hub is set up for is not known here.
func (r *reading) installs(d *manifests.Draft) {
	said := ""
	if in := d.Set.AgentClusterInstall; in != nil {
		said = in.Metadata.Annotations[names.IgnitionSource]
	}
	hub, source := r.plan.hub, cmp.Or(said, r.plan.hub[ignitionSource], fromFiles)
	if image := hub[clusterImage]; image != "" {
		if err := (inside.Settings{Image: image, HubURL: "http://hub", ClusterID: "cluster"}).Check(); err != nil {
			r.add(hubEnvFile, "has a %s that cannot be used: %v", clusterImage, err)
		}
	}
	brought := slices.ContainsFunc(d.Set.Extra, func(m manifests.Manifest) bool { return m.Name == insideManifest })
	switch release := r.plan.Release != ""; {
	case r.plan.Format == ConfigImage:
	case source == fromFiles && release && hub[ignitionDir] == "":
		r.add(hubEnvFile, "does not set %s, so the hub has no Ignition for hosts of a release: name the folder of the live system that has it, "+
			"or set %s=%s and %s to the path of that program there", ignitionDir, ignitionSource, fromInstaller, installProgram)
	case source == fromInstaller && hub[installProgram] == "":
		r.add(hubEnvFile, "does not set %s: write the path that the program openshift-install has in the live system", installProgram)
	case source == fromInstaller && hub[clusterImage] == "" && hub[controllerImage] == "" && !brought,
		source == fromKubernetes && hub[clusterImage] == "" && !brought:
		r.add(hubEnvFile, "does not set %s, so nobody inside the cluster would approve its kubelets' requests and say that it runs: write the full reference of the image of ironflow-cluster", clusterImage)
	}
}
