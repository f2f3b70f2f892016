package bmchealth

import (
	"context"
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
}

// +kubebuilder:rbac:groups=ironflow.io,resources=bmcs,verbs=get;list;watch
// +kubebuilder:rbac:groups=ironflow.io,resources=bmcs/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=metal3.io,resources=baremetalhosts,verbs=get;list;watch
// +kubebuilder:rbac:groups="";events.k8s.io,resources=events,verbs=create;patch;update

// Reconcile runs one pass for the host named by req.
func (r *reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	b, h := &v1alpha1.BMC{}, &metal3.BareMetalHost{}
	for _, o := range []kclient.Object{b, h} {
		if err := r.client.Get(ctx, req.NamespacedName, o); err != nil {
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
	before := b.DeepCopy()
	past, alerts, err := r.read(ctx, h, b, last.past)
	if err == nil {
		err = r.status.Save(ctx, before, b)
	}
	if err != nil {
		r.ask(req.NamespacedName, asked)
		return r.tryAgain(err)
	}
	now := kept{past, r.options.Now()}
	r.remember(req.NamespacedName, now)
	r.recorder.Record(h, b, told(alerts)...)
	return bmcstatus.Outcome(r.interval(b, now), nil)
}

// tryAgain is the end of a pass that failed. What a person has to mend is looked at again
// at the usual time: it may be a Secret, whose changes wake nobody here.
func (r *reconciler) tryAgain(err error) (ctrl.Result, error) {
	result, err := bmcstatus.Outcome(0, err)
	if err == nil && result.RequeueAfter == 0 {
		result.RequeueAfter = r.options.Interval
	}
	return result, err
}

// read asks the BMC and judges. That it is silent is a judgement, too.
func (r *reconciler) read(ctx context.Context, h *metal3.BareMetalHost, b *v1alpha1.BMC, past rules.Past) (rules.Past, []rules.Alert, error) {
	c, err := r.options.Connect(ctx, h)
	if err != nil {
		return past, nil, err // the controller of BMCs says what is wrong
	}
	reading, _ := health.Read(ctx, c, health.Options{Report: b.Status.Report, Past: past, Now: r.options.Now}) // the reading says why it is empty
	domains, next, alerts := rules.Judge(reading, past)
	b.Status.Health = domains
	healthy(b)
	return next, alerts, nil
}

// worstFirst are the states that a condition is made of, the worst first.
var worstFirst = []v1alpha1.HealthState{v1alpha1.HealthCritical, v1alpha1.HealthWarning}

// healthy says which part is worst. A domain that is not known says nothing against
// the others.
func healthy(b *v1alpha1.BMC) {
	known := false
	for _, state := range worstFirst {
		for _, d := range b.Status.Health {
			known = known || d.State != v1alpha1.HealthUnknown
			if d.State == state {
				reconcile.SetCondition(b, v1alpha1.Healthy, metav1.ConditionFalse, string(state), fmt.Sprintf("%s: %s", d.Domain, d.Message))
				return
			}
		}
	}
	if !known {
		reconcile.SetCondition(b, v1alpha1.Healthy, metav1.ConditionUnknown, ReasonUnread, "nothing is known of the parts: the BMC is silent, or the host is off")
		return
	}
	reconcile.SetCondition(b, v1alpha1.Healthy, metav1.ConditionTrue, ReasonAllWell, "the BMC shows no part that is not well")
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
