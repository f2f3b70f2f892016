package installed_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/agentbased/waitfor"
	"github.com/ironflow/ironflow/agent/agentbased/waitfor/installed"
	"github.com/ironflow/ironflow/cluster/kube"
)

// api answers by path; a missing path is not found, an empty answer is nobody.
type api map[string]string

func (a api) Get(_ context.Context, path string, out any) error {
	text, is := a[path]
	switch {
	case !is:
		return &kube.StatusError{Code: http.StatusNotFound}
	case text == "":
		return errors.New("connection refused")
	}
	return json.Unmarshal([]byte(text), out)
}

const (
	version = "/apis/config.openshift.io/v1/clusterversions/version"
	nodes   = "/api/v1/nodes"
	two     = `{"items": [{"metadata": {"name": "m0"}, "status": {"conditions": [{"type": "Ready", "status": "True"}]}},
		{"metadata": {"name": "m1"}, "status": {"conditions": [{"type": "Ready", "status": "False", "message": "no network"}]}}]}`
)

func TestWhatAClusterSays(t *testing.T) {
	for name, tc := range map[string]struct {
		api   api
		nodes int
		want  waitfor.State
	}{
		"a version that is available": {
			api{version: `{"status": {"conditions": [{"type": "Available", "status": "True", "message": "Done applying 4.19.3"}]}}`},
			0,
			waitfor.State{Up: true, Complete: true, Text: "its version is available: Done applying 4.19.3"},
		},
		"a version that is not": {
			api{version: `{"status": {"conditions": [{"type": "Available", "status": "False"}, {"type": "Progressing", "status": "True", "message": "812 of 900 done"}]}}`},
			0,
			waitfor.State{Up: true, Text: "its version is not available yet: 812 of 900 done"},
		},
		"a version without a word": {api{version: `{}`}, 0, waitfor.State{Up: true, Text: "its version is not available yet: "}},
		"nodes that lack one":      {api{nodes: two}, 0, waitfor.State{Up: true, Text: "1 of 2 nodes are Ready; node m1: no network"}},
		"nodes that are enough":    {api{nodes: two}, 1, waitfor.State{Up: true, Complete: true, Text: "1 nodes are Ready"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(installed.Cluster{API: tc.api, Nodes: tc.nodes}.State(t.Context(), 2)).To(Equal(tc.want))
		})
	}
	g := NewWithT(t)
	g.Expect(installed.Cluster{API: api{nodes: two}}.State(t.Context(), 0)).To(Equal(waitfor.State{
		Up: true, Text: "1 nodes are Ready, and how many there are to be is not known: give --nodes; node m1: no network",
	}))
	for _, path := range []string{version, nodes} {
		_, err := installed.Cluster{API: api{path: ""}}.State(t.Context(), 2)
		g.Expect(err).To(MatchError("connection refused"))
	}
}
