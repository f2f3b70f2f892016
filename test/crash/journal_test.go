package crash

import (
	"fmt"
	"net/http"
	"testing"

	. "github.com/onsi/gomega"
)

// request is an entry as Ironic answered it.
func request(wish, method, path, target string, status int) Entry {
	return Entry{Wish: wish, Peer: Ironic, Method: method, Path: path, Body: fmt.Sprintf(`{"target": %q}`, target), Status: status}
}

// stored is a status patch.
func stored(phase string, status int) Entry {
	return Entry{
		Peer: Kubernetes, Method: http.MethodPatch, Path: "/apis/metal3.io/v1alpha1/namespaces/n/baremetalhosts/h/status",
		Body: fmt.Sprintf(`{"status": {"provisioning": {"state": %q}}}`, phase), Status: status,
	}
}

// TestViolations shows that each rule can be broken, and that a good life
// breaks none.
func TestViolations(t *testing.T) {
	const states = "/v1/nodes/u/states/provision"
	wishes := []Wish{{"provision", times{AskEnrol: 1, "active": 1}}, {"delete", times{AskRemove: 1}}}
	enrol := request("provision", http.MethodPost, "/v1/nodes", "", 201)
	deploy := request("provision", http.MethodPut, states, "active", 202)
	removal := request("delete", http.MethodDelete, "/v1/nodes/u", "", 204)
	good := Journal{enrol, stored("provisioning", 200), deploy, stored("provisioned", 200), stored("deleting", 200), removal}
	for name, c := range map[string]struct {
		journal Journal
		broken  []string
	}{
		"a good life": {good, nil},
		"asked again and refused": {
			Journal{enrol, stored("provisioning", 200), deploy, request("provision", http.MethodPut, states, "active", 409), stored("deleting", 200), removal}, nil,
		},
		"deployed twice": {
			Journal{enrol, stored("provisioning", 200), deploy, deploy, stored("deleting", 200), removal},
			[]string{`wish "provision": Ironic took "active" 2 times instead of 1`},
		},
		"cleaned without being asked": {
			Journal{enrol, stored("preparing", 200), request("provision", http.MethodPut, states, "clean", 202), stored("provisioning", 200), deploy, stored("deleting", 200), removal},
			[]string{`wish "provision": Ironic took "clean" 1 times, which nobody asked for`},
		},
		"undeployed while nothing was wished": {
			append(good[:4:4], stored("deprovisioning", 200), request("nothing", http.MethodPut, states, "deleted", 202), stored("deleting", 200), removal),
			[]string{`without a wish ("nothing"): Ironic took map[deleted:1]`},
		},
		"two nodes": {
			Journal{enrol, enrol, stored("provisioning", 200), deploy, stored("deleting", 200), removal},
			[]string{"there are 2 nodes", "there are 2 nodes", "1 nodes are left", `took "enrol" 2 times`},
		},
		"the phase was not stored before the call": {
			Journal{enrol, stored("available", 200), deploy, stored("deleting", 200), removal}, []string{`the stored phase is "available"`},
		},
		"the API server refused the phase": {
			Journal{enrol, stored("provisioning", 409), deploy, stored("deleting", 200), removal}, []string{`the stored phase is ""`},
		},
		"never done": {
			Journal{enrol, stored("deleting", 200), removal}, []string{`took "active" 0 times instead of 1`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			broken := c.journal.Violations(wishes)
			var matchers []any
			for _, text := range c.broken {
				matchers = append(matchers, ContainSubstring(text))
			}
			NewWithT(t).Expect(broken).To(ConsistOf(matchers...))
		})
	}
}

func TestSkips(t *testing.T) {
	g := NewWithT(t)
	want := []string{"registering", "(preparing)", "available"}
	g.Expect(skips([]string{"registering", "available"}, want)).To(BeEmpty())
	g.Expect(skips([]string{"registering", "preparing", "available"}, want)).To(BeEmpty())
	g.Expect(skips([]string{"available"}, want)).To(ContainSubstring(`"registering" was skipped`))
	g.Expect(skips([]string{"registering", "available", "provisioning"}, want)).To(ContainSubstring(`beyond`))
}

func TestPhases(t *testing.T) {
	j := Journal{stored("registering", 200), stored("registering", 200), stored("inspecting", 409), stored("inspecting", 200)}
	NewWithT(t).Expect(j.Phases()).To(Equal([]string{"registering", "inspecting"}))
}
