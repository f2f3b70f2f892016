package bmcevents

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	kclient "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/events"
	"github.com/ironflow/ironflow/bmc/events/meaning"
	"github.com/ironflow/ironflow/controllers/bmcstatus"
	"github.com/ironflow/ironflow/controllers/reconcile"
)

// reconciler keeps the subscription of one host's BMC; its key is the host's.
type reconciler struct {
	client     kclient.Client
	options    Options
	dispatcher *Dispatcher
	status     bmcstatus.Writer
	streams    *streams
	recorder   reconcile.Recorder

	mu      sync.Mutex
	looks   map[types.NamespacedName]look
	parting map[types.NamespacedName][]*parting
}

// +kubebuilder:rbac:groups=ironflow.io,resources=bmcs,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=ironflow.io,resources=bmcs/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=metal3.io,resources=baremetalhosts,verbs=get;list;watch
// +kubebuilder:rbac:groups="";events.k8s.io,resources=events,verbs=create;patch;update

// Reconcile runs one pass for the host named by req.
func (r *reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	h := &metal3.BareMetalHost{}
	if err := r.client.Get(ctx, req.NamespacedName, h); err != nil {
		if !apierrors.IsNotFound(err) {
			return ctrl.Result{}, err
		}
		r.forget(req.NamespacedName)
		return ctrl.Result{RequeueAfter: r.part(ctx, req.NamespacedName, nil)}, nil
	}
	if reconcile.KeptOff(h) != "" {
		r.streams.end(req.NamespacedName)
		return ctrl.Result{}, nil // a change of the host wakes it
	}
	b := &v1alpha1.BMC{}
	leaves := !h.DeletionTimestamp.IsZero()
	// The kind BMC may go before a host that leaves; else the controller of BMCs makes it,
	// which wakes the host.
	if err := r.client.Get(ctx, req.NamespacedName, b); err != nil && (!leaves || !apierrors.IsNotFound(err)) {
		return ctrl.Result{}, kclient.IgnoreNotFound(err)
	}
	if leaves {
		return r.leave(ctx, h, b)
	}
	r.moved(h)
	if err := r.begin(ctx, h, r.left(h, b)); err != nil {
		return reconcile.Resolve(err)
	}
	result, err := bmcstatus.Outcome(r.pass(ctx, h, b))
	if wait := r.rest(ctx, h, b); wait > 0 && (result.RequeueAfter == 0 || wait < result.RequeueAfter) {
		result.RequeueAfter = wait
	}
	if err != nil {
		return ctrl.Result{}, err
	}
	return result, nil
}

// pass does what is due, and says when the next is.
func (r *reconciler) pass(ctx context.Context, h *metal3.BareMetalHost, b *v1alpha1.BMC) (time.Duration, error) {
	key := kclient.ObjectKeyFromObject(h)
	f := facts{Now: r.options.Now(), Every: r.options.Every, UnderWay: underWay(h), Last: r.last(key)}
	f.Away = away(h, b, f.Last)
	f.Wanted = fmt.Sprint(generation(h), " ", r.options.URL, " ", baseOf(h), " ", probedAt(b))
	if f.Last.Arrives != arrives && r.dispatcher.lastHeard(h.UID).After(f.Last.At) && !f.Last.At.IsZero() {
		f.Last.arrived()
		r.remember(key, f.Last)
	}
	p := decide(f)
	if p.Look {
		var err error
		if f.Last, err = r.look(ctx, h, b, f); err != nil {
			return 0, err
		}
		f.Now = f.Last.At
		r.remember(key, f.Last)
		p = decide(f)
	}
	// What was found is said in each pass: in the one that found it, others may have
	// written in between.
	before := b.DeepCopy()
	if v := f.Last.Verdict; v.Reason != "" {
		reconcile.SetCondition(b, v1alpha1.Subscribed, v.Status, v.Reason, v.Message)
	}
	if err := r.status.Save(ctx, before, b); err != nil {
		return 0, err
	}
	return p.Wait, r.follow(ctx, h, p.Follow)
}

// away reports a BMC that is not to be asked: nothing is known of it yet, or only of the
// one before it, or its firmware is being changed, when BMCs answer nonsense.
func away(h *metal3.BareMetalHost, b *v1alpha1.BMC, last look) bool {
	other := b.Status.Probed != nil && !strings.HasPrefix(b.Status.Probed.Address+"/", baseOf(h)+"/")
	return b.Status.Report == nil || other || h.Status.Provisioning.State == metal3.StatePreparing && !last.At.IsZero()
}

// probedAt is when and where the report was made: after other firmware, a subscription is
// looked for at once. Two BMCs may be probed within a second.
func probedAt(b *v1alpha1.BMC) string {
	if b.Status.Probed == nil {
		return ""
	}
	return fmt.Sprint(b.Status.Probed.Time.Unix(), " ", b.Status.Probed.Address)
}

// longestLook bounds a look at a BMC, and testTime how long a test event may take.
const (
	longestLook = 2 * time.Minute
	testTime    = 30 * time.Second
)

var errTooLong = errors.New("the BMC took too long to answer")

// look looks after the subscription. That the BMC could not be asked is a finding, too.
func (r *reconciler) look(ctx context.Context, h *metal3.BareMetalHost, b *v1alpha1.BMC, f facts) (look, error) {
	ctx, stop := context.WithTimeoutCause(ctx, longestLook, errTooLong)
	defer stop()
	found := look{Wanted: f.Wanted, Source: sourceOf(h)}
	wanted, err := r.wanted(ctx, h)
	if err != nil {
		return found, err
	}
	if err := r.enter(ctx, h, b); err != nil {
		return found, err
	}
	wanted.Known = f.Last.Known
	var state events.State
	c, err := r.options.Connect(ctx, h)
	if err == nil {
		state, err = events.Keep(ctx, c, b.Status.Report, wanted)
	}
	if err != nil {
		found = f.Last
		found.At, found.Wanted, found.Source, found.Failures = r.options.Now(), f.Wanted, sourceOf(h), f.Last.Failures+1
		found.Verdict = verdict{metav1.ConditionUnknown, ReasonUnreachable, "the subscription could not be looked at: " + err.Error()}
		return found, nil
	}
	if state.Did == events.Made && meta.FindStatusCondition(b.Status.Conditions, v1alpha1.Subscribed) != nil {
		r.dispatcher.wake(kclient.ObjectKeyFromObject(h), f.UnderWay, meaning.Look) // what happened without it was not told
	}
	// One that is where it was is looked at alone, so that nothing is said of streams.
	found.Known, found.Stream = state.Path, state.Stream || state.Did == events.Kept && f.Last.Stream
	state.Stream, found.Arrives = found.Stream, arrivalOf(b, f.Last)
	var took time.Duration
	var problem error
	tested := proves(state.Did, found.Arrives)
	if tested {
		found.Arrives, took, problem = r.prove(ctx, h, b, c)
	}
	found.Verdict = judge(state, found.Arrives, took, problem)
	if !tested {
		found.Verdict = found.Verdict.unless(meta.FindStatusCondition(b.Status.Conditions, v1alpha1.Subscribed))
	}
	found.At = r.options.Now()
	return found, nil
}

// arrivalOf is what is known of events that arrived. After a start, the condition knows.
func arrivalOf(b *v1alpha1.BMC, last look) arrival {
	c := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.Subscribed)
	switch {
	case !last.At.IsZero(), c == nil:
		return last.Arrives
	case c.Reason == ReasonArrives:
		return arrives
	case c.Reason == ReasonMissing:
		return missing
	default:
		return untested
	}
}

// prove has the BMC send a test event. A BMC that cannot, or does not want to, is not
// tested.
func (r *reconciler) prove(ctx context.Context, h *metal3.BareMetalHost, b *v1alpha1.BMC, c *client.Client) (arrival, time.Duration, error) {
	ctx, stop := context.WithTimeout(ctx, r.options.TestTime)
	defer stop()
	took, err := events.Prove(ctx, c, b.Status.Report, r.dispatcher.await(h.UID), r.options.Now)
	switch {
	case err == nil:
		return arrives, max(took, time.Millisecond), nil
	case errors.Is(err, events.ErrNotArrived):
		return missing, 0, err
	default:
		return untested, 0, nil
	}
}

// follow begins or ends to read the stream of a host's BMC.
func (r *reconciler) follow(ctx context.Context, h *metal3.BareMetalHost, on bool) error {
	key := kclient.ObjectKeyFromObject(h)
	if !on {
		r.streams.end(key)
		return nil
	}
	c, err := r.options.Connect(ctx, h)
	if err != nil {
		return err
	}
	r.dispatcher.begins(h.UID)
	r.streams.begin(key, sourceOf(h), c)
	return nil
}

func (r *reconciler) last(key types.NamespacedName) look {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.looks[key]
}

func (r *reconciler) remember(key types.NamespacedName, l look) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.looks[key] = l
}

// forget lets go of what is kept of a host but its parting.
func (r *reconciler) forget(key types.NamespacedName) {
	r.streams.end(key)
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.looks, key)
}
