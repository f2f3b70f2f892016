package fleet

import (
	"sync"

	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/settle"
	"github.com/ironflow/ironflow/hub/store"
)

// maxHosts bounds the hosts of an infra-env. Who has its shared image has its token, and can make up ids without end.
const maxHosts = 20_000

// fullError puts off a host that its infra-env has no room for.
type fullError struct{ reason error }

func (e *fullError) Error() string { return e.reason.Error() }

// Unwrap makes it a refusal for now.
func (e *fullError) Unwrap() error { return e.reason }

// room is for how many more hosts infra-envs have room, without their hosts being counted each time: with 10,000 of them
// that is 1.8 of the 2.3 ms that a registration takes. The zero value knows of none.
type room struct {
	mu sync.Mutex
	// left is how many more hosts may register before those of an infra-env are counted again.
	left map[string]int
}

// forOneMore is an error if the infra-env has no room for a new host.
func (r *room) forOneMore(w *settle.Work, env *store.InfraEnv) error {
	there, err := r.take(env.API.ID, func() (int, error) { return w.Reader.CountHosts(env.API.ID, maxHosts) })
	if err != nil || there {
		return err
	}
	return &fullError{apierror.Later("infra-env %s has %d hosts, and can have no more; remove hosts that are gone, or boot the others from the image of another infra-env", env.API.Name, maxHosts)}
}

// atOnce is how many hosts may register before they are counted again. Each further replica of the hub may let so many
// more in than the bound.
const atOnce = 1_000

// take takes a place, if there is one. Work that is done again takes another, and hosts are counted the sooner.
func (r *room) take(infraEnv string, count func() (int, error)) (bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.left[infraEnv] > 0 {
		r.left[infraEnv]--
		return true, nil
	}
	delete(r.left, infraEnv)
	have, err := count()
	if err != nil || have >= maxHosts {
		return false, err
	}
	if r.left == nil {
		r.left = map[string]int{}
	}
	if others := min(maxHosts-have, atOnce) - 1; others > 0 { // beside the one that is taken now
		r.left[infraEnv] = others
	}
	return true, nil
}
