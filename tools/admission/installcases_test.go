package admission_test

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
)

// agentBase is an object of one of the kinds that hosts are installed by, nil for another kind.
func agentBase(kind string, meta metav1.ObjectMeta) client.Object {
	switch kind {
	case "InfraEnv":
		return &agentv1.InfraEnv{ObjectMeta: meta, Spec: agentv1.InfraEnvSpec{PullSecretRef: &corev1.LocalObjectReference{Name: "pull"}}}
	case "Agent":
		return &agentv1.Agent{ObjectMeta: meta, Spec: agentv1.AgentSpec{Role: "worker", ClusterDeploymentName: &agentv1.ClusterReference{Namespace: "site", Name: "prod"}}}
	case "AgentClassification":
		return &agentv1.AgentClassification{ObjectMeta: meta, Spec: agentv1.AgentClassificationSpec{LabelKey: "size", LabelValue: "large", Query: ".cpu.count > 8"}}
	case "AgentClusterInstall":
		a := &hiveextv1.AgentClusterInstall{ObjectMeta: meta}
		a.Spec.ClusterDeploymentRef.Name = "prod"
		a.Spec.ImageSetRef = &hiveextv1.ClusterImageSetReference{Name: "v4.20"}
		a.Spec.ProvisionRequirements.ControlPlaneAgents = 3
		return a
	}
	return nil
}

func onInstall(change func(*hiveextv1.AgentClusterInstall)) edit { return on(change) }

func onAgent(change func(*agentv1.Agent)) edit { return on(change) }

func label(key, value string) edit {
	return on(func(c *agentv1.AgentClassification) { c.Spec.LabelKey, c.Spec.LabelValue = key, value })
}

// networking asks for a platform, who sees to its addresses, and numbers of hosts.
func networking(platform hiveextv1.PlatformType, user *bool, masters, workers int) edit {
	return onInstall(func(a *hiveextv1.AgentClusterInstall) {
		a.Spec.PlatformType, a.Spec.Networking.UserManagedNetworking = platform, user
		a.Spec.ProvisionRequirements.ControlPlaneAgents, a.Spec.ProvisionRequirements.WorkerAgents = masters, workers
	})
}

func versionOf(cluster, version string) edit {
	return on(func(e *agentv1.InfraEnv) {
		e.Spec.OSImageVersion = version
		if cluster != "" {
			e.Spec.ClusterRef = &agentv1.ClusterReference{Namespace: "site", Name: cluster}
		}
	})
}

// hostIs sets the status of an Agent's host.
func hostIs(state, kind string) edit {
	return onAgent(func(a *agentv1.Agent) { a.Status.DebugInfo.State, a.Status.Kind = state, kind })
}

func cluster(name string) edit {
	return onAgent(func(a *agentv1.Agent) {
		a.Spec.ClusterDeploymentName = nil
		if name != "" {
			a.Spec.ClusterDeploymentName = &agentv1.ClusterReference{Namespace: "site", Name: name}
		}
	})
}

// completedBecause sets the condition Completed.
func completedBecause(reason string) edit {
	return onInstall(func(a *hiveextv1.AgentClusterInstall) {
		a.Status.Conditions = []hiveextv1.Condition{{Type: "Completed", Status: corev1.ConditionFalse, Reason: reason}}
	})
}

func release(name string) edit {
	return onInstall(func(a *hiveextv1.AgentClusterInstall) {
		a.Spec.ImageSetRef = nil
		if name != "" {
			a.Spec.ImageSetRef = &hiveextv1.ClusterImageSetReference{Name: name}
		}
	})
}

func sshKey(key string) edit {
	return onInstall(func(a *hiveextv1.AgentClusterInstall) { a.Spec.SSHPublicKey = key })
}

func addresses(api ...string) edit {
	return onInstall(func(a *hiveextv1.AgentClusterInstall) { a.Spec.APIVIPs = api })
}

func workers(n int) edit {
	return onInstall(func(a *hiveextv1.AgentClusterInstall) { a.Spec.ProvisionRequirements.WorkerAgents = n })
}

func hold(a *hiveextv1.AgentClusterInstall) { a.Spec.HoldInstallation = true }

func identified(a *hiveextv1.AgentClusterInstall) {
	a.Spec.ClusterMetadata = &hiveextv1.ClusterMetadata{ClusterID: "1", InfraID: "2", AdminKubeconfigSecretRef: corev1.LocalObjectReference{Name: "k"}}
}

func init() { // the tables of the other kinds are in another file
	maps.Copy(cases, map[string]map[string]ruleCases{
		"InfraEnv": {"version beside a cluster": {
			good: []edit{
				versionOf("prod", ""), all(), versionOf("", "4.20"),
				on(func(e *agentv1.InfraEnv) {
					versionOf("prod", "4.20")(e)
					e.Finalizers = []string{"example.com/restored"}
				}),
			},
			bad: []edit{versionOf("prod", "4.20")},
		}},
		"AgentClassification": {
			"label key":   {good: []edit{label("size", "large"), label("a.b_c-d", "x")}, bad: []edit{label("not a key", "large"), label("site/size", "large"), label("-size", "large")}},
			"label value": {good: []edit{label("size", "L_1.2")}, bad: []edit{label("size", "not a value"), label("size", "-large")}},
		},
		"AgentClusterInstall": {"networking of the platform": {
			good: []edit{
				all(), networking("", nil, 1, 0), networking("", new(true), 1, 0), networking("BareMetal", new(true), 1, 0), networking("BareMetal", new(false), 3, 0),
				networking("None", new(true), 3, 2), networking("External", nil, 3, 2), networking("VSphere", new(false), 3, 2), networking("BareMetal", new(false), 1, 2),
			},
			bad: []edit{
				networking("", new(false), 1, 0), networking("BareMetal", new(false), 1, 0), networking("BareMetal", new(true), 3, 0), networking("None", new(false), 3, 2),
				networking("External", new(false), 3, 2),
			},
		}},
	})
	maps.Copy(changes, map[string]map[string][]changeCase{
		"Agent": {"cluster of a host that is installed": {
			{"while it is known", hostIs("known", "Host"), cluster("other"), true},
			{"unbound while it is insufficient", hostIs("insufficient", "Host"), cluster(""), true},
			{"another label while it is installed", hostIs("installing", "Host"), func(o client.Object) { o.SetLabels(map[string]string{"a": "b"}) }, true},
			{"bound while it is installed, which nobody had said", all(hostIs("installing", "Host"), cluster("")), cluster("prod"), true},
			{"unbound from a running cluster", hostIs("installing-in-progress", "AddToExistingClusterHost"), cluster(""), true},
			{"another running cluster", hostIs("installing-in-progress", "AddToExistingClusterHost"), cluster("other"), false},
			{"while it is prepared", hostIs("preparing-for-installation", "Host"), cluster("other"), false},
			{"unbound while it is installed", hostIs("installing-in-progress", "Host"), cluster(""), false},
		}},
		"AgentClusterInstall": {
			"release": {
				{"set", release(""), release("v4.20"), true},
				{"to another", all(), release("v4.21"), false},
				{"taken away", all(), release(""), false},
			},
			"begun": {
				{"addresses before", completedBecause("InstallationNotStarted"), addresses("192.0.2.5"), true},
				{"addresses while it is held", completedBecause("InstallationOnHold"), addresses("192.0.2.5"), true},
				{"metadata", completedBecause("InstallationInProgress"), onInstall(identified), true},
				{"hold", completedBecause("InstallationInProgress"), onInstall(hold), true},
				{"workers afterwards", completedBecause("InstallationCompleted"), workers(2), true},
				{"a key for hosts that join", completedBecause("HostsInstalled"), sshKey("ssh-ed25519 AAAA"), true},
				{"addresses", completedBecause("InstallationInProgress"), addresses("192.0.2.5"), false},
				{"addresses afterwards", completedBecause("InstallationCompleted"), addresses("192.0.2.5"), false},
				{"addresses of one that failed", completedBecause("InstallationFailed"), addresses("192.0.2.5"), false},
			},
			"running": {
				{"a key before", completedBecause("InstallationNotStarted"), sshKey("ssh-ed25519 AAAA"), true},
				{"a key", completedBecause("InstallationInProgress"), sshKey("ssh-ed25519 AAAA"), false},
				{"workers", completedBecause("InstallationInProgress"), workers(2), false},
			},
		},
	})
}
