package store

import (
	"encoding/json"
	"sync"

	"github.com/ironflow/ironflow/hub/wire"
)

// inventoriesKept bounds the texts of the inventories that stay decoded, in bytes; twice as much at most.
const inventoriesKept = 2 << 20

// inventories are those that were decoded last. A reply has its host's inventory looked at by its checks, its events and
// its next instructions, and decoding 30 KB takes longer than most of these.
var inventories recentInventories

// recentInventories keeps two generations, so that what is asked for stays when a new one begins.
type recentInventories struct {
	mu          sync.Mutex
	now, before map[string]*wire.Inventory
	size        int
}

// Inventory is the host's inventory; nil when there is none that can be read. It is shared by all who ask for the same,
// and must not be changed.
func (h *Host) Inventory() *wire.Inventory {
	text := h.API.Inventory
	if text == "" {
		return nil
	}
	if found := inventories.find(text); found != nil {
		return found
	}
	made := &wire.Inventory{}
	if json.Unmarshal([]byte(text), made) != nil {
		return nil
	}
	inventories.keep(text, made)
	return made
}

func (r *recentInventories) find(text string) *wire.Inventory {
	r.mu.Lock()
	defer r.mu.Unlock()
	if found := r.now[text]; found != nil {
		return found
	}
	return r.before[text]
}

func (r *recentInventories) keep(text string, i *wire.Inventory) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.now == nil || r.size+len(text) > inventoriesKept {
		r.now, r.before, r.size = map[string]*wire.Inventory{}, r.now, 0
	}
	r.now[text] = i
	r.size += len(text)
}
