package selfcheck

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/client-go/rest"
)

const (
	// soonest and latest are how long an answer counts by which a right is missing, however often /readyz is asked: twice as long each time. A role that
	// was made together with the pod takes a moment, and an authorizer that refuses everything is asked some hundred questions.
	soonest, latest = 5 * time.Second, time.Minute
	// askPatience is how long an API server may take to answer them all.
	askPatience = 30 * time.Second
)

// dispensable are resources without which all work goes on: definitions are compared only, events are for people, reviews are of those who read metrics.
var dispensable = []string{"customresourcedefinitions", "events", "subjectaccessreviews", "tokenreviews"}

// Allowed is the readiness check of rights. It asks as [Rights] does, but few times: one that had all rights without which it cannot work stays
// ready, since installations that have begun need it, and one that lacks some asks again after some seconds, and at least each minute. Where the API server does
// not answer, what it said before counts, and nothing is known to be missing if it said nothing.
type Allowed struct {
	// Access is the API server, Rules and Namespaces are what is needed.
	Access     *rest.Config
	Rules      []rbacv1.PolicyRule
	Namespaces []string
	// Tell is told each answer.
	Tell func(Report)
	// Now is the clock.
	Now func() time.Time

	mu sync.Mutex
	// asked is when the last answer came and wait how long it counts, asking is closed once there is the next one.
	asked  time.Time
	wait   time.Duration
	asking chan struct{}
	// whole says that there is nothing to ask any more, lack is what is missing.
	whole bool
	lack  error
}

// Begin has the API server asked, and does not wait for the answer.
func (a *Allowed) Begin(ctx context.Context) { a.ask(ctx) }

// Ready is nil unless a right is missing without which nothing can work, or not known yet. It waits for an answer until ctx ends.
func (a *Allowed) Ready(ctx context.Context) error {
	if answered := a.ask(ctx); answered != nil {
		select {
		case <-answered:
		case <-ctx.Done():
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.asked.IsZero() {
		return errors.New("the API server has not said yet which rights there are")
	}
	return a.lack
}

// ask has the API server asked, unless that is under way or was lately, and returns what is closed by the answer.
func (a *Allowed) ask(ctx context.Context) <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.asking != nil {
		return a.asking
	}
	if a.whole || !a.asked.IsZero() && a.Now().Sub(a.asked) < a.wait {
		return nil
	}
	answered := make(chan struct{})
	a.asking = answered
	ctx = context.WithoutCancel(ctx) // who asked may have gone, others wait
	go func() {
		defer close(answered)
		a.remember(ctx)
		a.mu.Lock()
		defer a.mu.Unlock()
		a.asking = nil
	}()
	return answered
}

// remember asks, and keeps what /readyz has to know of the answer.
func (a *Allowed) remember(ctx context.Context) {
	ctx, stop := context.WithTimeout(ctx, askPatience)
	defer stop()
	check := Check{rightsCheck, func(ctx context.Context) []Finding {
		findings, refused := askForRights(ctx, a.Access, questions(a.Rules, a.Namespaces))
		needed := slices.DeleteFunc(refused, func(q authorizationv1.ResourceAttributes) bool { return slices.Contains(dispensable, q.Resource) })
		a.mu.Lock()
		defer a.mu.Unlock()
		a.asked, a.wait = a.Now(), min(latest, max(soonest, 2*a.wait))
		switch {
		case len(needed) > 0:
			a.lack = errors.New("rights are missing: " + spelled(needed))
		case findings[0].Level == OK || refused != nil:
			a.whole, a.lack = true, nil
		}
		return findings
	}}
	a.Tell(Run(ctx, []Check{check}))
}
