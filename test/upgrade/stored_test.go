package upgrade_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/ironflow/ironflow/test/ironic/simulator"
)

const (
	// shared has the objects that belong to several hosts.
	shared = "shared"
	// secretVersion stands for the version of the host's Secret, which only etcd gives.
	secretVersion = "SECRET-VERSION"
)

// plurals are the kinds of the fleet as etcd has them, in the order in which they are stored: a host names the version of its Secret.
var plurals = []struct{ version, kind, plural string }{
	{"v1", "Secret", "secrets"},
	{"metal3.io/v1alpha1", "BareMetalHost", "baremetalhosts"},
	{"metal3.io/v1alpha1", "HardwareData", "hardwaredata"},
	{"metal3.io/v1alpha1", "HostFirmwareSettings", "hostfirmwaresettings"},
	{"metal3.io/v1alpha1", "HostFirmwareComponents", "hostfirmwarecomponents"},
	{"metal3.io/v1alpha1", "FirmwareSchema", "firmwareschemas"},
	{"metal3.io/v1alpha1", "HostUpdatePolicy", "hostupdatepolicies"},
}

// ironicNode is the part of a file that is no Kubernetes object.
type ironicNode struct {
	Kind string `json:"kind"`
	simulator.Seed
}

// record writes a file for each host: its objects as the API server has them, and its node.
func (w *world) record(dir string) {
	w.t.Helper()
	w.Expect(os.MkdirAll(dir, 0o755)).To(Succeed())
	documents := map[string][][]byte{}
	var hosts []string
	for _, s := range situations() {
		hosts = append(hosts, s.name)
	}
	for _, of := range plurals {
		for _, o := range w.list(of.version, of.kind) {
			name := strings.TrimSuffix(o.GetName(), "-bmc")
			if !slices.Contains(hosts, name) {
				name = shared
			}
			raw, err := yaml.Marshal(bare(o).Object)
			w.Expect(err).NotTo(HaveOccurred())
			documents[name] = append(documents[name], bytes.TrimSpace(raw))
		}
	}
	for _, name := range hosts {
		seed, found := w.sim.Seed(namespace + "~" + name)
		if !found {
			continue
		}
		raw, err := yaml.Marshal(ironicNode{"IronicNode", seed})
		w.Expect(err).NotTo(HaveOccurred())
		documents[name] = append(documents[name], bytes.TrimSpace(raw))
	}
	for name, all := range documents {
		w.Expect(os.WriteFile(filepath.Join(dir, name+".yaml"), append(bytes.Join(all, []byte("\n---\n")), '\n'), 0o644)).To(Succeed())
	}
}

// list reads all objects of a kind.
func (w *world) list(version, kind string) []unstructured.Unstructured {
	w.t.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(schema.FromAPIVersionAndKind(version, kind+"List"))
	w.Expect(w.kube.List(w.t.Context(), list, client.InNamespace(namespace))).To(Succeed())
	return list.Items
}

// bare is an object without what etcd gives it.
func bare(o unstructured.Unstructured) unstructured.Unstructured {
	o.SetManagedFields(nil)
	o.SetResourceVersion("")
	for _, which := range []string{"triedCredentials", "goodCredentials"} {
		if _, found, _ := unstructured.NestedString(o.Object, "status", which, "credentialsVersion"); found {
			_ = unstructured.SetNestedField(o.Object, secretVersion, "status", which, "credentialsVersion") // it is there
		}
	}
	return o
}

// load puts a recorded fleet into etcd and Ironic, past the API server: ids, times and status are those of then.
func (w *world) load(dir string) (hosts []string) {
	w.t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(files).NotTo(BeEmpty(), "run this with -update to record the release")
	for _, file := range files {
		raw, err := os.ReadFile(file)
		w.Expect(err).NotTo(HaveOccurred())
		version := ""
		for document := range strings.SplitSeq(string(raw), "\n---\n") {
			o := unstructured.Unstructured{}
			w.Expect(yaml.Unmarshal([]byte(strings.ReplaceAll(document, secretVersion, `"`+version+`"`)), &o.Object)).To(Succeed(), file)
			if o.GetKind() != "IronicNode" {
				stored := w.store(o)
				if o.GetKind() == "Secret" {
					version = stored
				}
				continue
			}
			n := ironicNode{}
			w.Expect(yaml.UnmarshalStrict([]byte(document), &n)).To(Succeed(), file)
			w.Expect(w.sim.Put(n.Seed)).To(Succeed(), file)
		}
		if name := strings.TrimSuffix(filepath.Base(file), ".yaml"); name != shared {
			hosts = append(hosts, name)
		}
	}
	return hosts
}

// store writes an object into etcd, and returns its version.
func (w *world) store(o unstructured.Unstructured) (version string) {
	w.t.Helper()
	key := ""
	for _, of := range plurals {
		if of.kind == o.GetKind() {
			key = strings.Join([]string{"/registry", strings.TrimSuffix(o.GroupVersionKind().Group+"/", "/"), of.plural, o.GetNamespace(), o.GetName()}, "/")
		}
	}
	w.Expect(key).NotTo(BeEmpty(), o.GetKind())
	value, err := o.MarshalJSON()
	w.Expect(err).NotTo(HaveOccurred())
	request, err := json.Marshal(map[string][]byte{"key": []byte(strings.ReplaceAll(key, "//", "/")), "value": value})
	w.Expect(err).NotTo(HaveOccurred())
	call, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, w.lab.ControlPlane.Store+"/v3/kv/put", bytes.NewReader(request))
	w.Expect(err).NotTo(HaveOccurred())
	answer, err := http.DefaultClient.Do(call)
	w.Expect(err).NotTo(HaveOccurred())
	defer answer.Body.Close()
	w.Expect(answer.StatusCode).To(Equal(http.StatusOK))
	var put struct {
		Header struct{ Revision json.Number }
	}
	w.Expect(json.NewDecoder(answer.Body).Decode(&put)).To(Succeed())
	return put.Header.Revision.String()
}

// objects are the metadata and specs of the fleet, by kind and name.
func (w *world) objects() map[string]any {
	w.t.Helper()
	all := map[string]any{}
	for _, of := range plurals {
		for _, o := range w.list(of.version, of.kind) {
			o = bare(o)
			delete(o.Object, "status")
			all[of.kind+" "+o.GetName()] = o.Object
		}
	}
	return all
}

// statesOf are the states that hosts of recorded files are in.
func (w *world) statesOf(hosts []string) map[string]string {
	w.t.Helper()
	states := map[string]string{}
	for _, name := range hosts {
		h := w.host(name)
		w.Expect(h).NotTo(BeNil(), name)
		states[name] = fmt.Sprintf("%s, %s %s", h.Status.Provisioning.State, h.Status.OperationalStatus, h.Status.ErrorType)
	}
	return states
}
