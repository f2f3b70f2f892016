package hubpaths

import (
	"maps"
	"strings"
	"time"
)

// idle is how long an image is kept that nobody asks for: the next request makes
// it again, with the same bytes and the same address.
const idle = time.Hour

// wanted notes that somebody asks for an image, and lets go of those that nobody
// has asked for in a long time, because their infra-env or its token is gone, or
// its hosts are installed.
func (r *Resolver) wanted(key string) {
	r.mu.Lock()
	r.asked[key] = time.Now()
	var left []string
	for k, at := range r.asked {
		if time.Since(at) > idle {
			left = append(left, k)
			delete(r.asked, k)
		}
	}
	r.mu.Unlock()
	r.drop(left)
}

// deleted lets go of all images of an infra-env.
func (r *Resolver) deleted(infraEnv string) {
	its := func(k string) bool { return strings.HasPrefix(k, keyPrefix(infraEnv)) }
	var all []string
	r.mu.Lock()
	for k := range r.asked {
		if its(k) {
			all = append(all, k)
			delete(r.asked, k)
		}
	}
	maps.DeleteFunc(r.failed, func(k, _ string) bool { return its(k) })
	r.mu.Unlock()
	r.drop(all)
}

func (r *Resolver) drop(keys []string) {
	for _, k := range keys {
		_ = r.store.Remove(k) // it is only in memory; removing that cannot fail
	}
}
