package kubernetes_test

import (
	"context"
	"crypto/tls"
	"errors"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/sources/kubernetes"
	"github.com/ironflow/ironflow/hub/sources/kubernetes/admission"
	"github.com/ironflow/ironflow/hub/sources/kubernetes/authorities"
	"github.com/ironflow/ironflow/hub/sources/kubernetes/token"
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

// TestOnDay2: a host joins a cluster whose first token has ended long ago, with a token of
// its own that the cluster was told.
func TestOnDay2(t *testing.T) {
	for _, role := range []wire.HostRole{wire.HostRoleWorker, wire.HostRoleMaster} {
		t.Run(string(role), func(t *testing.T) {
			g := NewWithT(t)
			before := mustMake(t, alone())
			o := joining(role, before)
			o.Cluster.APIVIPs = nil // the cluster has none: it is reached where it was
			after, told := admitted(t, o)
			id := o.Hosts[0].ID
			g.Expect(after.Hosts).To(HaveLen(1))
			g.Expect(tokenOf(t, after)).NotTo(Equal(tokenOf(t, before)))
			g.Expect(files(t, after, id)[configuration]).To(And(ContainSubstring(tokenOf(t, after)), ContainSubstring("192.0.2.10:6443")))
			g.Expect(after.Secrets["ca.key"]).To(Equal(before.Secrets["ca.key"]))

			g.Expect(told).To(HaveLen(1))
			g.Expect(told[0].token).To(Equal(token.Token{Text: tokenOf(t, after), Expires: o.Now.Add(token.Life)}))
			g.Expect(told[0].door.Endpoint).To(Equal("192.0.2.10:6443"))
			g.Expect(told[0].door.CA).To(Equal(before.Secrets["ca.crt"]))
			pair, err := tls.X509KeyPair(told[0].door.Certificate, told[0].door.Key)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(pair.Leaf.Subject.Organization).To(Equal([]string{"kubeadm:cluster-admins"}))
			g.Expect(pair.Leaf.NotAfter).To(BeTemporally("~", o.Now, time.Hour), "it is for this call alone")

			again := joining(role, after)
			again.Cluster.APIVIPs = nil
			g.Expect(tokenOf(t, mustMake(t, again))).NotTo(Equal(tokenOf(t, after)), "no host has the token of another one")
		})
	}
}

// TestAHostThatIsNotLetInGetsNothing: its disk is not written for a join that must fail.
func TestAHostThatIsNotLetInGetsNothing(t *testing.T) {
	g := NewWithT(t)
	refusal := errors.New("the cluster's API at 192.0.2.10:6443 does not answer")
	source := kubernetes.Source{Admit: func(context.Context, admission.Door, token.Token, time.Time) error { return refusal }}
	made, err := source.Make(t.Context(), joining(wire.HostRoleWorker, mustMake(t, order(3, 1))))
	g.Expect(err).To(MatchError(refusal))
	g.Expect(made).To(BeNil())
}

// TestAnInstallationAsksNobody: kubeadm makes its token when it initialises the cluster.
func TestAnInstallationAsksNobody(t *testing.T) {
	made, told := admitted(t, order(3, 1))
	NewWithT(t).Expect(made.Files).To(BeEmpty())
	NewWithT(t).Expect(told).To(BeEmpty())
}

func TestWhoInitialises(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*sources.Order)
		want   string
	}{
		"the one that the hub has chosen":           {func(o *sources.Order) { o.Hosts[0].Bootstrap, o.Hosts[2].Bootstrap = false, true }, "id-master-2"},
		"another one than the host that comes last": {func(o *sources.Order) { o.Hosts[0].Last = true }, "id-master-1"},
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

// TestTheLastHostInitialisesAlone: there is nobody else of the control plane.
func TestTheLastHostInitialisesAlone(t *testing.T) {
	g := NewWithT(t)
	o := order(1, 2)
	o.Hosts[0].Last = true
	g.Expect(files(t, mustMake(t, o), "id-master-0")).To(HaveKey(here + "init.sh"))
}

// TestAuthoritiesThatAreHandedIn are the cluster's; a set with a file too few is refused.
func TestAuthoritiesThatAreHandedIn(t *testing.T) {
	g := NewWithT(t)
	set, err := authorities.New(now)
	g.Expect(err).NotTo(HaveOccurred())
	source := kubernetes.Source{Authorities: set.Files()}
	made, err := source.Make(t.Context(), order(1, 0))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(made.Secrets).To(HaveKeyWithValue("ca.crt", set.Certificate()))
	delete(source.Authorities, "sa.key")
	_, err = source.Make(t.Context(), order(1, 0))
	g.Expect(err).To(MatchError(And(ContainSubstring("certificates that were handed in"), ContainSubstring("sa.key is missing"))))
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

// TestTheAddressOfALoadBalancerIsItsOwn: api_vips are those of the balancer then, wherever it is, and a host that
// carried one of them would take it away from the balancer.
func TestTheAddressOfALoadBalancerIsItsOwn(t *testing.T) {
	for name, tc := range map[string]struct {
		kind    string
		address wire.IP
		carried bool
	}{
		"the site's":                     {wire.LoadBalancerTypeUserManaged, "192.0.2.250", false},
		"the site's, in another network": {wire.LoadBalancerTypeUserManaged, "198.51.100.7", false},
		"none":                           {wire.LoadBalancerTypeClusterManaged, "192.0.2.250", true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			made := mustMake(t, changed(order(3, 1), func(o *sources.Order) {
				o.Cluster.APIVIPs[0].IP, o.Cluster.LoadBalancer = tc.address, &wire.LoadBalancer{Type: tc.kind}
			}))
			for _, id := range []string{"id-master-0", "id-master-1"} {
				g.Expect(string(made.Hosts[id])).To(WithTransform(func(raw string) bool { return strings.Contains(raw, "ironflow-vip.service") }, Equal(tc.carried)), id)
				all := files(t, made, id)
				g.Expect(all[configuration]).To(ContainSubstring(string(tc.address)+":6443"), "it is the endpoint all the same")
				if tc.carried {
					g.Expect(all).To(HaveKey("/etc/ironflow/kubernetes/keepalived.conf"))
				} else {
					g.Expect(all).NotTo(HaveKey("/etc/ironflow/kubernetes/keepalived.conf"))
				}
			}
		})
	}
}

// TestTimeServersOfTheInstalledSystem: those of both settings, each once.
func TestTimeServersOfTheInstalledSystem(t *testing.T) {
	for name, tc := range map[string]struct{ additional, sources, want string }{
		"one setting":       {"ntp1.example,192.0.2.1", "", "[Time]\nNTP=ntp1.example 192.0.2.1\n"},
		"the other setting": {"", "ntp2.example", "[Time]\nNTP=ntp2.example\n"},
		"both":              {"ntp1.example", "ntp2.example,ntp1.example", "[Time]\nNTP=ntp1.example ntp2.example\n"},
	} {
		t.Run(name, func(t *testing.T) {
			made := mustMake(t, changed(order(1, 1), func(o *sources.Order) {
				o.Cluster.AdditionalNTPSource, o.Cluster.NTPSources = tc.additional, tc.sources
			}))
			for _, id := range []string{"id-master-0", "id-worker-0"} {
				NewWithT(t).Expect(files(t, made, id)).To(HaveKeyWithValue("/etc/systemd/timesyncd.conf.d/10-ironflow.conf", tc.want))
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
