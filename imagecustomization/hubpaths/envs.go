package hubpaths

import (
	"context"
	"maps"
	"net/http"
	"time"

	"golang.org/x/time/rate"
)

const (
	// idle is how long an image is kept that nobody asks for: the next request makes
	// it again, with the same bytes and the same address.
	idle = time.Hour
	// sweepEvery is the pause between two looks for what is over.
	sweepEvery = time.Minute
	// reportEvery and reportsAtOnce limit what the hub is told about one infra-env:
	// clients can provoke failures, and each becomes an event.
	reportEvery, reportsAtOnce = 10 * time.Minute, 5
)

// env is what is kept of an infra-env. All of its maps are by the image's key: there
// are as many as there are formats and media. Failures without an image have the key "".
type env struct {
	// asked is when somebody asked last.
	asked map[string]time.Time
	// failed is what the hub was told last.
	failed  map[string]string
	reports *rate.Limiter
}

// wanted notes that somebody asks for an image of an infra-env that there is.
func (r *Resolver) wanted(infraEnv, key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.envs[infraEnv]
	if e == nil {
		e = &env{asked: map[string]time.Time{}, failed: map[string]string{}, reports: rate.NewLimiter(rate.Every(reportEvery), reportsAtOnce)}
		r.envs[infraEnv] = e
	}
	e.asked[key] = time.Now()
}

// mayReport tells whether the hub would be told about a failure now.
func (r *Resolver) mayReport(infraEnv string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.envs[infraEnv]
	return e == nil || e.reports.Tokens() >= 1
}

// report tells the hub about a failure that it has not been told yet: who asks
// for the image learns nothing but a status code.
func (r *Resolver) report(ctx context.Context, infraEnv, key string, err error) {
	if ctx.Err() == nil && r.isNews(infraEnv, key, err) {
		r.hub.Failed(ctx, infraEnv, err)
	}
}

// isNews notes how making an image ended, and tells whether the hub is to be told.
func (r *Resolver) isNews(infraEnv, key string, err error) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.envs[infraEnv]
	if e == nil {
		return false // deleted meanwhile
	}
	if err == nil {
		delete(e.failed, key)
		return false
	}
	if e.failed[key] == err.Error() || !e.reports.Allow() {
		return false
	}
	e.failed[key] = err.Error()
	return true
}

// sweep lets go of answers that nobody uses, and of images that nobody has asked for
// in a long time, because their infra-env or its token is gone, or its hosts are
// installed.
func (r *Resolver) sweep() {
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.Sub(r.swept) < sweepEvery {
		return
	}
	r.swept = now
	maps.DeleteFunc(r.seen, func(_ request, a answer) bool {
		return now.Sub(a.at) > remembered && (a.code != http.StatusOK || !r.store.InUse(a.path))
	})
	maps.DeleteFunc(r.envs, func(_ string, e *env) bool {
		for key, at := range e.asked {
			if now.Sub(at) > idle {
				r.drop(key)
				delete(e.asked, key)
				delete(e.failed, key)
			}
		}
		return len(e.asked) == 0
	})
}

// deleted lets go of all images of an infra-env.
func (r *Resolver) deleted(infraEnv string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.envs[infraEnv]; e != nil {
		for key := range e.asked {
			r.drop(key)
		}
		delete(r.envs, infraEnv)
	}
}

func (r *Resolver) drop(key string) {
	if key != "" {
		_ = r.store.Remove(key) // it is only in memory; removing that cannot fail
	}
}
