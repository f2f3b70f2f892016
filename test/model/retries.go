package model

import (
	"strings"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"

	"github.com/ironflow/ironflow/ironic"
)

// attempts counts the requests for a provision state that a run makes.
func (r *run) attempts() int {
	count := 0
	for _, told := range r.world.told {
		if strings.HasPrefix(told, "asks Ironic: "+provisionState) {
			count++
		}
	}
	r.world.told = nil
	return count
}

// noise is what others do to a host's objects, which is no reason to try anything again.
type noise struct {
	name string
	make func(w *World, about string)
	// fails is the move by which what Ironic does fails.
	fails string
	// in is the only state of a node in which that happens; empty for all.
	in ironic.ProvisionState
}

// Moves by which what Ironic does fails: for a reason of the machine, and for its own.
const (
	failing = "Ironic fails with"
	cutOffs = "a restart of Ironic cuts off"
)

// noises are all that a host hears without being asked for anything.
var noises = []noise{
	{"nothing", func(*World, string) {}, failing, ""},
	{"labels on the Secret", func(w *World, about string) {
		w.changeSecret(about, func(s *corev1.Secret) { s.Labels = with(s.Labels, "some", s.Labels["some"]+"i") })
	}, failing, ""},
	{"annotations of others", func(w *World, about string) {
		w.edit(about, func(h *metal3.BareMetalHost) {
			h.Annotations = with(h.Annotations, "somebody/else", h.Annotations["somebody/else"]+"i")
		})
	}, failing, ""},
	{"restarts of the controller", func(w *World, _ string) { w.restart() }, failing, ""},
	{"restarts of Ironic", func(*World, string) {}, cutOffs, ""},
	{"deployments alone that fail", func(*World, string) {}, failing, ironic.StateDeployWait},
	{"deployments alone that restarts of Ironic cut off", func(*World, string) {}, cutOffs, ironic.StateDeployWait},
	{"inspections alone that restarts of Ironic cut off", func(*World, string) {}, cutOffs, ironic.StateInspectWait},
}

// failing lets everything that Ironic does fail for as long as patience lasts, with
// noise every ten minutes, and counts how often it was asked for something.
func (r *run) failing(w *World, about string, n noise) int {
	began, next, count := w.Now, w.Now, 0
	r.telling, r.upset = true, upset{}
	defer func() { r.telling = false }()
	for range 10 * longLife {
		if w.Now.Sub(began) > patience || w.broken != "" {
			break
		}
		if !w.Now.Before(next) {
			next = w.Now.Add(10 * time.Minute)
			n.make(w, about)
			r.toRest(w)
			count += r.attempts()
		}
		m, more := w.fair()
		switch {
		case !more || m.name == worldMoves[0].name && w.due().After(next):
			w.later(max(next.Sub(w.Now), time.Second))
			r.toRest(w)
		case m.name == nodeMoves[0].name:
			for _, fails := range nodeMoves {
				if n.in != "" && w.nodes[m.about].ProvisionState != n.in {
					r.make(w, step{move: m})
					break
				}
				if fails.name == n.fails {
					fails.kind, fails.about = free, m.about
					r.make(w, step{move: fails})
				}
			}
		default:
			r.make(w, step{move: m})
		}
		count += r.attempts()
	}
	return count
}
