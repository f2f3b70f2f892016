package client_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/bmc/client"
)

// machines are so many hosts whose systems one BMC has.
func machines(g *WithT, pool *client.Pool, target client.Target, n int) []*client.Client {
	var all []*client.Client
	for i := range n {
		target.System = fmt.Sprintf("/redfish/v1/Systems/%d", i+1)
		c, err := pool.Client(target.System, target)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(c.System()).To(Equal(target.System))
		all = append(all, c)
	}
	return all
}

// TestHostsOfOneBMCShareASession: BMCs have room for few.
func TestHostsOfOneBMCShareASession(t *testing.T) {
	g, f := NewWithT(t), newFake()
	target, pool := serve(t, f), client.NewPool(quick())
	all := machines(g, pool, target, 6)
	for _, c := range all {
		g.Expect(c.Get(t.Context(), c.System(), &struct{}{})).To(Succeed())
	}
	presented, _, open := f.counts()
	g.Expect([]int{presented, open}).To(Equal([]int{1, 1}))

	other := target
	other.Username = "another"
	c, err := pool.Client("another", other)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.Get(t.Context(), system, &struct{}{})).To(Succeed())
	_, _, open = f.counts()
	g.Expect(open).To(Equal(2), "another user has one of his own")
	pool.Drop("another")

	for i, c := range all[:5] {
		pool.Drop(c.System())
		g.Expect(c.Get(t.Context(), c.System(), &struct{}{})).To(MatchError(client.ErrClosed))
		last := all[5]
		g.Expect(last.Get(t.Context(), last.System(), &struct{}{})).To(Succeed(), "%d hosts have gone", i+1)
	}
	presented, _, _ = f.counts()
	g.Expect(presented).To(Equal(2), "who goes takes nobody's session along")
	pool.Drop(all[5].System())
	g.Expect(pool.Close(t.Context())).To(Succeed())
	_, _, open = f.counts()
	g.Expect(open).To(BeZero())
}

// TestAWrongPasswordOfManyHosts is tried once, though each of them has it: most BMCs lock an
// account after three tries.
func TestAWrongPasswordOfManyHosts(t *testing.T) {
	g, f := NewWithT(t), newFake()
	target, pool := serve(t, f), client.NewPool(quick())
	f.setPassword("another")
	var wait sync.WaitGroup
	for _, c := range machines(g, pool, target, 6) {
		wait.Go(func() {
			if err := c.Get(t.Context(), c.System(), &struct{}{}); client.KindOf(err) != client.Credentials {
				t.Errorf("%s: %v", client.KindOf(err), err)
			}
		})
	}
	wait.Wait()
	_, refused, _ := f.counts()
	g.Expect(refused).To(Equal(1))

	// One of them is forgotten, as after a change of its password: it begins anew.
	f.setPassword(password)
	pool.Drop("/redfish/v1/Systems/1")
	anew := machines(g, pool, target, 1)[0]
	g.Expect(anew.Get(t.Context(), anew.System(), &struct{}{})).To(Succeed())
	g.Expect(pool.Close(t.Context())).To(Succeed())
	_, _, open := f.counts()
	g.Expect(open).To(BeZero())
}

// TestManyHostsDoNotCrowdOneBMC: few requests are under way at a time, however many hosts it
// has, and one that is silent is silent for all of them.
func TestManyHostsDoNotCrowdOneBMC(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, f := NewWithT(t), newFake()
		target, options := pipe(t, f), quick()
		options.Dial = target.dial
		pool := client.NewPool(options)
		for i := range 16 {
			f.paths[fmt.Sprintf("/redfish/v1/Systems/%d", i+1)] = func(w http.ResponseWriter, _ *http.Request) {
				elapse(time.Second)
				body(w, http.StatusOK, `{}`)
			}
		}
		hosts := machines(g, pool, client.Target{URL: "http://bmc.example", Username: user, Password: password}, 16)
		get := func(kind client.Kind) {
			var wait sync.WaitGroup
			for _, c := range hosts {
				wait.Go(func() {
					if err := c.Get(t.Context(), c.System(), &struct{}{}); client.KindOf(err) != kind {
						t.Errorf("%s: %v", client.KindOf(err), err)
					}
				})
			}
			wait.Wait()
		}
		get("")
		g.Expect(f.most).To(Equal(4))

		f.free["/redfish/v1/"] = func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
		for _, c := range hosts {
			f.paths[c.System()] = f.free["/redfish/v1/"]
		}
		f.requests()
		get(client.Unreachable)
		g.Expect(len(f.requests())).To(BeNumerically("<=", 4+2), "what stood in line is not asked any more")
		_ = pool.Close(t.Context())
	})
}
