package progress

import (
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
)

// address is a MAC address in lower case, within one infra-env.
type address struct{ infraEnv, mac string }

// views is what is remembered of the hub's hosts, by address. It holds nothing but
// what can be asked for again.
type views struct {
	mu sync.Mutex
	// following tells that news of the hub arrive: only then may an answer be kept.
	following bool
	// news counts what has arrived, so that an answer that is older is not kept.
	news uint64
	// known has the address's host; absent the addresses that the hub knows no host
	// for, or more than one.
	known  map[address]service.HostView
	absent map[address]bool
	// askers are the BareMetalHosts that asked for an address: who to wake.
	askers map[address]map[types.NamespacedName]bool
}

func newViews() *views {
	return &views{known: map[address]service.HostView{}, absent: map[address]bool{}, askers: map[address]map[types.NamespacedName]bool{}}
}

// follow says that news arrive from now on.
func (v *views) follow() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.following = true
	v.news++
}

// get returns what is remembered of the address. Nothing remembered is
// answered with ask true, and with what put wants to be given.
func (v *views) get(at address, asker types.NamespacedName) (view service.HostView, found, ask bool, news uint64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.askers[at] == nil {
		v.askers[at] = map[types.NamespacedName]bool{}
	}
	v.askers[at][asker] = true
	view, found = v.known[at]
	return view, found, !found && !v.absent[at], v.news
}

// put remembers the hub's answer, unless there was news in the meantime.
func (v *views) put(at address, view service.HostView, found bool, news uint64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case !v.following || v.news != news:
	case found:
		v.known[at] = view
	default:
		v.absent[at] = true
	}
}

// update takes the news of one host with the given addresses, and returns the
// BareMetalHosts that are concerned. Only what is known to be this host's is
// renewed: for an address that is new or was another host's, or of a host that has
// not booted an image of its own, whose it is is the hub's to say, when it is asked next.
func (v *views) update(key store.HostKey, view service.HostView, macs []string) []types.NamespacedName {
	return v.change(key, macs, func(at address) {
		if v.known[at].Key == key && !view.Shared {
			v.known[at] = view
			return
		}
		delete(v.known, at)
	})
}

// forget drops a host that is gone, and returns the BareMetalHosts that are
// concerned. An address that it shared may be clear now, and which it had is not
// known any more.
func (v *views) forget(key store.HostKey) []types.NamespacedName {
	concerned := v.change(key, nil, func(at address) { delete(v.known, at) })
	v.mu.Lock()
	defer v.mu.Unlock()
	maps.DeleteFunc(v.absent, func(at address, _ bool) bool { return at.infraEnv == key.InfraEnvID })
	return concerned
}

// forgetAll drops everything, since news may have been missed, and returns all
// BareMetalHosts that asked.
func (v *views) forgetAll() []types.NamespacedName {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.news++
	clear(v.known)
	clear(v.absent)
	concerned := map[types.NamespacedName]bool{}
	for _, askers := range v.askers {
		maps.Copy(concerned, askers)
	}
	return sorted(concerned)
}

// change does something to each of the addresses that are given or remembered
// for the host.
func (v *views) change(key store.HostKey, macs []string, do func(at address)) []types.NamespacedName {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.news++
	var all []address
	for _, mac := range macs {
		all = append(all, address{infraEnv: key.InfraEnvID, mac: mac})
	}
	for at, known := range v.known {
		if known.Key == key {
			all = append(all, at)
		}
	}
	concerned := map[types.NamespacedName]bool{}
	for _, at := range all {
		delete(v.absent, at)
		do(at)
		maps.Copy(concerned, v.askers[at])
	}
	return sorted(concerned)
}

func sorted(names map[types.NamespacedName]bool) []types.NamespacedName {
	return slices.SortedFunc(maps.Keys(names), func(a, b types.NamespacedName) int {
		return slices.Compare([]string{a.Namespace, a.Name}, []string{b.Namespace, b.Name})
	})
}

// leave forgets a BareMetalHost that is gone.
func (v *views) leave(asker types.NamespacedName) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for at, askers := range v.askers {
		delete(askers, asker)
		if len(askers) == 0 {
			delete(v.askers, at)
			delete(v.absent, at)
		}
	}
}
