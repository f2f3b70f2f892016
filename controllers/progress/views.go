package progress

import (
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
)

// views is what is remembered of the hub's hosts, by MAC address in lower case.
// It holds nothing but what can be asked for again.
type views struct {
	mu sync.Mutex
	// following tells that news of the hub arrive: only then may an answer be kept.
	following bool
	// news counts what has arrived, so that an answer that is older is not kept.
	news uint64
	// known has the address's newest registration; absent the addresses that the
	// hub knows no host for.
	known  map[string]service.HostView
	absent map[string]bool
	// askers are the BareMetalHosts that asked for an address: who to wake.
	askers map[string]map[types.NamespacedName]bool
}

func newViews() *views {
	return &views{known: map[string]service.HostView{}, absent: map[string]bool{}, askers: map[string]map[types.NamespacedName]bool{}}
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
func (v *views) get(mac string, asker types.NamespacedName) (view service.HostView, found, ask bool, news uint64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.askers[mac] == nil {
		v.askers[mac] = map[types.NamespacedName]bool{}
	}
	v.askers[mac][asker] = true
	view, found = v.known[mac]
	return view, found, !found && !v.absent[mac], v.news
}

// put remembers the hub's answer, unless there was news in the meantime.
func (v *views) put(mac string, view service.HostView, found bool, news uint64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case !v.following || v.news != news:
	case found:
		v.known[mac] = view
	default:
		v.absent[mac] = true
	}
}

// update takes the news of one host with the given addresses, and returns the
// BareMetalHosts that are concerned. Only what is known to be this host's is
// renewed: for an address that is new or was another host's, which registration
// counts is the hub's to say, when it is asked next.
func (v *views) update(key store.HostKey, view service.HostView, macs []string) []types.NamespacedName {
	return v.change(key, macs, func(mac string) {
		if v.known[mac].Key == key {
			v.known[mac] = view
			return
		}
		delete(v.known, mac)
	})
}

// forget drops a host that is gone, and returns the BareMetalHosts that are concerned.
func (v *views) forget(key store.HostKey) []types.NamespacedName {
	return v.change(key, nil, func(mac string) { delete(v.known, mac) })
}

// change does something to each of the addresses that are given or remembered
// for the host.
func (v *views) change(key store.HostKey, macs []string, do func(mac string)) []types.NamespacedName {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.news++
	for mac, known := range v.known {
		if known.Key == key {
			macs = append(macs, mac)
		}
	}
	concerned := map[types.NamespacedName]bool{}
	for _, mac := range macs {
		delete(v.absent, mac)
		do(mac)
		maps.Copy(concerned, v.askers[mac])
	}
	return slices.SortedFunc(maps.Keys(concerned), func(a, b types.NamespacedName) int {
		return slices.Compare([]string{a.Namespace, a.Name}, []string{b.Namespace, b.Name})
	})
}

// leave forgets a BareMetalHost that is gone.
func (v *views) leave(asker types.NamespacedName) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for mac, askers := range v.askers {
		delete(askers, asker)
		if len(askers) == 0 {
			delete(v.askers, mac)
			delete(v.absent, mac)
		}
	}
}
