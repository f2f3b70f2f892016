package client

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// again is a rule for asking once more. A change is repeated only where the answer
// proves that it was not made.
type again struct {
	name string
	// methods are all if empty, statuses and ids likewise; ids are message keys.
	methods  []string
	statuses []int
	ids      []string
	path     string // how the path ends
	fresh    bool   // the path was given out by a recent answer
	reset    bool   // the connection broke
	tries    int
	wait     time.Duration
}

var (
	reads  = []string{http.MethodGet, http.MethodHead}
	broken = []int{http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}
)

// retries are looked through in order; the first that fits decides.
var retries = []again{
	{name: "a connection that was reset", methods: reads, reset: true, tries: 1},
	// Dell, while its data sources start: up to 20 s.
	{name: "data sources that are unavailable", ids: []string{"SYS518"}, tries: 4, wait: 5 * time.Second},
	// HPE, just after a power change.
	{name: "a system in transition", statuses: []int{http.StatusBadRequest}, ids: []string{"InvalidOperationForSystemState"}, tries: 3, wait: 5 * time.Second},
	// Dell, while an eject is under way.
	{name: "a medium that is being ejected", methods: []string{http.MethodPost}, statuses: broken, path: "/VirtualMedia.InsertMedia", tries: 3, wait: 3 * time.Second},
	// Dell answers 404 for a job that it has just announced.
	{name: "a job that is not there yet", methods: reads, statuses: []int{http.StatusNotFound}, fresh: true, tries: 3, wait: 10 * time.Second},
	{name: "a gateway in between", methods: reads, statuses: []int{http.StatusBadGateway, http.StatusGatewayTimeout}, tries: 1, wait: time.Second},
	{name: "a service that is busy", methods: append(reads, http.MethodDelete), statuses: []int{http.StatusTooManyRequests, http.StatusServiceUnavailable}, tries: 2, wait: time.Second},
}

// longestRetryAfter is how long a call waits on the BMC's request; its caller is
// told of longer ones.
const longestRetryAfter = 10 * time.Second

func (a *again) fits(k call, e *Error, fresh bool) bool {
	switch {
	case a.reset != e.reset,
		a.fresh && !fresh,
		len(a.methods) > 0 && !slices.Contains(a.methods, k.method),
		len(a.statuses) > 0 && !slices.Contains(a.statuses, e.Status),
		a.path != "" && !strings.HasSuffix(k.path, a.path):
		return false
	}
	return len(a.ids) == 0 || slices.ContainsFunc(e.Messages, func(m Message) bool {
		return slices.ContainsFunc(a.ids, func(id string) bool { return strings.EqualFold(id, shortID(m.ID)) })
	})
}

// tried counts the tries of a call by rule.
type tried map[string]int

// next says whether, and after which pause, a failed call is made again.
func (t tried) next(k call, e *Error, fresh bool) (time.Duration, bool) {
	if e.Kind == LockedOut || e.Kind == Credentials {
		return 0, false
	}
	for i := range retries {
		rule := &retries[i]
		if !rule.fits(k, e, fresh) {
			continue
		}
		if t[rule.name]++; t[rule.name] > rule.tries || e.RetryAfter > longestRetryAfter {
			return 0, false
		}
		return max(rule.wait, e.RetryAfter), true
	}
	return 0, false
}
