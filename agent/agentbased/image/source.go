package image

import (
	"cmp"
	"maps"
	"slices"

	"github.com/ironflow/ironflow/agent/agentbased/manifests"
	"github.com/ironflow/ironflow/agent/agentbased/units"
	"github.com/ironflow/ironflow/api/names"
	inside "github.com/ironflow/ironflow/cluster/manifests"
	"github.com/ironflow/ironflow/imagecustomization/hostprograms"
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

// installerFlag packs that program into the image.
const installerFlag = "--openshift-install"

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
	if r.o.Installer && source != fromInstaller {
		r.add(installerFlag, "is given, and the cluster's source is %s, which has no use for that program: leave it out", source)
	}
	brought := slices.ContainsFunc(d.Set.Extra, func(m manifests.Manifest) bool { return m.Name == insideManifest })
	switch release := r.plan.Release != ""; {
	case r.plan.Format == ConfigImage:
	case source == fromFiles && release && hub[ignitionDir] == "":
		r.add(hubEnvFile, "does not set %s, so the hub has no Ignition for hosts of a release: name the folder of the live system that has it, "+
			"or pack the program openshift-install into the image by %s", ignitionDir, installerFlag)
	case source == fromInstaller && hub[installProgram] == "":
		r.add(hubEnvFile, "does not set %s: pack the program openshift-install into the image by %s, or write the path that it has in the live system", installProgram, installerFlag)
	case source == fromInstaller && hub[clusterImage] == "" && hub[controllerImage] == "" && !brought,
		source == fromKubernetes && hub[clusterImage] == "" && !brought:
		r.add(hubEnvFile, "does not set %s, so nobody inside the cluster would approve its kubelets' requests and say that it runs: write the full reference of the image of ironflow-cluster", clusterImage)
	}
}

// packed has the hub use the program openshift-install that is packed into the image.
func (r *reading) packed() {
	if !r.o.Installer {
		return
	}
	hub := map[string]string{}
	maps.Copy(hub, r.plan.hub)
	switch {
	case r.plan.Format == ConfigImage:
		r.add(installerFlag, "is given, and a config image has no programs: pack it into the appliance's image (--workflow %s)", units.Appliance)
	case hub[installProgram] != "":
		r.add(hubEnvFile, "sets %s, and %s packs that program into the image: leave one of them away", installProgram, installerFlag)
	case cmp.Or(hub[ignitionSource], fromInstaller) != fromInstaller:
		r.add(hubEnvFile, "sets %s=%s, which has no use for the program of %s: leave one of them away", ignitionSource, hub[ignitionSource], installerFlag)
	}
	hub[ignitionSource], hub[installProgram] = fromInstaller, hostprograms.InstallerPath
	r.plan.hub = hub
}
