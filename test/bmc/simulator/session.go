package simulator

import (
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"
)

var sessionRoutes = map[string]handler{
	"GET /redfish/v1/SessionService":                       getSessionService,
	"GET /redfish/v1/SessionService/Sessions":              listSessions,
	"POST /redfish/v1/SessionService/Sessions":             createSession,
	"GET /redfish/v1/SessionService/Sessions/{session}":    getSession,
	"DELETE /redfish/v1/SessionService/Sessions/{session}": deleteSession,
}

// session is a client's proof of its credentials.
type session struct {
	id   string
	used time.Time
}

// tokenHeader carries a session's token.
const tokenHeader = "X-Auth-Token" //nolint:gosec // a header's name

// authorize checks a session's token or basic credentials; the lock is held.
func (s *Server) authorize(r *http.Request, of *system) error {
	if s.opts.Username == "" {
		return nil
	}
	denied := fault(http.StatusUnauthorized, noAccess, "There is no valid session established with the implementation.")
	if token := r.Header.Get(tokenHeader); token != "" {
		held := s.sessions[token]
		switch {
		case held == nil:
			return denied
		case time.Since(held.used) > s.opts.SessionTimeout || of.strikes(SessionLost):
			delete(s.sessions, token)
			return denied
		}
		held.used = time.Now()
		return nil
	}
	user, password, ok := r.BasicAuth()
	if !ok || !s.credentials(user, password) {
		return denied
	}
	return nil
}

func (s *Server) credentials(user, password string) bool {
	return subtle.ConstantTimeCompare([]byte(user+"\x00"+password), []byte(s.opts.Username+"\x00"+s.opts.Password)) == 1
}

func getSessionService(c *call) (reply, error) {
	return ok(resource("SessionService.v1_1_9.SessionService", "SessionService", "Session Service", path("SessionService"), object{
		"ServiceEnabled": true, "SessionTimeout": int(c.s.opts.SessionTimeout.Seconds()), "Status": status("OK"),
		"Sessions": link("SessionService", "Sessions"),
	}))
}

func listSessions(c *call) (reply, error) {
	ids := make([]string, 0, len(c.s.sessions))
	for _, held := range c.s.sessions {
		ids = append(ids, held.id)
	}
	slices.Sort(ids)
	return ok(collection("Session", "Sessions", path("SessionService", "Sessions"), links(ids, "SessionService", "Sessions")))
}

func createSession(c *call) (reply, error) {
	user, _ := c.body["UserName"].(string)
	password, _ := c.body["Password"].(string)
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if c.s.only().has(NoSessions) {
		return reply{}, fault(http.StatusMethodNotAllowed, notAllowed, "This service has no sessions.")
	}
	if c.s.opts.Username != "" && !c.s.credentials(user, password) {
		return reply{}, fault(http.StatusUnauthorized, noAccess, "The user name or the password is wrong.")
	}
	c.s.expire()
	held := &session{id: strconv.Itoa(c.s.next()), used: time.Now()}
	token := rand.Text()
	c.s.sessions[token] = held
	address := path("SessionService", "Sessions", held.id)
	return reply{status: http.StatusCreated, location: address, token: token, body: sessionObject(held.id, c.s.opts.Username)}, nil
}

// expire forgets the sessions that were not used for too long; the lock is held.
func (s *Server) expire() {
	for token, held := range s.sessions {
		if time.Since(held.used) > s.opts.SessionTimeout {
			delete(s.sessions, token)
		}
	}
}

func sessionObject(id, user string) object {
	return resource("Session.v1_7_2.Session", id, "Session "+id, path("SessionService", "Sessions", id), object{"UserName": user, "Password": nil})
}

func getSession(c *call) (reply, error) {
	id := c.r.PathValue("session")
	for _, held := range c.s.sessions {
		if held.id == id {
			return ok(sessionObject(id, c.s.opts.Username))
		}
	}
	return reply{}, notFound(c.r.URL.Path)
}

func deleteSession(c *call) (reply, error) {
	id := c.r.PathValue("session")
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	for token, held := range c.s.sessions {
		if held.id == id {
			delete(c.s.sessions, token)
			return done()
		}
	}
	return reply{}, notFound(fmt.Sprintf("%s/%s", path("SessionService", "Sessions"), id))
}
