package kubernetes_test

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/sources/kubernetes"
	"github.com/ironflow/ironflow/hub/wire"
)

// TestASecondTimeKeepsTheCluster: hosts may have what was made the first time.
func TestASecondTimeKeepsTheCluster(t *testing.T) {
	g := NewWithT(t)
	o := order(3, 1)
	before := mustMake(t, o)
	o.Earlier, o.Now = before, now.Add(time.Hour)
	after := mustMake(t, o)
	g.Expect(after.Secrets).To(Equal(before.Secrets))
	g.Expect(after.Hosts).To(Equal(before.Hosts))
}

// TestOnDay2: a host joins a cluster whose first token has ended long ago.
func TestOnDay2(t *testing.T) {
	for _, role := range []wire.HostRole{wire.HostRoleWorker, wire.HostRoleMaster} {
		t.Run(string(role), func(t *testing.T) {
			g := NewWithT(t)
			before := mustMake(t, alone())
			o := joining(role, before)
			o.Cluster.APIVIPs = nil // the cluster has none: it is reached where it was
			after := mustMake(t, o)
			id := o.Hosts[0].ID
			g.Expect(after.Hosts).To(HaveLen(1))
			g.Expect(tokenOf(t, after)).NotTo(Equal(tokenOf(t, before)))
			g.Expect(files(t, after, id)[configuration]).To(And(ContainSubstring(tokenOf(t, after)), ContainSubstring("192.0.2.10:6443")))
			g.Expect(string(after.Files[kubernetes.TokenManifest])).To(And(
				ContainSubstring("token-secret: "+tokenOf(t, after)[7:]), ContainSubstring(`expiration: "2026-12-29T12:00:00Z"`)))
			g.Expect(after.Secrets["ca.key"]).To(Equal(before.Secrets["ca.key"]))
			again := joining(role, after)
			again.Cluster.APIVIPs = nil
			g.Expect(tokenOf(t, mustMake(t, again))).To(Equal(tokenOf(t, after)), "one that is still good is used for the next host")
		})
	}
}

// TestATokenForTheInstallationIsNoFile: kubeadm makes it when it initialises the cluster.
func TestATokenForTheInstallationIsNoFile(t *testing.T) {
	NewWithT(t).Expect(mustMake(t, order(3, 1)).Files).To(BeEmpty())
}

func TestWhoInitialises(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*sources.Order)
		want   string
	}{
		"the one that the hub has chosen":           {func(o *sources.Order) { o.Hosts[0].Bootstrap, o.Hosts[2].Bootstrap = false, true }, "id-master-2"},
		"the first when the hub has not chosen yet": {func(o *sources.Order) { o.Hosts[0].Bootstrap = false }, "id-master-0"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := changed(order(3, 1), tc.change)
			made := mustMake(t, o)
			for _, h := range o.Hosts {
				_, initialises := files(t, made, h.ID)[here+"init.sh"]
				g.Expect(initialises).To(Equal(h.ID == tc.want), h.Name)
			}
		})
	}
}

// TestPodsOnTheControlPlane: where the cluster says so, and where there is nowhere else.
func TestPodsOnTheControlPlane(t *testing.T) {
	for name, tc := range map[string]struct {
		order *sources.Order
		want  bool
	}{
		"workers take them":       {order(3, 1), false},
		"no workers":              {order(3, 0), true},
		"the cluster says so":     {changed(order(3, 1), func(o *sources.Order) { o.Cluster.SchedulableMasters = new(true) }), true},
		"the hub has to force it": {changed(order(3, 1), func(o *sources.Order) { o.Cluster.SchedulableMastersForcedTrue = new(true) }), true},
	} {
		t.Run(name, func(t *testing.T) {
			made := mustMake(t, tc.order)
			for _, id := range []string{"id-master-0", "id-master-1"} {
				matcher := ContainSubstring("taints: []")
				if !tc.want {
					matcher = Not(matcher)
				}
				NewWithT(t).Expect(files(t, made, id)[configuration]).To(matcher)
			}
		})
	}
}

func TestMakeEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := kubernetes.Source{}.Make(ctx, order(3, 1))
	NewWithT(t).Expect(err).To(MatchError(context.Canceled))
}

func TestTheEndIsSeenInside(t *testing.T) {
	NewWithT(t).Expect(kubernetes.Source{}.Ending(order(3, 1))).To(Equal(sources.EndsInside))
}

// TestEarlierSecretsThatAreDamagedAreNotReplaced: hosts may have the others.
func TestEarlierSecretsThatAreDamagedAreNotReplaced(t *testing.T) {
	o := order(3, 1)
	o.Earlier = mustMake(t, o)
	delete(o.Earlier.Secrets, "etcd/ca.key")
	_, err := kubernetes.Source{}.Make(t.Context(), o)
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring("etcd/ca.key is missing")))
}

// BenchmarkMake makes a cluster of 500 hosts: its time and bytes are those of a preparation.
func BenchmarkMake(b *testing.B) {
	o := order(5, 495)
	full(o)
	b.ReportAllocs()
	for b.Loop() {
		made, err := kubernetes.Source{}.Make(b.Context(), o)
		if err != nil {
			b.Fatal(err)
		}
		size := 0
		for _, raw := range made.Hosts {
			size += len(raw)
		}
		b.ReportMetric(float64(size)/(1<<20), "MiB-kept")
		b.ReportMetric(float64(len(made.Hosts)), "hosts")
	}
}
