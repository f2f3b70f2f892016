package service

import (
	"net/http"
	"net/http/httptest"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/hub/wire"
)

// TestARefusedStageHasTheHubAsked: a hub that has ended an installation says so with the next
// steps, and would wait for the poll while a disk is written.
func TestARefusedStageHasTheHubAsked(t *testing.T) {
	for name, tc := range map[string]struct {
		answer int
		asked  bool
	}{
		"taken":   {http.StatusOK, false},
		"refused": {http.StatusConflict, true},
		"away":    {http.StatusServiceUnavailable, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			hub := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(tc.answer) }))
			defer hub.Close()
			client, err := hubclient.New(hubclient.Options{URL: hub.URL})
			g.Expect(err).NotTo(HaveOccurred())
			defer client.Close()
			a := &agent{client: client, changed: make(chan struct{}, 1)}
			a.host.Store(&hubclient.Host{InfraEnvID: "e", HostID: "h"})
			err = a.tell(t.Context(), wire.HostProgress{CurrentStage: wire.HostStageWritingImageToDisk})
			g.Expect(err == nil).To(Equal(tc.answer == http.StatusOK))
			g.Expect(len(a.changed) == 1).To(Equal(tc.asked))
		})
	}
}
