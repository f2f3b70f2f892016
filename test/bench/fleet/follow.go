package main

import (
	"context"
	"fmt"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"

	"github.com/ironflow/ironflow/test/bench/follow"
)

// state is what counts of a host.
type state struct {
	phase metal3.ProvisioningState
	on    bool
	fault string
}

// seen is a host as far as the bench looks at it.
type seen struct {
	Metadata struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Status struct {
		Provisioning struct {
			State metal3.ProvisioningState `json:"state"`
		} `json:"provisioning"`
		PoweredOn    bool   `json:"poweredOn"`
		ErrorMessage string `json:"errorMessage"`
	} `json:"status"`
}

func (s seen) state() state {
	return state{s.Status.Provisioning.State, s.Status.PoweredOn, s.Status.ErrorMessage}
}

// hostsURL is where the API server has the fleet's hosts.
func hostsURL(c *rest.Config) string {
	return fmt.Sprintf("%s/apis/%s/namespaces/%s/baremetalhosts", c.Host, metal3.GroupVersion, namespace)
}

// follow takes in what becomes of the hosts, until the API server ends the watch.
func (f *fleet) follow(ctx context.Context) error {
	return follow.Objects[seen]{Web: f.web, URL: f.hostsURL, Changed: f.take, Known: func(all []seen) {
		known := map[string]state{}
		for _, h := range all {
			known[h.Metadata.Name] = h.state()
		}
		f.mu.Lock()
		f.states = known
		f.mu.Unlock()
	}}.Follow(ctx)
}

// take keeps what counts of a host.
func (f *fleet) take(kind watch.EventType, h seen) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if kind == watch.Deleted {
		delete(f.states, h.Metadata.Name)
	} else {
		f.states[h.Metadata.Name] = h.state()
	}
	select {
	case f.moved <- struct{}{}:
	default:
	}
}
