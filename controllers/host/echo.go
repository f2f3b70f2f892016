package host

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// echoes are the marks that this program has put on hosts and their BMCs' Secrets
// (finalizer, label, owner), by the resource versions that they led to. The watch
// brings them back; that is no news, as the pass which wrote them has gone on with
// what they stand for. Each was written over the version that the pass had read.
type echoes struct {
	mu sync.Mutex
	m  map[types.NamespacedName]echo
}

// echo is what comes back of one host.
type echo struct{ host, secret string }

func newEchoes() *echoes { return &echoes{m: map[types.NamespacedName]echo{}} }

// expectHost notes a version of a host that was written.
func (e *echoes) expectHost(key types.NamespacedName, version string) {
	e.change(key, func(s *echo) { s.host = version })
}

// expectSecret notes a version of the Secret of a host's BMC that was written.
func (e *echoes) expectSecret(key types.NamespacedName, version string) {
	e.change(key, func(s *echo) { s.secret = version })
}

func (e *echoes) change(key types.NamespacedName, change func(*echo)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.m[key]
	change(&s)
	e.m[key] = s
}

// ofHost reports whether a version of a host is what was written.
func (e *echoes) ofHost(key types.NamespacedName, version string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return version != "" && e.m[key].host == version
}

// ofSecret reports whether a version of a Secret is what was written for a host.
func (e *echoes) ofSecret(key types.NamespacedName, version string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return version != "" && e.m[key].secret == version
}

// forget drops a host that is gone.
func (e *echoes) forget(key types.NamespacedName) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.m, key)
}
