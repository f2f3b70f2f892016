package simulator

import (
	"crypto/rand"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ironflow/ironflow/test/bmc/simulator/accounts"
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
	id, account, user, from string
	created, used           time.Time
}

// Session is a session of a BMC as a test sees it.
type Session struct {
	ID, UserName string
	Created      time.Time
}

// Sessions are those that are open, by age.
func (s *Server) Sessions() []Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire()
	list := make([]Session, 0, len(s.sessions))
	for _, held := range s.sessions {
		list = append(list, Session{ID: held.id, UserName: held.user, Created: held.created})
	}
	slices.SortFunc(list, func(a, b Session) int { return a.Created.Compare(b.Created) })
	return list
}

// tokenHeader carries a session's token.
const tokenHeader = "X-Auth-Token" //nolint:gosec // a header's name

// isOpen says that the BMC asks nobody for credentials.
func (s *Server) isOpen() bool { return s.opts.Username == "" && len(s.opts.Accounts) == 0 }

// authorize checks a session's token or basic credentials, and what the account
// may do; the lock is held.
func (s *Server) authorize(r *http.Request, of *system) error {
	if s.isOpen() {
		return nil
	}
	account, err := s.authenticate(r, of)
	if err != nil {
		return err
	}
	return permit(r, account)
}

// authenticate finds the account behind a request; the lock is held.
func (s *Server) authenticate(r *http.Request, of *system) (accounts.Account, error) {
	denied := fault(http.StatusUnauthorized, noAccess, "There is no valid session established with the implementation.")
	token := r.Header.Get(tokenHeader)
	if token == "" {
		user, password, ok := r.BasicAuth()
		if !ok || of.has(NoBasic) {
			return accounts.Account{}, denied
		}
		return s.login(r, of, user, password)
	}
	held := s.sessions[token]
	if held == nil {
		return accounts.Account{}, denied
	}
	account, exists := s.accounts.Get(held.account)
	if !exists || account.Disabled || time.Since(held.used) > s.opts.SessionTimeout || of.strikes(SessionLost) {
		delete(s.sessions, token)
		return accounts.Account{}, denied
	}
	held.used = time.Now()
	if of.strikes(SporadicDenial) {
		return accounts.Account{}, denied
	}
	return account, nil
}

// login tries a password; the lock is held.
func (s *Server) login(r *http.Request, of *system, user, password string) (accounts.Account, error) {
	from, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		from = r.RemoteAddr
	}
	account, verdict := s.accounts.Login(user, password, from, time.Now())
	s.logins[verdict]++
	switch {
	case verdict == accounts.Right && of.strikes(SporadicDenial):
	case verdict == accounts.Right:
		return account, nil
	case verdict == accounts.Locked && of.has(LockoutTold):
		return account, fault(http.StatusUnauthorized, noAccess, "The account is locked out: too many wrong passwords were tried.")
	}
	return account, fault(http.StatusUnauthorized, noAccess, "The user name or the password is wrong.")
}

// Logins counts the passwords that were tried, by what came of them.
func (s *Server) Logins() map[accounts.Verdict]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.logins)
}

func getSessionService(c *call) (reply, error) {
	return ok(resource("SessionService.v1_1_9.SessionService", "SessionService", "Session Service", path("SessionService"), object{
		"ServiceEnabled": true, "SessionTimeout": int(c.s.opts.SessionTimeout.Seconds()), "Status": status("OK"),
		"Sessions": link("SessionService", "Sessions"),
	}))
}

func listSessions(c *call) (reply, error) {
	c.s.expire()
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
	if c.of.has(NoSessions) {
		return reply{}, fault(http.StatusMethodNotAllowed, notAllowed, "This service has no sessions.")
	}
	account := accounts.Account{UserName: user}
	if !c.s.isOpen() {
		var err error
		if account, err = c.s.login(c.r, c.of, user, password); err != nil {
			return reply{}, err
		}
	}
	c.s.expire()
	if (c.s.opts.MaxSessions > 0 && len(c.s.sessions) >= c.s.opts.MaxSessions) || c.of.strikes(SessionsFull) {
		return reply{}, c.of.sessionsFull()
	}
	now := time.Now()
	held := &session{id: strconv.Itoa(c.s.next()), account: account.ID, user: user, from: c.r.RemoteAddr, created: now, used: now}
	token := rand.Text()
	c.s.sessions[token] = held
	body := held.object()
	if account.ChangeRequired {
		body["@Message.ExtendedInfo"] = []object{mustChange(account).message()}
	}
	return reply{status: http.StatusCreated, location: path("SessionService", "Sessions", held.id), token: token, body: body}, nil
}

// sessionsFull refuses a session in the vendor's words; the lock is held.
func (sys *system) sessionsFull() error {
	if sys != nil && sys.Vendor == Dell {
		return oem(http.StatusServiceUnavailable, "IDRAC.2.8.RAC0218", "The maximum number of user sessions is reached.")
	}
	return fault(http.StatusServiceUnavailable, sessionsFull,
		"The session establishment failed due to the number of simultaneous sessions exceeding the limit of the implementation.")
}

// expire forgets the sessions that were not used for too long; the lock is held.
func (s *Server) expire() {
	for token, held := range s.sessions {
		if time.Since(held.used) > s.opts.SessionTimeout {
			delete(s.sessions, token)
		}
	}
}

// endSessions forgets the sessions of an account; the lock is held.
func (s *Server) endSessions(account string) {
	for token, held := range s.sessions {
		if held.account == account {
			delete(s.sessions, token)
		}
	}
}

func (held *session) object() object {
	return resource("Session.v1_7_2.Session", held.id, "Session "+held.id, path("SessionService", "Sessions", held.id), object{
		"UserName": held.user, "Password": nil, "SessionType": "Redfish", "ClientOriginIPAddress": held.from,
		"CreatedTime": held.created.UTC().Format(time.RFC3339),
	})
}

func getSession(c *call) (reply, error) {
	id := c.r.PathValue("session")
	for _, held := range c.s.sessions {
		if held.id == id {
			return ok(held.object())
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

// privileges are those of the roles.
var privileges = map[string][]string{
	accounts.Administrator: {"Login", "ConfigureManager", "ConfigureUsers", "ConfigureSelf", "ConfigureComponents"},
	accounts.Operator:      {"Login", "ConfigureSelf", "ConfigureComponents"},
	accounts.ReadOnly:      {"Login", "ConfigureSelf"},
}

// mustChange refuses all but a new password.
func mustChange(a accounts.Account) *refusal {
	return &refusal{
		status: http.StatusForbidden, key: changeRequired, args: []string{accountPath(a.ID)},
		text: fmt.Sprintf("The password provided for this account must be changed before access is granted. PATCH the Password property for this account located at the target URI '%s' to complete this process.", accountPath(a.ID)),
	}
}

// permit says whether an account may make a request.
func permit(r *http.Request, a accounts.Account) error {
	own := r.URL.Path == accountPath(a.ID)
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	session := strings.HasPrefix(r.URL.Path, path("SessionService", "Sessions"))
	switch {
	case own, session && r.Method == http.MethodDelete, session && reads && !a.ChangeRequired:
		return nil
	case a.ChangeRequired:
		return mustChange(a)
	case reads || a.Role == accounts.Administrator:
		return nil
	case a.Role == accounts.Operator && !strings.HasPrefix(r.URL.Path, path("AccountService")):
		return nil
	}
	return fault(http.StatusForbidden, insufficient, "There are insufficient privileges for the account or credentials associated with the current session to perform the requested operation.")
}

func listRoles(*call) (reply, error) {
	return ok(collection("Role", "Roles", path("AccountService", "Roles"),
		links([]string{accounts.Administrator, accounts.Operator, accounts.ReadOnly}, "AccountService", "Roles")))
}

func getRole(c *call) (reply, error) {
	id := c.r.PathValue("role")
	if privileges[id] == nil {
		return reply{}, notFound(c.r.URL.Path)
	}
	return ok(resource("Role.v1_3_2.Role", id, "Role "+id, path("AccountService", "Roles", id), object{
		"RoleId": id, "IsPredefined": true, "AssignedPrivileges": privileges[id],
	}))
}
