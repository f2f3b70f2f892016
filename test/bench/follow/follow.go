// Package follow watches objects on the API server and decodes no more of them than a
// benchmark looks at: decoding whole ones would take a tenth of the cores that it
// shares with what it measures. A type has the JSON tags of the few fields.
package follow

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"k8s.io/apimachinery/pkg/watch"
)

// Objects are those at a place of the API.
type Objects[T any] struct {
	// Web reaches the API server, URL is where it has the objects.
	Web *http.Client
	URL string
	// Known is told all that there are, at the beginning; Changed each that changes after it.
	Known   func(all []T)
	Changed func(kind watch.EventType, object T)
}

// Follow tells what becomes of the objects, until the API server ends the watch.
func (o Objects[T]) Follow(ctx context.Context) error {
	var all struct {
		Metadata struct {
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
		Items []T `json:"items"`
	}
	list, err := o.read(ctx, nil)
	if err != nil {
		return err
	}
	err = json.NewDecoder(list).Decode(&all)
	_ = list.Close() // read to its end, or given up
	if err != nil {
		return err
	}
	o.Known(all.Items)
	return o.watch(ctx, all.Metadata.ResourceVersion)
}

// watch tells what becomes of the objects after a version of the list.
func (o Objects[T]) watch(ctx context.Context, version string) error {
	events, err := o.read(ctx, url.Values{"watch": {"true"}, "resourceVersion": {version}})
	if err != nil {
		return err
	}
	defer events.Close()
	for decoder := json.NewDecoder(events); ; {
		var e struct {
			Type   watch.EventType `json:"type"`
			Object T               `json:"object"`
		}
		switch err := decoder.Decode(&e); {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case e.Type == watch.Error:
			return fmt.Errorf("the API server ends the watch from version %s", version)
		}
		o.Changed(e.Type, e.Object)
	}
}

// read asks the API server for the objects.
func (o Objects[T]) read(ctx context.Context, query url.Values) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, o.URL+"?"+query.Encode(), http.NoBody)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json")
	response, err := o.Web.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		_ = response.Body.Close() // the status says it all
		return nil, fmt.Errorf("the API server answers %s", response.Status)
	}
	return response.Body, nil
}
