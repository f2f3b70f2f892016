package evaluate

import (
	"fmt"
	"math/rand/v2"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/wire"
)

const (
	master  = wire.HostRoleMaster
	arbiter = wire.HostRoleArbiter
	worker  = wire.HostRoleWorker
)

var both = []wire.HostRole{master, arbiter}

func TestAssign(t *testing.T) {
	for name, tc := range map[string]struct {
		hosts             []Strength
		masters, arbiters int
		want              map[string]wire.HostRole
	}{
		"the smallest that suffice are masters": {
			[]Strength{{ID: "a", CPUs: 2}, {ID: "b", CPUs: 16, Fits: both}, {ID: "c", CPUs: 8, Fits: both}, {ID: "d", CPUs: 4, Fits: both}},
			2, 0,
			map[string]wire.HostRole{"a": worker, "b": worker, "c": master, "d": master},
		},
		"then arbiters, which need less": {
			[]Strength{{ID: "a", CPUs: 2, Fits: []wire.HostRole{arbiter}}, {ID: "b", CPUs: 16, Fits: both}, {ID: "c", CPUs: 8, Fits: both}, {ID: "d", CPUs: 4, Fits: both}},
			2, 1,
			map[string]wire.HostRole{"a": arbiter, "b": worker, "c": master, "d": master},
		},
		"equal CPUs: memory decides, then disk, then the id": {
			[]Strength{
				{ID: "d", CPUs: 8, Fits: both}, {ID: "c", CPUs: 8, Fits: both}, {ID: "b", CPUs: 8, DiskBytes: 1, Fits: both}, {ID: "a", CPUs: 8, MemoryBytes: 1, Fits: both},
			},
			3, 0,
			map[string]wire.HostRole{"a": worker, "b": master, "c": master, "d": master},
		},
		"an accelerator makes a worker": {
			[]Strength{{ID: "a", CPUs: 8, GPUs: 1, Fits: both}, {ID: "b", CPUs: 64, Fits: both}},
			1, 0,
			map[string]wire.HostRole{"a": worker, "b": master},
		},
		"unless nobody else is there": {
			[]Strength{{ID: "a", GPUs: 1, Fits: both}}, 1, 0, map[string]wire.HostRole{"a": master},
		},
		"one comes before all others": {
			[]Strength{{ID: "a", CPUs: 8, Fits: both}, {ID: "b", CPUs: 64, Fits: both, First: true}},
			1, 0,
			map[string]wire.HostRole{"a": worker, "b": master},
		},
		"but not where it cannot be": {
			[]Strength{{ID: "a", CPUs: 64, Fits: both}, {ID: "b", CPUs: 8, First: true}},
			1, 0,
			map[string]wire.HostRole{"a": master, "b": worker},
		},
		"a given role is kept and counts": {
			[]Strength{{ID: "a", CPUs: 1, Given: master}, {ID: "b", CPUs: 64, Fits: both, Given: worker}, {ID: "c", CPUs: 8, Fits: both, Given: wire.HostRoleAutoAssign}},
			1, 0,
			map[string]wire.HostRole{"a": master, "b": worker, "c": worker},
		},
		"who does not meet the requirements is no master": {
			[]Strength{{ID: "a", CPUs: 64}, {ID: "b", CPUs: 2, Fits: []wire.HostRole{arbiter}}, {ID: "c", CPUs: 4, Fits: both}},
			2, 1,
			map[string]wire.HostRole{"a": worker, "b": arbiter, "c": master},
		},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(assign(tc.hosts, tc.masters, tc.arbiters)).To(Equal(tc.want))
		})
	}
}

func TestTheOrderOfTheHostsDoesNotMatter(t *testing.T) {
	g := NewWithT(t)
	random := rand.New(rand.NewPCG(1, 1))
	var hosts []Strength
	for i := range 50 {
		hosts = append(hosts, Strength{ID: fmt.Sprint(i), CPUs: int64(random.IntN(3)), GPUs: random.IntN(2), Fits: both})
	}
	want := assign(hosts, 3, 1)
	for range 20 {
		random.Shuffle(len(hosts), func(i, j int) { hosts[i], hosts[j] = hosts[j], hosts[i] })
		g.Expect(assign(hosts, 3, 1)).To(Equal(want))
	}
}
