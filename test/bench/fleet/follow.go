package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
)

// state is what counts of a host.
type state struct {
	phase metal3.ProvisioningState
	on    bool
	fault string
}

// seen is a host as far as the bench looks at it. Decoding whole hosts would take a
// tenth of the two cores that the bench shares with what it measures.
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
	var all struct {
		Metadata struct {
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
		Items []seen `json:"items"`
	}
	list, err := f.read(ctx, nil)
	if err != nil {
		return err
	}
	err = json.NewDecoder(list).Decode(&all)
	_ = list.Close() // read to its end, or given up
	if err != nil {
		return err
	}
	known := map[string]state{}
	for _, h := range all.Items {
		known[h.Metadata.Name] = h.state()
	}
	f.mu.Lock()
	f.states = known
	f.mu.Unlock()
	return f.watch(ctx, all.Metadata.ResourceVersion)
}

// watch takes in what becomes of the hosts after a version of the list.
func (f *fleet) watch(ctx context.Context, version string) error {
	events, err := f.read(ctx, url.Values{"watch": {"true"}, "resourceVersion": {version}})
	if err != nil {
		return err
	}
	defer events.Close()
	for decoder := json.NewDecoder(events); ; {
		var e struct {
			Type   watch.EventType `json:"type"`
			Object seen            `json:"object"`
		}
		switch err := decoder.Decode(&e); {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case e.Type == watch.Error:
			return fmt.Errorf("the API server ends the watch from version %s", version)
		}
		f.take(e.Type, e.Object)
	}
}

// read asks the API server for the fleet's hosts.
func (f *fleet) read(ctx context.Context, query url.Values) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, f.hostsURL+"?"+query.Encode(), http.NoBody)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json")
	response, err := f.web.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		_ = response.Body.Close() // the status says it all
		return nil, fmt.Errorf("the API server answers %s", response.Status)
	}
	return response.Body, nil
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
