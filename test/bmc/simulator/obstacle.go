package simulator

import (
	"cmp"
	"net/http"
	"strings"
	"time"
)

// obstacle is what a quirk puts before a request.
type obstacle struct {
	delay time.Duration
	cut   bool
	err   error
}

// obstacle asks the quirks; the lock is held.
func (s *Server) obstacle(sys *system, address string) obstacle {
	var o obstacle
	if sys == nil {
		return o
	}
	there := func(q Quirk) bool { return sys.inScope(q, address) && sys.strikes(q) }
	o.delay = sys.delays.Answer
	if there(Slow) {
		o.delay += cmp.Or(sys.delays.Slow, defaultSlow)
	}
	o.cut = there(ConnectionCut)
	if there(Unavailable) || time.Now().Before(sys.restarting) {
		o.err = fault(http.StatusServiceUnavailable, unavailableNow, "The service is temporarily unavailable. Retry in 1 seconds.")
	}
	return o
}

// wait holds the request up, and cuts it.
func (o obstacle) wait(r *http.Request) {
	if o.delay > 0 {
		timer := time.NewTimer(o.delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-r.Context().Done():
			o.cut = true
		}
	}
	if o.cut {
		drop()
	}
}

// drop closes the connection instead of an answer.
func drop() {
	panic(http.ErrAbortHandler) //nolint:forbidigo // the way in which net/http lets a handler drop a connection
}

// enter counts the requests of a system that are under way; the lock is held.
func (s *Server) enter(sys *system, n int) {
	if sys != nil {
		sys.busy += n
	}
}

// reused says whether a connection was used before, for the quirk that cuts it; the
// lock is held.
func (s *Server) reused(sys *system, remote string) bool {
	if !sys.has(ReusedCut) || remote == "" {
		return false
	}
	if s.seen == nil {
		s.seen = map[string]bool{}
	}
	before := s.seen[remote]
	s.seen[remote] = !before
	return before
}

// stranger answers for what quirks put beside the systems.
func (c *call) stranger() (reply, error) {
	id := c.r.PathValue("system")
	if id == "" || c.sys != nil {
		return reply{}, nil
	}
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if err := c.s.authorize(c.r, c.of); err != nil {
		return reply{}, err
	}
	switch {
	case c.pattern == systemGet && id == foreignSystemID && c.of.has(ForeignSystem):
		return ok(resource("ComputerSystem.v1_22_0.ComputerSystem", id, id, c.r.URL.Path, object{"SystemType": "Physical", "PowerState": On, "Status": status("OK")}))
	case strings.HasPrefix(c.pattern, "GET /redfish/v1/Chassis/{system}") && id == raidChassisID && c.of.has(RAIDChassis):
		c.s.restart(c.of)
		return reply{}, errCut
	}
	return reply{}, nil
}
