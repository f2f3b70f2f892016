package admission_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
	"github.com/ironflow/ironflow/test/crdpaths"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/tools/admission"
)

// otherwise has for each member of an AgentClusterInstall's spec that may not change at any time another value.
var otherwise = map[string]any{
	"spec.provisionRequirements.controlPlaneAgents": int64(5), "spec.provisionRequirements.workerAgents": int64(2), "spec.provisionRequirements.arbiterAgents": int64(1),
	"spec.sshPublicKey": "ssh-ed25519 AAAA", "spec.proxy.httpProxy": "http://192.0.2.1", "spec.proxy.httpsProxy": "http://192.0.2.1", "spec.proxy.noProxy": "example.com",
	"spec.ntpSources": []any{"192.0.2.2"},

	"spec.clusterDeploymentRef.name": "other", "spec.imageSetRef.name": "v4.21", "spec.manifestsConfigMapRef.name": "more",
	"spec.manifestsConfigMapRefs":           []any{map[string]any{"name": "more"}},
	"spec.networking.machineNetwork":        []any{map[string]any{"cidr": "192.0.2.0/24"}},
	"spec.networking.clusterNetwork":        []any{map[string]any{"cidr": "10.128.0.0/14", "hostPrefix": int64(23)}},
	"spec.networking.serviceNetwork":        []any{"172.30.0.0/16"},
	"spec.networking.networkType":           "Cilium",
	"spec.networking.userManagedNetworking": false,
	"spec.controlPlane.name":                "other", "spec.controlPlane.hyperthreading": "Disabled", "spec.arbiter.name": "other", "spec.arbiter.hyperthreading": "Disabled",
	"spec.compute": []any{map[string]any{"name": "worker", "hyperthreading": "Disabled"}},
	"spec.apiVIP":  "192.0.2.5", "spec.apiVIPs": []any{"192.0.2.5"}, "spec.ingressVIP": "192.0.2.6", "spec.ingressVIPs": []any{"192.0.2.6"},
	"spec.diskEncryption.enableOn": "all", "spec.diskEncryption.mode": "tpmv2", "spec.diskEncryption.tangServers": "[]",
	"spec.platformType": "BareMetal", "spec.external.cloudControllerManager": "External", "spec.external.platformName": "oci", "spec.mastersSchedulable": true,
	"spec.mirrorRegistryRef.name": "other", "spec.mirrorRegistryRef.namespace": "other", "spec.loadBalancer.type": "UserManaged",
}

// empties are members that a person has written without a value: a client in Go leaves them out when it writes the object.
var empties = map[string]any{
	"spec.manifestsConfigMapRefs": []any{}, "spec.networking.machineNetwork": []any{}, "spec.networking.clusterNetwork": []any{}, "spec.networking.serviceNetwork": []any{},
	"spec.compute": []any{map[string]any{"name": "worker", "hyperthreading": ""}}, "spec.controlPlane": map[string]any{"name": "master", "hyperthreading": ""},
	"spec.apiVIP": "", "spec.apiVIPs": []any{}, "spec.ingressVIP": "", "spec.ingressVIPs": []any{}, "spec.platformType": "", "spec.sshPublicKey": "",
	"spec.mastersSchedulable": false, "spec.ntpSources": []any{}, "spec.proxy": map[string]any{"noProxy": ""}, "spec.external": map[string]any{"cloudControllerManager": ""},
	"spec.provisionRequirements.workerAgents": int64(0), "spec.diskEncryption": map[string]any{"tangServers": ""}, "spec.holdInstallation": false,
}

// TestTheRulesKnowEveryMember: each member of the spec is of one kind of change.
func TestTheRulesKnowEveryMember(t *testing.T) {
	crdpaths.Rows(t, "AgentClusterInstall", slices.Concat(admission.InstallAlways, admission.InstallLater, admission.InstallBefore))
	NewWithT(t).Expect(slices.Sorted(maps.Keys(otherwise))).To(Equal(slices.Sorted(slices.Values(slices.Concat(admission.InstallLater, admission.InstallBefore)))))
}

// TestAnInstallationThatHasBegun changes each member by itself: the refusal names it. What an installed cluster's new
// hosts have may change then.
func TestAnInstallationThatHasBegun(t *testing.T) {
	w := newWorld(t)
	k := kindNamed("AgentClusterInstall")
	for name, reason := range map[string]string{
		"open": "InstallationNotStarted", "installing": "InstallationInProgress", "failed": "InstallationFailed", "installed": "InstallationCompleted", "hosts": "HostsInstalled",
	} {
		w.store(k, name, all(completedBecause(reason), onInstall(pools)))
	}
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(hiveextv1.GroupVersion.WithKind("AgentClusterInstall"))
	w.store(k, "empties", completedBecause("InstallationInProgress"))
	w.Expect(w.kube.Get(t.Context(), client.ObjectKeyFromObject(base(k.Kind, "empties")), o)).To(Succeed())
	set(o, empties)
	o.SetFinalizers([]string{"example.com/theirs"})
	w.Expect(w.kube.Update(t.Context(), o)).To(Succeed())
	w.Expect(lab.InstallAdmission(t.Context(), w.plane.Config())).To(Succeed())
	w.inForce(k)

	for path, value := range otherwise {
		later := slices.Contains(admission.InstallLater, path)
		for name, refused := range map[string]bool{"open": path == "spec.imageSetRef.name", "installing": true, "failed": true, "installed": !later, "hosts": !later} {
			t.Run(path+" of one that is "+name, func(t *testing.T) {
				g := NewWithT(t)
				o := o.DeepCopy()
				o.SetName(name)
				g.Expect(w.kube.Get(t.Context(), client.ObjectKeyFromObject(o), o)).To(Succeed())
				set(o, map[string]any{path: value})
				answer := BeNil()
				switch {
				case path == "spec.imageSetRef.name":
					answer = MatchError(ContainSubstring("spec.imageSetRef cannot change once it is set"))
				case refused:
					answer = MatchError(ContainSubstring(": " + path + " cannot change "))
				}
				g.Expect(w.kube.Update(t.Context(), o, client.DryRunAll)).To(answer)
			})
		}
	}
	t.Run("members without a value", func(t *testing.T) {
		g := NewWithT(t)
		typed := &hiveextv1.AgentClusterInstall{}
		g.Expect(w.kube.Get(t.Context(), client.ObjectKeyFromObject(base(k.Kind, "empties")), typed)).To(Succeed())
		typed.Finalizers = nil
		g.Expect(w.kube.Update(t.Context(), typed, client.DryRunAll)).To(Succeed())
		typed.Spec.SSHPublicKey, typed.Spec.APIVIPs = "ssh-ed25519 AAAA", []string{"192.0.2.5"}
		g.Expect(w.kube.Update(t.Context(), typed, client.DryRunAll)).To(MatchError(ContainSubstring(": spec.apiVIPs cannot change")))
	})
}

// pools sets members that are set as a whole.
func pools(a *hiveextv1.AgentClusterInstall) {
	a.Spec.ControlPlane, a.Spec.Arbiter = &hiveextv1.AgentMachinePool{Name: "master"}, &hiveextv1.AgentMachinePool{Name: "arbiter"}
	a.Spec.MirrorRegistryRef = &hiveextv1.MirrorRegistryReference{Name: "mirrors", Namespace: "site"}
}

func set(o *unstructured.Unstructured, members map[string]any) {
	for path, value := range members {
		_ = unstructured.SetNestedField(o.Object, value, strings.Split(path, ".")...)
	}
}

func kindNamed(name string) admission.Kind {
	all := admission.Kinds()
	return all[slices.IndexFunc(all, func(k admission.Kind) bool { return k.Kind == name })]
}
