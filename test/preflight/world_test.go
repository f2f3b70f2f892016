//go:build e2e

package preflight_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/test/bmc/simulator"
	"github.com/ironflow/ironflow/test/bmc/world/whole"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/machine/ironictest"
	"github.com/ironflow/ironflow/test/needs"
)

const (
	patience = 4 * time.Minute
	glance   = 200 * time.Millisecond
	// pause is how long nothing must happen to what was refused.
	pause = 10 * time.Second
)

// world is the program with everything around it.
type world struct {
	*whole.World

	images string // where firmware is fetched from

	mu    sync.Mutex
	asked []whole.Wish // what the program asked Ironic to do
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{World: whole.New(t, whole.Options{Patience: patience, Glance: glance, Hall: ironictest.HallOptions{
		Redfish: &lab.RedfishOptions{Delays: simulator.Delays{Task: time.Second, POST: time.Second}},
	}})}
	w.images = serveImages(t)
	quirks := filepath.Join(t.TempDir(), "quirks.yaml")
	NewWithT(t).Expect(os.WriteFile(quirks, []byte(ownRow), 0o600)).To(Succeed())
	w.Start(t, map[string]string{"IRONIC_ENDPOINT": w.Ear(t, w.hear), "IRONFLOW_BMC_QUIRKS_FILE": quirks})
	return w
}

const (
	// ownRow is a site's: virtual media take 1 GiB.
	ownRow = `[{id: site-media, vendor: "*", effect: image-size, value: "1024", advice: Larger images are cut off.}]`
	// large is the path of an image that has more.
	large = "/large.iso"
)

// serveImages serves images at an address that is asked for their sizes, and returns its URL.
func serveImages(t *testing.T) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", net.JoinHostPort(needs.Address(t).String(), "0"))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		size := int64(4096)
		if r.URL.Path == large {
			size = 3 << 30
		}
		answer.Header().Set("Content-Length", strconv.FormatInt(size, 10))
		if r.Method == http.MethodGet && size == 4096 { // nobody fetches the large one
			_, _ = answer.Write(make([]byte, size))
		}
	}))
	NewWithT(t).Expect(server.Listener.Close()).To(Succeed())
	server.Listener = listener
	server.Start()
	t.Cleanup(server.Close)
	return server.URL
}

func (w *world) hear(_ context.Context, wish whole.Wish) error {
	if wish.Of == "provision" {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.asked = append(w.asked, wish)
	}
	return nil
}

// host is a host with its machine.
type host struct {
	*whole.Host
	*world

	name    string
	machine *ironictest.Machine
}

// volume is what is on the disks of each machine before.
var volume = simulator.Volume{ID: "old", Name: "old", RAIDType: "RAID0", CapacityBytes: 960e9, Drives: []string{"Disk.0", "Disk.1"}}

// newHost makes a host with its wishes; those in other objects are created before it.
func (w *world) newHost(t *testing.T, name string, system simulator.System, wish func(*metal3.BareMetalHost), others ...client.Object) *host {
	t.Helper()
	system.Storage = simulator.DefaultStorage()
	system.Storage[0].RAIDTypes, system.Storage[0].Volumes = []string{"RAID0", "RAID1"}, []simulator.Volume{volume}
	h := &host{world: w, name: name, machine: w.Hall.AddSimulated(t, system)}
	for _, o := range others {
		o.SetNamespace(whole.Namespace)
		o.SetName(name)
		NewWithT(t).Expect(w.Kube.Create(t.Context(), o)).To(Succeed())
	}
	h.Host = w.Register(t, name, h.machine, w.Hall.Lab.Redfish, wish)
	h.Also = func(t *testing.T) string {
		return fmt.Sprintf("asked %q, BMC %+v", h.targets(t), h.condition(t, v1alpha1.Ready))
	}
	return h
}

func (h *host) get(t *testing.T) *metal3.BareMetalHost { return h.Get(t) }

func (h *host) until(t *testing.T, what string, ok func(*metal3.BareMetalHost) bool) {
	t.Helper()
	h.Until(t, what, ok)
}

func (h *host) condition(t *testing.T, kind string) metav1.Condition { return h.Condition(t, kind) }

func (h *host) redfish(t *testing.T, path string, into any) {
	t.Helper()
	h.Redfish(t, path, into)
}

// change edits an object of the host's name as a user does, until nobody else is in between.
func change[T client.Object](t *testing.T, h *host, object T, edit func(T)) {
	t.Helper()
	NewWithT(t).Eventually(func() error {
		if err := h.Kube.Get(t.Context(), h.Key(), object); err != nil {
			return err
		}
		edit(object)
		return h.Kube.Update(t.Context(), object)
	}).WithTimeout(20 * time.Second).Should(Succeed())
}

// targets are what Ironic was asked to do with the host's node.
func (h *host) targets(t *testing.T) []string {
	t.Helper()
	var node struct {
		UUID string `json:"uuid"`
	}
	if h.Ironic.Call(t.Context(), http.MethodGet, "/v1/nodes/"+h.Node()+"?fields=uuid", nil, &node) != nil {
		return nil // there is none yet
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	var targets []string
	for _, wish := range h.asked {
		if slices.Contains([]string{node.UUID, h.Node(), url.PathEscape(h.Node())}, wish.Node) {
			targets = append(targets, wish.Target)
		}
	}
	return targets
}

// volumes are the RAID types on the machine, as its BMC shows them.
func (h *host) volumes(t *testing.T) []string {
	t.Helper()
	var collection struct {
		Members []struct {
			ID string `json:"@odata.id"`
		}
	}
	h.redfish(t, "/Storage/RAID.1/Volumes", &collection)
	kinds := []string{}
	for _, member := range collection.Members {
		var volume struct{ RAIDType string }
		h.redfish(t, strings.TrimPrefix(member.ID, "/redfish/v1/Systems/"+h.machine.System), &volume)
		kinds = append(kinds, volume.RAIDType)
	}
	return kinds
}
