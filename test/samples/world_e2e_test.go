//go:build e2e

package samples_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/test/bmc/simulator"
	"github.com/ironflow/ironflow/test/bmc/world/whole"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/machine/ipa"
	"github.com/ironflow/ironflow/test/machine/ironictest"
	"github.com/ironflow/ironflow/test/needs"
)

const (
	// patience bounds the way of a host to a state; five of them share one Ironic.
	patience = 15 * time.Minute
	glance   = time.Second
	// namespace is that of the samples' hosts.
	namespace = "hosts"
	root      = "../../config/samples"
)

// world is the program, a real Ironic, and who serves what the samples name.
type world struct {
	*whole.World

	files *files
	disks *disks
}

func newWorld(t *testing.T) *world {
	t.Helper()
	g := NewWithT(t)
	w := &world{files: serve(t), disks: &disks{erased: map[string]int{}}}
	network := t.TempDir() // what Ironic keeps for machines that boot over the network
	w.World = whole.New(t, whole.Options{Patience: patience, Glance: glance, Hall: ironictest.HallOptions{
		Redfish: &lab.RedfishOptions{Delays: simulator.Delays{Task: 2 * time.Second, POST: time.Second}},
		// Network boot is not the lab's default.
		Ironic: lab.IronicOptions{Overrides: map[string]map[string]string{
			"DEFAULT": {"enabled_boot_interfaces": "redfish-virtual-media,redfish-https,ipxe"}, "pxe": {"tftp_root": network, "tftp_master_path": filepath.Join(network, "master")},
		}},
		WriteImage: w.disks.write, Managers: []ipa.Manager{w.disks},
	}})
	w.Start(t, map[string]string{
		"DEPLOY_ISO_URL": w.files.url + "/live.iso", "DEPLOY_KERNEL_URL": w.files.url + "/kernel", "DEPLOY_RAMDISK_URL": w.files.url + "/ramdisk",
	})
	for _, o := range read(t, filepath.Join(root, "namespace.yaml"), strings.NewReplacer()) {
		g.Expect(w.Kube.Create(t.Context(), o)).To(Succeed())
	}
	return w
}

// files serves everything that the samples name at mirror.example.
type files struct {
	url string

	mu    sync.Mutex
	paths []string
}

func serve(t *testing.T) *files {
	t.Helper()
	g := NewWithT(t)
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", net.JoinHostPort(needs.Address(t).String(), "0"))
	g.Expect(err).NotTo(HaveOccurred())
	f := &files{}
	server := httptest.NewUnstartedServer(f)
	g.Expect(server.Listener.Close()).To(Succeed())
	server.Listener = listener
	server.Start()
	t.Cleanup(server.Close)
	f.url = server.URL
	return f
}

// content is the same at each address: what a machine boots and is installed with does not matter here.
var content = make([]byte, 1<<20)

// ServeHTTP implements http.Handler.
func (f *files) ServeHTTP(answer http.ResponseWriter, r *http.Request) {
	body := content
	if strings.HasSuffix(r.URL.Path, ".sha256") {
		sum := sha256.Sum256(content)
		body = []byte(hex.EncodeToString(sum[:]) + "  " + strings.TrimSuffix(filepath.Base(r.URL.Path), ".sha256") + "\n")
	}
	answer.Header().Set("Content-Length", strconv.Itoa(len(body)))
	if r.Method == http.MethodGet {
		f.mu.Lock()
		f.paths = append(f.paths, r.URL.Path)
		f.mu.Unlock()
		_, _ = answer.Write(body)
	}
}

// read are the paths that somebody has read.
func (f *files) read() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.paths)
}

// disks are those of all machines: how often an image was written to one, and how often each was erased, by the name of its node.
type disks struct {
	mu     sync.Mutex
	images int
	erased map[string]int
}

// write fetches an image and compares its checksum, as the real agent does.
func (d *disks) write(ctx context.Context, image ipa.Image) (string, error) {
	if _, err := image.Fetch(ctx, http.DefaultClient); err != nil {
		return "", err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.images++
	return "/dev/sda", nil
}

func (d *disks) written() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.images
}

// timesErased is how often the disks of a node's machine were erased.
func (d *disks) timesErased(node string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.erased[node]
}

// Name implements ipa.Manager.
func (*disks) Name() string { return "SamplesManager" }

// Version implements ipa.Manager.
func (*disks) Version() string { return "1" }

// Steps implements ipa.Manager: those of automated cleaning.
func (*disks) Steps(_ context.Context, kind ipa.Kind) ([]ipa.Step, error) {
	if kind == ipa.Clean {
		return []ipa.Step{{Name: "erase_devices_metadata", Interface: "deploy", Priority: 99}}, nil
	}
	return nil, nil
}

// Run implements ipa.Manager.
func (d *disks) Run(_ context.Context, call ipa.Call) (any, error) {
	if call.Step != "erase_devices_metadata" {
		return nil, fmt.Errorf("step %s: %w", call.Step, errors.ErrUnsupported)
	}
	var node struct{ Name string }
	if err := json.Unmarshal(call.Node, &node); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.erased[node.Name]++
	return nil, nil
}

// read returns the objects of a file with addresses and accounts replaced.
func read(t *testing.T, file string, replace *strings.Replacer) (all []*unstructured.Unstructured) {
	t.Helper()
	g := NewWithT(t)
	raw, err := os.ReadFile(file)
	g.Expect(err).NotTo(HaveOccurred())
	decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(replace.Replace(string(raw))), 4096)
	for {
		o := &unstructured.Unstructured{}
		err := decoder.Decode(&o.Object)
		if errors.Is(err, io.EOF) {
			return all
		}
		g.Expect(err).NotTo(HaveOccurred(), file)
		all = append(all, o)
	}
}

// machine is one of a sample.
type machine struct {
	t       *testing.T
	world   *world
	machine *ironictest.Machine
	key     client.ObjectKey
}

// apply makes the objects of a sample, for a machine of their own.
func (w *world) apply(t *testing.T, s sample) *machine {
	t.Helper()
	g := NewWithT(t)
	m := &machine{t: t, world: w, machine: w.Hall.AddSimulated(t, s.system)}
	file := filepath.Join(root, s.folder, "host.yaml")
	raw, err := os.ReadFile(file)
	g.Expect(err).NotTo(HaveOccurred())
	address, found := m.machine.Address(), []string{s.address, s.mac, "username: admin", "password: change-me"}
	if s.scheme != "" {
		_, rest, _ := strings.Cut(address, "://")
		address = s.scheme + "://" + rest
	}
	for _, text := range found {
		g.Expect(strings.Count(string(raw), text)).To(Equal(1), "%s in %s", text, file)
	}
	user, password := m.machine.Credentials()
	for _, o := range read(t, file, strings.NewReplacer(
		s.address, address, s.mac, m.machine.MAC, "username: admin", "username: "+strconv.Quote(user), "password: change-me", "password: "+strconv.Quote(password),
		"https://mirror.example", w.files.url,
	)) {
		if o.GetKind() == "BareMetalHost" {
			m.key = client.ObjectKeyFromObject(o)
		}
		g.Expect(w.Kube.Create(t.Context(), o)).To(Succeed(), "%s %s", o.GetKind(), o.GetName())
	}
	g.Expect(m.key.Namespace).To(Equal(namespace))
	if s.scheme != "" { // such a BMC checks certificates unless it is told not to; IPMI has none
		m.edit(t, func(h *metal3.BareMetalHost) { h.Spec.BMC.DisableCertificateVerification = true })
	}
	return m
}

// imageOf is the image of a sample.
func (w *world) imageOf(t *testing.T, s sample) *metal3.Image {
	t.Helper()
	for _, o := range read(t, filepath.Join(root, s.folder, "host.yaml"), strings.NewReplacer("https://mirror.example", w.files.url)) {
		if image, found, _ := unstructured.NestedMap(o.Object, "spec", "image"); found {
			raw, err := json.Marshal(image)
			NewWithT(t).Expect(err).NotTo(HaveOccurred())
			parsed := &metal3.Image{}
			NewWithT(t).Expect(json.Unmarshal(raw, parsed)).To(Succeed())
			return parsed
		}
	}
	t.Fatal("the sample has no image: " + s.folder)
	return nil
}

func (m *machine) host(t *testing.T) *metal3.BareMetalHost {
	t.Helper()
	h := &metal3.BareMetalHost{}
	NewWithT(t).Expect(m.world.Kube.Get(t.Context(), m.key, h)).To(Succeed())
	return h
}

// get is the object of the host's name of another kind.
func (m *machine) get(kind string) *unstructured.Unstructured {
	m.t.Helper()
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(metal3.GroupVersion.WithKind(kind))
	NewWithT(m.t).Expect(m.world.Kube.Get(m.t.Context(), m.key, o)).To(Succeed())
	return o
}

func (m *machine) edit(t *testing.T, change func(*metal3.BareMetalHost)) {
	t.Helper()
	h := m.host(t)
	before := h.DeepCopy()
	change(h)
	NewWithT(t).Expect(m.world.Kube.Patch(t.Context(), h, client.MergeFrom(before))).To(Succeed())
}

// until waits for a state without an error.
func (m *machine) until(t *testing.T, what string, state metal3.ProvisioningState) {
	t.Helper()
	begin := time.Now()
	NewWithT(t).Eventually(func() error {
		h := m.host(t)
		if h.Status.Provisioning.State == state && h.Status.ErrorType == "" && h.Status.PoweredOn {
			return nil
		}
		return fmt.Errorf("state %q, error %q, node %v", h.Status.Provisioning.State, h.Status.ErrorMessage, m.node()["provision_state"])
	}, patience, glance).Should(Succeed(), what)
	t.Logf("%s after %s", what, time.Since(begin).Round(time.Second))
}

func (m *machine) untilGone(t *testing.T) {
	t.Helper()
	NewWithT(t).Eventually(func() bool {
		err := m.world.Kube.Get(t.Context(), m.key, &metal3.BareMetalHost{})
		return err != nil && client.IgnoreNotFound(err) == nil
	}, patience, glance).Should(BeTrue())
}

// node is the host's in Ironic; empty without one.
func (m *machine) node() (n map[string]any) {
	_ = m.world.Ironic.Call(context.WithoutCancel(m.t.Context()), http.MethodGet, "/v1/nodes/"+m.name(), nil, &n) // there may be none yet
	return n
}

// name is that of its node.
func (m *machine) name() string { return m.key.Namespace + names.NodeNameSeparator + m.key.Name }

// redfish reads a part of the machine's system.
func (m *machine) redfish(path string, into any) {
	m.t.Helper()
	g := NewWithT(m.t)
	bmc := m.world.Hall.Lab.Redfish
	request, err := http.NewRequestWithContext(m.t.Context(), http.MethodGet, bmc.SystemURL(m.machine.System)+path, http.NoBody)
	g.Expect(err).NotTo(HaveOccurred())
	request.SetBasicAuth(bmc.User, bmc.Password)
	answer, err := bmc.HTTP.Do(request)
	g.Expect(err).NotTo(HaveOccurred())
	defer answer.Body.Close()
	g.Expect(answer.StatusCode).To(Equal(http.StatusOK), path)
	g.Expect(json.NewDecoder(answer.Body).Decode(into)).To(Succeed())
}
