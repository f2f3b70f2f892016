package snapshots

import (
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// told is a host's last reply to a check.
type told struct {
	step wire.StepType
	// reply and result are digests of what the host said, and of what the hub made of it.
	reply, result uint64
}

// Told notes a reply, and what the hub has made of it. It outlives the host's snapshot: the next one may have the
// same result.
func (c *Cache) Told(key store.HostKey, step wire.StepType, reply, result uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.replies == nil {
		c.replies = map[store.HostKey][]told{}
	}
	all := c.replies[key]
	for i := range all {
		if all[i].step == step {
			all[i].reply, all[i].result = reply, result
			return
		}
	}
	c.replies[key] = append(all, told{step, reply, result})
}

// Tells reports whether the host's last reply to the check was this one, and has led to what the hub has of it now.
func (c *Cache) Tells(h *Host, step wire.StepType, reply uint64) bool {
	result, has := h.Results[step]
	if !has {
		return false
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, t := range c.replies[h.Key] {
		if t.step == step {
			return t.reply == reply && t.result == result
		}
	}
	return false
}
