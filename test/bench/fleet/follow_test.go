package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// hostOf is a host as the API server has it: what the bench reads of it must be
// found under the names that the API gives it.
func hostOf(name string, phase metal3.ProvisioningState, on bool, fault string) metal3.BareMetalHost {
	return metal3.BareMetalHost{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Status:     metal3.BareMetalHostStatus{Provisioning: metal3.ProvisionStatus{State: phase}, PoweredOn: on, ErrorMessage: fault},
	}
}

// apiServer lists hosts, answers a watch with events and ends it.
func apiServer(t *testing.T, hosts []metal3.BareMetalHost, events ...any) *fleet {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out := json.NewEncoder(w)
		switch query := r.URL.Query(); {
		case query.Get("watch") == "":
			_ = out.Encode(metal3.BareMetalHostList{ListMeta: metav1.ListMeta{ResourceVersion: "77"}, Items: hosts})
		case query.Get("resourceVersion") != "77":
			http.Error(w, "gone", http.StatusGone)
		default:
			for _, e := range events {
				_ = out.Encode(e)
			}
		}
	}))
	t.Cleanup(server.Close)
	return &fleet{web: server.Client(), hostsURL: server.URL + "/hosts", states: map[string]state{"of old": {}}, moved: make(chan struct{}, 1)}
}

// event is a line of a watch.
func event(kind watch.EventType, object any) any {
	return map[string]any{"type": kind, "object": object}
}

func TestWhatBecomesOfHosts(t *testing.T) {
	g := NewWithT(t)
	f := apiServer(t, []metal3.BareMetalHost{
		hostOf("a", metal3.StateInspecting, false, ""), hostOf("b", metal3.StateAvailable, true, ""), hostOf("c", metal3.StateDeleting, false, ""),
	},
		event(watch.Modified, hostOf("a", metal3.StateInspecting, true, "no disk")),
		event(watch.Deleted, hostOf("c", metal3.StateDeleting, false, "")),
		event(watch.Added, hostOf("d", metal3.StateRegistering, false, "")),
	)
	g.Expect(f.follow(t.Context())).To(Succeed(), "the API server may end a watch at any time")
	g.Expect(f.states).To(Equal(map[string]state{
		"a": {metal3.StateInspecting, true, "no disk"}, "b": {metal3.StateAvailable, true, ""}, "d": {metal3.StateRegistering, false, ""},
	}))
	g.Expect(f.moved).To(Receive(), "who waits for hosts is told")
}

func TestWatchThatIsRefused(t *testing.T) {
	g := NewWithT(t)
	f := apiServer(t, nil, event(watch.Error, metav1.Status{Code: http.StatusGone}))
	g.Expect(f.follow(t.Context())).To(MatchError(ContainSubstring("from version 77")))
}
