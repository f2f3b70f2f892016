package bmchealth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	kclient "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/health"
	"github.com/ironflow/ironflow/bmc/health/rules"
	"github.com/ironflow/ironflow/controllers/bmcstatus"
	"github.com/ironflow/ironflow/controllers/reconcile"
)

// Reasons of Healthy, besides the states.
const (
	ReasonAllWell = "AllWell"
	ReasonUnread  = "Unread"
)

// Reasons of events.
const (
	EventWarning  = "HardwareWarning"
	EventCritical = "HardwareCritical"
	EventWell     = "HardwareWell"
)

// reconciler reads the health of one host; its key is the host's.
type reconciler struct {
	client   kclient.Client
	status   bmcstatus.Writer
	options  Options
	recorder reconcile.Recorder

	mu   sync.Mutex
	past map[types.NamespacedName]kept
	// asked has the hosts whose BMCs have had something to say since they were read.
	asked map[types.NamespacedName]bool
}

// kept is what is remembered of a host.
type kept struct {
	past rules.Past
	read time.Time
	// silent says that nothing was learned then.
	silent bool
}

// +kubebuilder:rbac:groups=ironflow.io,resources=bmcs,verbs=get;list;watch
// +kubebuilder:rbac:groups=ironflow.io,resources=bmcs/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=metal3.io,resources=baremetalhosts,verbs=get;list;watch
// +kubebuilder:rbac:groups="";events.k8s.io,resources=events,verbs=create;patch;update

// Reconcile runs one pass for the host named by req.
func (r *reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	b, h := &v1alpha1.BMC{}, &metal3.BareMetalHost{}
	for _, o := range []kclient.Object{b, h} { // as they are in the cache: most passes only find that it is too early
		if err := r.client.Get(ctx, req.NamespacedName, o, kclient.UnsafeDisableDeepCopy); err != nil {
			r.forget(req.NamespacedName)
			return ctrl.Result{}, kclient.IgnoreNotFound(err)
		}
	}
	if reconcile.KeptOff(h) != "" || b.Status.Report == nil || !h.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil // a change of the host or of its BMC wakes it
	}
	last := r.remembered(req.NamespacedName)
	if wait := r.due(h, b, last).Sub(r.options.Now()); wait > 0 {
		return ctrl.Result{RequeueAfter: wait}, nil
	}
	asked := r.heed(req.NamespacedName) // what is told from now on asks for another reading
	before := b
	b, h = b.DeepCopy(), h.DeepCopy()
	reading, err := r.read(ctx, h, b, last.past)
	if err != nil {
		r.ask(req.NamespacedName, asked)
		return bmcstatus.Outcome(0, err)
	}
	domains, past, alerts := rules.Judge(reading, last.past)
	now := kept{past, r.options.Now(), reading.Silent != ""} // it was read now: what follows may take its time
	b.Status.Health = domains
	healthy(b)
	err = r.status.Save(ctx, before, b)
	if err != nil {
		r.ask(req.NamespacedName, asked)
		return bmcstatus.Outcome(0, err)
	}
	r.remember(req.NamespacedName, now)
	r.recorder.Record(h, b, told(alerts)...)
	return bmcstatus.Outcome(r.interval(b, now), nil)
}

// longest bounds a reading: only so many BMCs are read at once, and those that take their time
// are not to hold up the others. What is left has its turn in the next one.
const longest = 2 * time.Minute

var errTooLong = errors.New("the BMC took too long to answer")

// read asks the BMC. That it is silent is a reading too, and so is what a person has to mend
// before it can be asked: what was seen until then is not said of now.
func (r *reconciler) read(ctx context.Context, h *metal3.BareMetalHost, b *v1alpha1.BMC, past rules.Past) (rules.Reading, error) {
	c, err := r.options.Connect(ctx, h)
	if stalled, is := errors.AsType[*reconcile.Stalled](err); is {
		return rules.Reading{Time: r.options.Now(), Silent: stalled.Error()}, nil
	}
	if err != nil {
		return rules.Reading{}, err
	}
	ctx, stop := context.WithTimeoutCause(ctx, cmp.Or(r.options.Longest, longest), errTooLong)
	defer stop()
	reading, _ := health.Read(ctx, c, health.Options{Report: b.Status.Report, Past: past, Now: r.options.Now}) // the reading says why it is empty
	return reading, nil
}

// worstFirst are the states that a condition is made of, the worst first.
var worstFirst = []v1alpha1.HealthState{v1alpha1.HealthCritical, v1alpha1.HealthWarning}

// healthy says which part is worst. A domain that is not known says nothing against
// the others; the log alone says nothing for the parts.
func healthy(b *v1alpha1.BMC) {
	for _, state := range worstFirst {
		for _, d := range b.Status.Health {
			if d.State == state {
				reconcile.SetCondition(b, v1alpha1.Healthy, metav1.ConditionFalse, string(state), fmt.Sprintf("%s: %s", d.Domain, d.Message))
				return
			}
		}
	}
	why := ""
	for _, d := range b.Status.Health {
		switch {
		case d.Domain == string(rules.Log):
		case d.State != v1alpha1.HealthUnknown:
			reconcile.SetCondition(b, v1alpha1.Healthy, metav1.ConditionTrue, ReasonAllWell, "the BMC shows no part that is not well")
			return
		default:
			why = cmp.Or(why, d.Message)
		}
	}
	reconcile.SetCondition(b, v1alpha1.Healthy, metav1.ConditionUnknown, ReasonUnread, "nothing is known of the parts: "+why)
}

// told are the alerts as events of the host.
func told(alerts []rules.Alert) []reconcile.Event {
	var list []reconcile.Event
	for _, a := range alerts {
		reason := EventWarning
		switch a.Severity {
		case v1alpha1.HealthCritical:
			reason = EventCritical
		case v1alpha1.HealthOK:
			reason = EventWell
		default:
		}
		list = append(list, reconcile.Event{Warning: reason != EventWell, Reason: reason, Message: fmt.Sprintf("%s: %s", a.Domain, a.Message)})
	}
	return list
}

func (r *reconciler) remembered(key types.NamespacedName) kept {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.past[key]
}

func (r *reconciler) remember(key types.NamespacedName, k kept) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.past[key] = k
}

func (r *reconciler) forget(key types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.past, key)
	delete(r.asked, key)
}

// ask notes that a host's BMC has something to say.
func (r *reconciler) ask(key types.NamespacedName, really bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if really {
		r.asked[key] = true
	}
}

// heed takes the note back, and says whether there was one.
func (r *reconciler) heed(key types.NamespacedName) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	asked := r.asked[key]
	delete(r.asked, key)
	return asked
}

func (r *reconciler) wasAsked(key types.NamespacedName) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.asked[key]
}

// Connect makes the client of a host's BMC.
type Connect func(ctx context.Context, h *metal3.BareMetalHost) (*client.Client, error)
