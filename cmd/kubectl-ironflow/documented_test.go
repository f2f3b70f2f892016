package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/test/pages"
)

// TestCommandsOfThePagesRun: what pages tell people to copy does what they say, on a site that has what it names.
func TestCommandsOfThePagesRun(t *testing.T) {
	s := newSite(t)
	for _, name := range []string{"node-1", "node-2"} {
		s.create(&metal3v1.BareMetalHost{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"rack": "a1"}, Annotations: map[string]string{names.Reboot + "/disk-swap": ""}},
			Spec:       metal3v1.BareMetalHostSpec{BMC: metal3v1.BMCDetails{Address: "redfish://192.0.2.1", CredentialsName: name}},
			Status:     metal3v1.BareMetalHostStatus{Provisioning: metal3v1.ProvisionStatus{State: metal3v1.StateProvisioned}},
		})
		s.change(name, inState(metal3v1.StateProvisioned))
	}
	s.create(prod(), withKubeconfig("installed"), kubeconfigSecret(map[string]string{"kubeconfig": someKubeconfig}), aBMC("node-1"))
	s.withSettings()
	report, err := json.Marshal(aBMC("").Status.Report)
	s.Expect(err).NotTo(HaveOccurred())
	good := strings.NewReplacer("UEFISecureBoot", "UEFI", `"5"`, `"1"`, "cpld", "bmc", `Wings: "x", `, "", "Sometimes", "Off").Replace(hosts)

	root, err := filepath.Abs("../..")
	s.Expect(err).NotTo(HaveOccurred())
	// The pages' files are in the folder in which the commands are called.
	t.Chdir(t.TempDir())
	write(t, "hosts.yaml", good)
	write(t, "report.json", string(report))
	const fits = "node-1: nothing that is known speaks against its wishes"
	pages.Run(t, root, "kubectl ironflow", []pages.Example{
		{Line: "get hosts", Want: "node-1"},
		{Line: "get hosts -A", Want: "node-2"},
		{Line: "describe HOST", With: map[string]string{"HOST": "node-1"}, Want: "BareMetalHost/node-1"},
		{Line: "why node-1", Want: "BareMetalHost/node-1: provisioned"},
		{Line: "describe cluster prod", Want: "ClusterDeployment/prod: prod.lab.example"},
		{Line: "kubeconfig prod -o prod.kubeconfig"},
		{Line: "revoke-tokens --cluster CLUSTER", With: map[string]string{"CLUSTER": "prod"}, Want: "the hub revokes the token of the program inside it"},
		{Line: "bmc check -f hosts.yaml", Want: fits},
		{Line: "bmc check -f -", In: good, Want: fits},
		{Line: "bmc check -f hosts.yaml --report report.json", Want: fits},
		{Line: "reboot node-1 --key disk-swap --end", Want: "host node-1"},
		{Line: "reboot -l rack=a1 --hard --yes", Want: "host node-2: is to be rebooted"},
		{Line: "reboot node-1 --wait", By: "cmd/kubectl-ironflow.TestRebootWaits"},
		{Line: "reboot node-1 --key disk-swap --wait", By: "cmd/kubectl-ironflow.TestRebootWaits"},
	}, func(in string, args []string) (string, error) {
		out, _, err := s.run(in, args...)
		return out, err
	})
	s.Expect("prod.kubeconfig").To(BeARegularFile())
	s.Expect(s.host("node-1").Annotations).NotTo(HaveKey(names.Reboot + "/disk-swap"))
	s.Expect(s.host("node-2").Annotations[names.Reboot]).To(MatchJSON(`{"mode":"hard","force":false}`))
}
