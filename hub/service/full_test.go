package service_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/google/uuid"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// TestAnInfraEnvThatIsFull takes the hosts that it has, and puts off new ones; that is said once, since ids may be made up.
func TestAnInfraEnvThatIsFull(t *testing.T) {
	w := start(t, service.Options{}, &service.InfraEnvSpec{})
	for page := range 20 {
		var hosts []*store.Host
		for n := range 1000 {
			if id := fmt.Sprintf("bbbbbbbb-0000-4000-8000-%012d", page*1000+n); n > 0 || page > 0 {
				hosts = append(hosts, &store.Host{API: wire.Host{ID: id, InfraEnvID: envID, Kind: wire.HostKindHost, Status: wire.HostStatusDiscovering}})
			}
		}
		w.Expect(w.records.Commit(w.ctx, &store.Unit{Hosts: hosts})).To(Succeed())
	}
	w.register(hostA) // is the last
	for range 3 {
		_, err := w.RegisterHost(w.ctx, service.Registration{InfraEnvID: envID, HostID: uuid.NewString()})
		w.Expect(err).To(MatchError(ContainSubstring("has 20000 hosts")))
		w.Expect(service.Code(err)).To(Equal(http.StatusServiceUnavailable))
	}
	w.register(hostA)
	said, _, err := w.Events(w.ctx, store.EventFilter{InfraEnvID: envID})
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(said).To(ContainElement(And(HaveField("Name", "host_registration_put_off"), HaveField("HostID", BeNil()), HaveField("Message", ContainSubstring("remove hosts that are gone")))))
	put := 0
	for _, e := range said {
		if e.Name == "host_registration_put_off" {
			put++
		}
	}
	w.Expect(put).To(Equal(1))
}
