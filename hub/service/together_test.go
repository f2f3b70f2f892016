package service_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/auth"
	"github.com/ironflow/ironflow/hub/filestore"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
	"github.com/ironflow/ironflow/test/postgres"
)

// stores are the databases that a hub may have.
var stores = map[string]func(t *testing.T) (open func() store.Store){
	"sqlite": func(t *testing.T) func() store.Store {
		path := filepath.Join(t.TempDir(), "hub.sqlite")
		one := opened(t, func() (store.Store, error) { return store.OpenSQLite(t.Context(), path) })
		return func() store.Store { return one }
	},
	"postgres": func(t *testing.T) func() store.Store {
		db := postgres.New(t)
		return func() store.Store {
			return opened(t, func() (store.Store, error) {
				return store.OpenPostgres(t.Context(), store.PostgresOptions{URL: db.URL, PasswordFile: db.PasswordFile})
			})
		}
	},
}

func opened(t *testing.T, open func() (store.Store, error)) store.Store {
	t.Helper()
	s, err := open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// replica is a hub over a store, with a key if agents need tokens.
func replica(t *testing.T, s store.Store, keys ...auth.Key) *service.Hub {
	t.Helper()
	root, err := filestore.OpenDirectory(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	o := service.Options{Store: s, Files: root, Keys: testhub.Keys()}
	for _, k := range keys {
		o.TokenKey = k
	}
	hub, err := service.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return hub
}

// fleetOf makes an infra-env with a cluster that no number of hosts completes, and
// hosts that have registered and reported.
func fleetOf(ctx context.Context, g *WithT, hub *service.Hub, n int) []store.HostKey {
	_, err := hub.EnsureCluster(ctx, service.ClusterSpec{ID: sharedCluster, Name: "c", Masters: 3, Workers: 100})
	g.Expect(err).NotTo(HaveOccurred())
	_, err = hub.EnsureInfraEnv(ctx, service.InfraEnvSpec{ID: envID, Name: "env"})
	g.Expect(err).NotTo(HaveOccurred())
	var keys []store.HostKey
	for i := range n {
		k := key(fmt.Sprintf("aaaaaaaa-0000-4000-8000-%012d", i))
		keys = append(keys, k)
		_, err := hub.RegisterHost(ctx, service.Registration{InfraEnvID: envID, HostID: k.HostID})
		g.Expect(err).NotTo(HaveOccurred())
	}
	return keys
}

// TestCallsAtTheSameTime end in the same records as the same calls one by one.
// Each host has calls of its own in a fixed order; what one host's calls leave
// behind does not depend on the others but for the sums of their cluster, which
// every call has to count right.
func TestCallsAtTheSameTime(t *testing.T) {
	const hosts, rounds = 6, 8
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			again := open(t)
			together := []*service.Hub{replica(t, again()), replica(t, again())}
			alone := replica(t, stores["sqlite"](t)())
			keys := fleetOf(t.Context(), g, together[0], hosts)
			fleetOf(t.Context(), g, alone, hosts)
			var all sync.WaitGroup
			for i, k := range keys {
				random := rand.New(rand.NewPCG(seed, uint64(i)))
				var calls []func(context.Context, *service.Hub) error
				for range rounds {
					calls = append(calls, randomCall(random, i, k))
				}
				for _, c := range calls {
					g.Expect(c(t.Context(), alone)).To(Succeed())
				}
				all.Go(func() {
					for n, c := range calls {
						for {
							err := c(t.Context(), together[(i+n)%len(together)])
							if err == nil {
								break
							}
							if !errors.Is(err, store.ErrConflict) { // which a client is told to repeat
								t.Error(err)
								return
							}
						}
					}
				})
			}
			all.Wait()
			g.Expect(records(t.Context(), g, together[1])).To(Equal(records(t.Context(), g, alone)))
		})
	}
}

// randomCall is a call about one host that succeeds whatever came before.
func randomCall(random *rand.Rand, i int, k store.HostKey) func(context.Context, *service.Hub) error {
	ignore := func(err error) error { // the same refusal comes in both worlds, or the records differ
		if err != nil && service.Code(err) < 500 {
			return nil
		}
		return err
	}
	n := random.IntN(1000)
	return []func(context.Context, *service.Hub) error{
		// One machine: whether another address is that of a twin depends on whether the host has registered since, in
		// milliseconds, and calls come faster here than that.
		func(ctx context.Context, h *service.Hub) error {
			output := fmt.Sprintf(`{"hostname":"node-%d-%d","cpu":{"count":8},"memory":{"physical_bytes":34359738368},
				"disks":[{"id":"/dev/sda","path":"/dev/sda","name":"sda","drive_type":"SSD","size_bytes":200000000000}],
				"interfaces":[{"name":"eno1","mac_address":"02:00:00:00:00:%02x","type":"physical"}]}`, i, n, i)
			return h.Reply(ctx, k, wire.StepReply{StepType: wire.StepTypeInventory, Output: output})
		},
		func(ctx context.Context, h *service.Hub) error {
			_, err := h.UpdateHost(ctx, k, wire.HostUpdateParams{HostName: new(fmt.Sprintf("wanted-%d-%d", i, n))})
			return ignore(err)
		},
		func(ctx context.Context, h *service.Hub) error {
			_, err := h.BindHost(ctx, k, sharedCluster)
			return ignore(err)
		},
		func(ctx context.Context, h *service.Hub) error {
			_, err := h.UnbindHost(ctx, k)
			return ignore(err)
		},
		func(ctx context.Context, h *service.Hub) error { return h.ApproveHost(ctx, k, n%2 == 0) },
		func(ctx context.Context, h *service.Hub) error {
			_, err := h.Instructions(ctx, k, service.Poll{})
			return err
		},
		func(ctx context.Context, h *service.Hub) error {
			_, err := h.RegisterHost(ctx, service.Registration{InfraEnvID: k.InfraEnvID, HostID: k.HostID})
			return ignore(err)
		},
		func(ctx context.Context, h *service.Hub) error { return ignore(h.DeleteHost(ctx, k)) },
	}[[]int{0, 0, 1, 2, 2, 3, 4, 5, 6, 0}[random.IntN(10)]]
}

// records are what matters of everything stored, in a form that can be compared.
func records(ctx context.Context, g *WithT, hub *service.Hub) (out []string) {
	hosts, err := hub.Hosts(ctx, store.HostFilter{})
	g.Expect(err).NotTo(HaveOccurred())
	for _, h := range hosts {
		out = append(out, fmt.Sprint(h.ID, h.Status, h.RequestedHostname, h.Inventory, h.ClusterID != nil, h.Role, h.InstallationDiskID))
	}
	clusters, err := hub.Clusters(ctx, store.ClusterFilter{})
	g.Expect(err).NotTo(HaveOccurred())
	for _, c := range clusters {
		out = append(out, fmt.Sprint(c.ID, c.Status, c.StatusInfo, c.TotalHostCount, c.ReadyHostCount))
	}
	events, _, err := hub.Events(ctx, store.EventFilter{})
	g.Expect(err).NotTo(HaveOccurred())
	var lines []string
	for _, e := range events {
		// What is said of statuses and checks depends on the cluster's other hosts at that moment.
		if e.HostID != nil && e.Name != "host_status_updated" && !strings.HasPrefix(e.Name, "host_validation_") {
			lines = append(lines, fmt.Sprint(*e.HostID, e.Name, e.Message))
		}
	}
	slices.SortStableFunc(lines, func(a, b string) int { return slices.Compare([]string{a[:36]}, []string{b[:36]}) })
	return append(out, lines...)
}
