package events

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"hash/maphash"
	"sync"

	"golang.org/x/time/rate"

	"github.com/ironflow/ironflow/bmc/events/meaning"
)

// hosts are those that deliveries are taken for.
type hosts struct {
	keys    Keys
	options Options
	salt    []byte
	nobody  Key

	mu     sync.RWMutex
	byName map[string]*entry
	byPart map[[sha256.Size]byte]match
}

// entry is one host. Its bounds live as long as it is registered.
type entry struct {
	host   string
	keys   []Key
	limit  *rate.Limiter
	bodies chan struct{}

	// queued and looking belong to the queue, with its lock.
	queued  int
	looking bool

	// recent are the last alerts, told by one goroutine.
	recent [16]uint64
	next   int
}

// match is a host with the key that the delivery's address belongs to; without an
// entry it is no host.
type match struct {
	entry *entry
	key   Key
}

func (h *hosts) init(o Options) {
	h.keys, h.options = o.Keys, o
	h.byName, h.byPart = map[string]*entry{}, map[[sha256.Size]byte]match{}
	h.salt = make([]byte, minSecret)
	_, _ = rand.Read(h.salt) // never fails
	h.nobody = Key{Part: rand.Text() + "......", Context: contextPrefix + rand.Text() + "......"}
}

// index is where a part of an address is looked up. It is salted, so that the time
// of a look-up tells nothing of the parts that there are.
func (h *hosts) index(part string) [sha256.Size]byte {
	mac := hmac.New(sha256.New, h.salt)
	mac.Write([]byte(part[:min(len(part), 64)]))
	return [sha256.Size]byte(mac.Sum(nil))
}

// find looks up whom an address belongs to.
func (h *hosts) find(part string) match {
	index := h.index(part)
	h.mu.RLock()
	defer h.mu.RUnlock()
	if m, found := h.byPart[index]; found {
		return m
	}
	return match{key: h.nobody}
}

func (h *hosts) register(host string, generations []int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	e := h.byName[host]
	if e == nil {
		e = &entry{
			host: host, bodies: make(chan struct{}, hostBodies),
			limit: rate.NewLimiter(rate.Limit(h.options.HostRate), h.options.HostBurst),
		}
		h.byName[host] = e
	}
	h.drop(e)
	for _, generation := range generations {
		key := h.keys.Of(host, generation)
		e.keys = append(e.keys, key)
		h.byPart[h.index(key.Part)] = match{entry: e, key: key}
	}
}

// drop takes a host's keys away; the lock is held.
func (h *hosts) drop(e *entry) {
	for _, key := range e.keys {
		delete(h.byPart, h.index(key.Part))
	}
	e.keys = nil
}

func (h *hosts) forget(host string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if e := h.byName[host]; e != nil {
		h.drop(e)
		delete(h.byName, host)
	}
}

// gone says whether a host is not registered any more.
func (h *hosts) gone(e *entry) bool {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.byName[e.host] != e
}

var seed = maphash.MakeSeed()

// fresh leaves out what is told to people and was told just before: a BMC sends
// again what it thinks was not taken. What only wakes does no harm twice.
func (e *entry) fresh(events []meaning.Event) []meaning.Event {
	kept := events[:0:0]
	for _, event := range events {
		if event.ID == "" || event.Time.IsZero() || !meaning.Tells(event) {
			kept = append(kept, event)
			continue
		}
		event.Time = event.Time.UTC()
		if sum := maphash.Comparable(seed, event); !e.told(sum) {
			e.recent[e.next] = sum
			e.next = (e.next + 1) % len(e.recent)
			kept = append(kept, event)
		}
	}
	return kept
}

func (e *entry) told(sum uint64) bool {
	for _, one := range e.recent {
		if one == sum {
			return true
		}
	}
	return false
}
