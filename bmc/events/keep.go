package events

import (
	"context"
	"errors"
	"fmt"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/client"
)

// Did is what was done about a subscription.
type Did string

// What can be done.
const (
	// Kept: it is there, as wanted.
	Kept Did = "Kept"
	// Adopted: it was found, and its path was not known.
	Adopted Did = "Adopted"
	// Made: it was not there.
	Made Did = "Made"
	// Nothing: there is none, and Problem says why.
	Nothing Did = "Nothing"
)

// State is how a subscription stands.
type State struct {
	Did Did
	// Path is the subscription's, to be given as Wanted.Known the next time.
	Path string
	// Removed is how many subscriptions of ours were removed that nobody needs.
	Removed int
	// Problem says why there is no subscription, and what to do about it; empty when
	// there is one.
	Problem string
	// Stream says that the BMC offers a stream of events instead, for [Follow].
	Stream bool
}

const (
	// maxSubscriptions is how many are looked at: more than BMCs take.
	maxSubscriptions = 64
	// attempts is how often a body is changed until the BMC likes it.
	attempts = 6
)

// Keep makes sure that a BMC has the wanted subscription, once: it looks whether the
// known one is still there, else finds it by its destination, else makes it. A BMC's
// reset may lose it or give it another path, so this is to be called in each slow
// look at the BMC. Others' subscriptions are not touched. An error is one that may
// pass; what a person has to mend is State.Problem.
func Keep(ctx context.Context, c BMC, report *v1alpha1.BMCReport, wanted *Wanted) (State, error) {
	if wanted.Known != "" {
		s, err := look(ctx, c, wanted.Known)
		// Some BMCs refuse a path that is not there any more.
		if kind := client.KindOf(err); err != nil && kind != client.NotSupported && kind != client.Refused {
			return State{}, wanted.conceal(err)
		}
		if err == nil && wanted.relate(s) == right {
			return State{Did: Kept, Path: wanted.Known}, nil
		}
	}
	k := keeper{c: c, wanted: wanted, report: report}
	state, err := k.keep(ctx)
	if text := problem(err); text != "" {
		return State{Did: Nothing, Problem: wanted.hide(text), Stream: state.Stream}, nil
	}
	return state, wanted.conceal(err)
}

// Remove takes all subscriptions of the host's keys away. A BMC without events has
// none.
func Remove(ctx context.Context, c BMC, wanted *Wanted) (removed int, err error) {
	service, err := readService(ctx, c)
	if errors.Is(err, errNoService) || err == nil && service.Subscriptions.Path == "" {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	k := keeper{c: c, wanted: wanted, service: service}
	found, err := k.find(ctx)
	if err != nil {
		return 0, err
	}
	if found != nil {
		k.stale = append(k.stale, found.path)
	}
	err = k.clear(ctx)
	return k.removed, wanted.conceal(err)
}

// keeper is one pass of Keep or Remove.
type keeper struct {
	c       BMC
	wanted  *Wanted
	report  *v1alpha1.BMCReport
	service *service
	stale   []string
	others  int
	removed int
}

func (k *keeper) keep(ctx context.Context) (State, error) {
	var err error
	if k.service, err = readService(ctx, k.c); errors.Is(err, errNoService) {
		return State{Did: Nothing, Problem: err.Error()}, nil
	} else if err != nil {
		return State{}, err
	}
	state := State{Did: Nothing, Stream: k.service.Stream.Path != ""}
	if state.Problem = k.service.off(k.report); state.Problem != "" {
		return state, nil
	}
	found, err := k.find(ctx)
	if err != nil {
		return state, err
	}
	if err := k.clear(ctx); err != nil {
		return state, err
	}
	state.Removed = k.removed
	if found != nil {
		state.Did, state.Path = Adopted, found.path
		return state, nil
	}
	return k.make(ctx, state)
}

// find goes through the subscriptions: the first that is as wanted is returned,
// ours that nobody needs are noted, as are doubles.
func (k *keeper) find(ctx context.Context) (*subscription, error) {
	paths, _, err := k.c.Members(ctx, k.service.Subscriptions.Path, maxSubscriptions)
	if err != nil {
		return nil, err
	}
	var found *subscription
	k.stale, k.others = nil, 0
	for _, path := range paths {
		s, err := look(ctx, k.c, path)
		if client.KindOf(err) == client.NotSupported {
			continue // it went meanwhile
		}
		if err != nil {
			return nil, err
		}
		switch relation := k.wanted.relate(s); {
		case relation == foreign:
			k.others++
		case relation == right && found == nil:
			found = s
		default:
			k.stale = append(k.stale, path)
		}
	}
	return found, nil
}

func look(ctx context.Context, c getter, path string) (*subscription, error) {
	s := &subscription{path: path}
	return s, c.Get(ctx, path, s)
}

// clear removes what was noted.
func (k *keeper) clear(ctx context.Context) error {
	for _, path := range k.stale {
		if _, err := k.c.Delete(ctx, path); err != nil && client.KindOf(err) != client.NotSupported {
			return err
		}
		k.removed++
	}
	k.stale = nil
	return nil
}

// make subscribes. What a BMC refuses in the body is left out, what it misses added.
func (k *keeper) make(ctx context.Context, state State) (State, error) {
	body, spare := k.wanted.body(k.service, k.report)
	for range attempts {
		answer, err := k.c.Post(ctx, k.service.Subscriptions.Path, body)
		switch {
		case err == nil:
			return k.made(ctx, state, answer)
		case said(err, "EventSubscriptionLimitExceeded"):
			state.Problem = fmt.Sprintf("the BMC takes no more event subscriptions, and all %d are others': remove one that nobody needs", k.others)
			return state, nil
		case said(err, "ResourceAlreadyExists", "PropertyValueModified"):
			return k.adopt(ctx, state, err)
		case !adapt(body, spare, err):
			return state, err
		}
	}
	return state, errors.New("the BMC refused each form of the subscription")
}

// made finds out the path of the new subscription.
func (k *keeper) made(ctx context.Context, state State, answer *client.Answer) (State, error) {
	state.Did, state.Path = Made, answer.Location()
	if state.Path == "" || state.Path == k.service.Subscriptions.Path {
		found, err := k.find(ctx)
		if err != nil {
			return state, err
		}
		if found == nil {
			return state, errors.New("the BMC accepted the subscription, but does not list it")
		}
		state.Path = found.path
	}
	return state, nil
}

// adopt takes the subscription that the BMC says is there already.
func (k *keeper) adopt(ctx context.Context, state State, refusal error) (State, error) {
	found, err := k.find(ctx)
	if err != nil {
		return state, err
	}
	if found == nil {
		return state, refusal
	}
	state.Did, state.Path = Adopted, found.path
	return state, nil
}
