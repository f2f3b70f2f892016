package store_test

import (
	"context"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// unlinked: who leaves reports on connectivity unread changes only what it writes in their place.
func unlinked(ctx context.Context, g *WithT, s store.Store) {
	const known, news = `{"remote_hosts":[]}`, `{"remote_hosts":null}`
	for _, id := range []string{"host-1", "host-2", "host-3"} {
		h := host(id)
		h.MACs, h.API.Connectivity = nil, known
		put(ctx, g, s, h)
	}
	silent := host("host-4")
	silent.MACs = nil
	put(ctx, g, s, silent)
	left := func() []*store.Host {
		return read(ctx, g, s, func(r *store.Reader) ([]*store.Host, error) {
			return r.Hosts(store.HostFilter{InfraEnvID: key.InfraEnvID, Unlinked: true})
		})
	}
	hosts := left()
	g.Expect(hosts).To(HaveLen(4))
	for _, h := range hosts {
		g.Expect(h.Unlinked()).To(BeTrue())
		g.Expect(h.API.Connectivity).NotTo(Equal(known))
		g.Expect(h.API.Inventory).To(Equal(`{"hostname":"a"}`), "the other reports are read")
	}
	put(ctx, g, s, hosts...) // nothing of them has changed
	hosts[0].API.Status, hosts[1].API.Connectivity, hosts[2].API.Connectivity = wire.HostStatusInsufficient, "", news
	put(ctx, g, s, hosts...)
	put(ctx, g, s, hosts...)
	var now []string
	for _, h := range read(ctx, g, s, func(r *store.Reader) ([]*store.Host, error) {
		return r.Hosts(store.HostFilter{InfraEnvID: key.InfraEnvID})
	}) {
		g.Expect(h.Unlinked()).To(BeFalse())
		now = append(now, h.API.Connectivity)
	}
	g.Expect(now).To(Equal([]string{known, "", news, ""}))

	hosts = left()
	hosts[3].API.Connectivity = news
	g.Expect(s.View(ctx, func(r *store.Reader) error { return r.ReadConnectivity(hosts) })).To(Succeed())
	now = nil
	for _, h := range hosts {
		g.Expect(h.Unlinked()).To(BeFalse())
		now = append(now, h.API.Connectivity)
	}
	g.Expect(now).To(Equal([]string{known, "", news, news}), "what has come meanwhile is not read over")
	hosts[0].API.Connectivity = ""
	put(ctx, g, s, hosts...)
	g.Expect(readHost(ctx, g, s, key).API.Connectivity).To(BeEmpty())
}
