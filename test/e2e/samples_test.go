//go:build e2e

package e2e_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/test/machine"
)

const (
	samples = "../../config/samples"
	// hosts is the namespace of the samples.
	hosts = "hosts"
	// machineNetwork is where simulated machines say they are.
	machineNetwork = "198.18.0.0/16"
)

// sample is a folder of config/samples whose host stands for a machine of the site.
type sample struct {
	folder, host string
	machine      int
	// image says that the host gets the image of the first sample once it is available, and gives it up to come back.
	image bool
	// giveBack says that it comes back by the annotation, since it was lent to an InfraEnv.
	giveBack bool
}

var (
	firstMAC = regexp.MustCompile(`52:54:00:00:00:\w\w`)
	bmcURL   = regexp.MustCompile(`redfish-virtualmedia://\S+`)
)

// copied is a copy of a sample with the machine's own address, MAC address and password, which is all that a user has to put in.
func (w *world) copied(s sample) (folder string) {
	w.t.Helper()
	folder = filepath.Join(w.dir, s.host)
	state, found := w.fleet.State(w.scenarios[s.machine].Name)
	w.Expect(found).To(BeTrue())
	bmc := w.lab.Emulator
	files, err := filepath.Glob(filepath.Join(samples, s.folder, "*.yaml"))
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(files).NotTo(BeEmpty(), s.folder)
	for _, file := range files {
		raw, err := os.ReadFile(file)
		w.Expect(err).NotTo(HaveOccurred())
		text := firstMAC.ReplaceAllString(string(raw), strings.ToLower(w.scenarios[s.machine].Hardware.NICs[0].MAC))
		text = bmcURL.ReplaceAllString(text, bmc.Address(state.UUID))
		text = strings.NewReplacer("username: admin", "username: "+bmc.User, "password: change-me", "password: "+bmc.Password).Replace(text)
		w.write(filepath.Join(s.host, filepath.Base(file)), text)
	}
	return folder
}

// withoutRelease changes the copy of a cluster: there is no release and no openshift-install here, so the hub's own way without them is taken, in the
// network that the machine says it is in.
func (w *world) withoutRelease(folder string) {
	w.t.Helper()
	path := filepath.Join(folder, "cluster.yaml")
	raw, err := os.ReadFile(path)
	w.Expect(err).NotTo(HaveOccurred())
	var out strings.Builder
	for document := range strings.SplitSeq(string(raw), "\n---\n") {
		o := &unstructured.Unstructured{}
		w.Expect(yaml.Unmarshal([]byte(document), &o.Object)).To(Succeed())
		if o.GetKind() == "AgentClusterInstall" {
			o.SetAnnotations(nil)
			unstructured.RemoveNestedField(o.Object, "spec", "imageSetRef")
			network := []any{map[string]any{"cidr": machineNetwork}}
			w.Expect(unstructured.SetNestedSlice(o.Object, network, "spec", "networking", "machineNetwork")).To(Succeed())
		}
		text, err := sigsyaml.Marshal(o.Object)
		w.Expect(err).NotTo(HaveOccurred())
		out.WriteString("---\n" + string(text))
	}
	w.Expect(os.WriteFile(path, []byte(out.String()), 0o600)).To(Succeed())
}

// host is one as it is now.
func (w *world) host(name string) *metal3.BareMetalHost {
	w.t.Helper()
	h := &metal3.BareMetalHost{}
	w.Expect(w.kube.Get(w.t.Context(), client.ObjectKey{Namespace: hosts, Name: name}, h)).To(Succeed())
	return h
}

// machineOf is the machine of a sample as it is now.
func (w *world) machineOf(s sample) machine.Status {
	w.t.Helper()
	state, found := w.fleet.State(w.scenarios[s.machine].Name)
	w.Expect(found).To(BeTrue())
	return state
}

// until waits until the host is in a state, at rest and without an error.
func (w *world) until(s sample, state metal3.ProvisioningState) {
	w.t.Helper()
	var last *metal3.BareMetalHost
	w.Eventually(func() bool {
		last = w.host(s.host)
		return last.Status.Provisioning.State == state && last.Status.ErrorType == ""
	}).WithTimeout(patience).WithPolling(look).Should(BeTrue(), func() string {
		told, err := json.MarshalIndent(struct {
			Status     any
			Machine    any
			Conditions any
		}{last.Status, w.machineOf(s), last.Status.Conditions}, "", "  ")
		if err != nil {
			return err.Error()
		}
		return "host " + s.host + " is not " + string(state) + ": " + string(told)
	})
}

// provisioned waits until the machine runs from its disk.
func (w *world) provisioned(s sample) {
	w.t.Helper()
	w.until(s, metal3.StateProvisioned)
	w.Eventually(func() machine.State { return w.machineOf(s).State }).WithTimeout(patience).WithPolling(look).Should(Equal(machine.Installed), s.host)
	w.Expect(w.machineOf(s).Disk).NotTo(BeNil(), s.host)
}

// giveBack has the machine cleaned, by the field or annotation that a user takes.
func (w *world) giveBack(s sample) {
	w.t.Helper()
	if s.giveBack {
		w.change(s.host, map[string]any{"metadata": map[string]any{
			"annotations": map[string]any{names.GiveBack: s.host}, "labels": map[string]any{names.InfraEnvLabel: nil},
		}})
		return
	}
	w.change(s.host, map[string]any{"spec": map[string]any{"image": nil}})
}

// change patches a host.
func (w *world) change(host string, patch map[string]any) {
	w.t.Helper()
	raw, err := json.Marshal(patch)
	w.Expect(err).NotTo(HaveOccurred())
	w.kubectl("-n", hosts, "patch", "baremetalhost", host, "--type", "merge", "-p", string(raw))
}

// nodes are the names of Ironic's nodes.
func (w *world) nodes() (list []string) {
	w.t.Helper()
	request, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, w.lab.Ironic.URL+"/v1/nodes?fields=name", http.NoBody)
	w.Expect(err).NotTo(HaveOccurred())
	request.Header.Set("X-OpenStack-Ironic-API-Version", "1.89")
	answer, err := w.lab.Ironic.HTTPClient().Do(request)
	w.Expect(err).NotTo(HaveOccurred())
	defer answer.Body.Close()
	w.Expect(answer.StatusCode).To(Equal(http.StatusOK))
	var all struct{ Nodes []struct{ Name string } }
	w.Expect(json.NewDecoder(answer.Body).Decode(&all)).To(Succeed())
	for _, n := range all.Nodes {
		list = append(list, n.Name)
	}
	return list
}
