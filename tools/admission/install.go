package admission

import (
	"strings"

	"github.com/ironflow/ironflow/api/names"
)

func environmentRules() []Rule {
	return []Rule{{
		Name:   "version beside a cluster",
		Create: either(str("spec.clusterRef.name")+` == ""`, str("spec.osImageVersion")+` == ""`),
		Message: "spec.osImageVersion and spec.clusterRef exclude each other: hosts of a cluster boot the base image that its release needs; " +
			"leave spec.osImageVersion out",
		Rest: "`spec.osImageVersion` that is added to the InfraEnv of a cluster which is not installed yet: taken",
	}}
}

// installing are the statuses of hosts whose cluster must not be exchanged.
var installing = []string{
	"preparing-for-installation", "preparing-successful", "preparing-failed",
	"installing", "installing-in-progress", "installing-pending-user-action",
}

func agentRules() []Rule {
	cluster := func(object, member string) string { return about(object, str("spec.clusterDeploymentName."+member)) }
	same := cluster("oldObject", "name") + " == " + cluster("object", "name") + " && " +
		cluster("oldObject", "namespace") + " == " + cluster("object", "namespace")
	return []Rule{{
		// One that says nothing may be told: it was lost, and its host has a cluster in the hub.
		Name: "cluster of a host that is installed",
		Change: either(same, cluster("oldObject", "name")+` == ""`, "!("+among(about("oldObject", str("status.debugInfo.state")), installing...)+")",
			cluster("object", "name")+` == "" && `+about("oldObject", str("status.kind"))+` == "AddToExistingClusterHost"`),
		Message: "spec.clusterDeploymentName cannot change while the host is prepared or installed: wait for the end of the installation, " +
			"or cancel it; a host that is added to a running cluster may be unbound",
	}}
}

func classificationRules() []Rule {
	return []Rule{
		{
			// The key comes behind a prefix, so it has none of its own.
			Name:    "label key",
			Holds:   matches(str("spec.labelKey"), "^"+labelName+"$"),
			Message: "spec.labelKey is no name of a label: give up to 63 letters, digits, dashes, dots and underscores; it comes behind " + names.ClassificationPrefix,
			Rest:    "`spec.query` that is none: condition `QueryErrors`",
		},
		{
			Name:    "label value",
			Holds:   matches(str("spec.labelValue"), "^"+labelName+"$"),
			Message: "spec.labelValue is no value of a label: give up to 63 letters, digits, dashes, dots and underscores",
		},
	}
}

func installRules() []Rule {
	completed := func(reasons ...string) string {
		return about("oldObject", list("status.conditions")) + `.exists(c, c.type == "Completed" && ` + among("c.reason", reasons...) + ")"
	}
	set, single := str("spec.imageSetRef.name"), `(self.?spec.?provisionRequirements.?controlPlaneAgents.orValue(0) == 1 && `+
		`self.?spec.?provisionRequirements.?workerAgents.orValue(0) == 0 && self.?spec.?provisionRequirements.?arbiterAgents.orValue(0) == 0)`
	managed, platform := value("spec.networking.userManagedNetworking", "null"), str("spec.platformType")
	return []Rule{
		{
			Name:   "release",
			Change: either(about("oldObject", set)+` == ""`, about("oldObject", set)+" == "+about("object", set)),
			Message: "spec.imageSetRef cannot change once it is set: delete the ClusterDeployment and its AgentClusterInstall, and create them with " +
				"another ClusterImageSet",
		},
		{
			Name: "networking of the platform",
			Holds: "(" + either(managed+" != false", "!("+either(single, platform+` in ["None", "External"]`)+")") + ") && (" +
				either(managed+" != true", platform+` != "BareMetal"`, single) + ")",
			Message: "spec.networking.userManagedNetworking does not go with spec.platformType and spec.provisionRequirements: single nodes and the " +
				"platforms None and External have it true, several nodes of BareMetal have it false; leave it out for what fits",
		},
		{
			Name:   "begun",
			Change: either("!("+completed("InstallationInProgress", "InstallationFailed", "InstallationCompleted", "HostsInstalled")+")", unchanged(changeBefore)),
			Where:  changed(changeBefore),
			Message: "cannot change once the installation has begun: put back what was there; or, to have a cluster made otherwise, delete the " +
				"ClusterDeployment and its AgentClusterInstall and create them anew; one whose installation failed is open again once all of its hosts are given back",
		},
		{
			Name:   "running",
			Change: either("!("+completed("InstallationInProgress", "InstallationFailed")+")", unchanged(changeLater)),
			Where:  changed(changeLater),
			Message: "cannot change between the begin of an installation and its success: put back what was there, and change it once the cluster is installed; " +
				"one whose installation failed is open again once all of its hosts are given back",
		},
	}
}

// among asks whether a text is one of a list.
func among(text string, list ...string) string {
	return text + ` in ["` + strings.Join(list, `", "`) + `"]`
}
