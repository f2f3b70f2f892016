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
	wishes := []Wish{wish("provision", times{AskEnrol: 1, "active": 1}), wish("delete", times{AskRemove: 1})}
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
			[]string{`wish "provision": Ironic took "clean" 1 times, which nobody asked for`, `there is no order on the node`},
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

// TestAnnouncements shows what must be stored before work is asked for.
func TestAnnouncements(t *testing.T) {
	const node = "/v1/nodes/u"
	order := func(body string) Entry {
		return Entry{Wish: "work", Peer: Ironic, Method: http.MethodPatch, Path: node, Body: body, Status: http.StatusOK}
	}
	ordered := order(`[{"op": "add", "path": "/extra/ironflow_order", "value": {"since": "2026-01-01T00:00:00Z"}}]`)
	marked := order(`[{"op": "add", "path": "/extra/ironflow_order", "value": {"failed": true}}]`)
	dropped := order(`[{"op": "remove", "path": "/extra/ironflow_order"}]`)
	ask := func(target string) Entry {
		return request("work", http.MethodPut, node+"/states/provision", target, 202)
	}
	volumes := request("work", http.MethodPut, node+"/states/raid", "", 204)
	servicing := stored("provisioned", 200)
	servicing.Body = `{"status": {"operationalStatus": "servicing", "provisioning": {"state": "provisioned"}}}`
	for name, c := range map[string]struct {
		journal Journal
		broken  string
	}{
		"cleaned by order":                {Journal{stored("preparing", 200), ordered, volumes, ask("clean")}, ""},
		"cleaned again without a new one": {Journal{stored("preparing", 200), ordered, ask("clean"), ask("clean")}, "there is no order on the node"},
		"cleaned again by a new one":      {Journal{stored("preparing", 200), ordered, ask("clean"), marked, ordered, ask("clean")}, ""},
		"volumes before the order":        {Journal{stored("preparing", 200), volumes, ordered, ask("clean")}, "there is no order on the node"},
		"an order that has failed":        {Journal{stored("preparing", 200), marked, ask("clean")}, "there is no order on the node"},
		"an order that was dropped":       {Journal{stored("preparing", 200), dropped, ask("clean")}, "there is no order on the node"},
		"serviced as announced":           {Journal{servicing, ordered, ask("service")}, ""},
		"serviced without a word":         {Journal{stored("provisioned", 200), ordered, ask("service")}, `the stored operational status is ""`},
		"serviced without an order":       {Journal{servicing, ask("service")}, "there is no order on the node"},
		"deployed without a word":         {Journal{stored("available", 200), ask("active")}, `the stored phase is "available"`},
		"a forced reboot":                 {Journal{stored("provisioning", 200), ask("deleted")}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			w := Wish{Name: "work", Asks: times{}, While: map[string]string{"deleted": "provisioning"}}
			for _, e := range c.journal {
				if what := e.asks(); what != "" {
					w.Asks[what]++
				}
			}
			broken := c.journal.Violations([]Wish{w})
			if c.broken == "" {
				g.Expect(broken).To(BeEmpty())
			} else {
				g.Expect(broken).To(ConsistOf(ContainSubstring(c.broken)))
			}
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
