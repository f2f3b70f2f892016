package simulator

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

// refusal is an answer that is not a success.
type refusal struct {
	status int
	text   string
}

func (r *refusal) Error() string { return r.text }

// errAccepted ends a verb that had its whole effect already.
var errAccepted = errors.New("accepted")

func fault(status int, format string, args ...any) error {
	return &refusal{status: status, text: fmt.Sprintf(format, args...)}
}

func notFound(ident string) error {
	return fault(http.StatusNotFound, "Node %s could not be found.", ident)
}

func locked(n *node) error {
	return fault(http.StatusConflict, "Node %s is locked by host %s, please retry after the current operation is completed.",
		n.uuid, n.reservation)
}

func invalidAction(n *node, action, state string) error {
	return fault(http.StatusBadRequest, `The requested action "%s" can not be performed on node "%s" while it is in state "%s".`,
		action, n.uuid, state)
}

func inMaintenance(n *node, operation string) error {
	return fault(http.StatusBadRequest, "The %s operation can't be performed on node %s because it's in maintenance mode.",
		operation, n.uuid)
}

// handler answers one kind of request with the lock held: a status and a value
// for the body, nil for none, or a refusal.
type handler func(s *Server, r *http.Request) (int, any, error)

// answer writes what a handler returned.
func answer(w http.ResponseWriter, status int, body any, err error) {
	if err != nil {
		var refused *refusal
		if !errors.As(err, &refused) {
			refused = &refusal{http.StatusInternalServerError, err.Error()}
		}
		writeFault(w, refused.status, refused.text)
		return
	}
	if body == nil {
		w.WriteHeader(status)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // a client that went away is its own affair
}

// writeFault wraps a text the way Ironic does: JSON inside a JSON text.
func writeFault(w http.ResponseWriter, status int, text string) {
	code := "Client"
	if status >= http.StatusInternalServerError {
		code = "Server"
	}
	inner, _ := json.Marshal(map[string]any{"faultcode": code, "faultstring": text, "debuginfo": nil}) //nolint:errchkjson // texts only
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error_message": string(inner)}) // as above
}

// decode reads a JSON body.
func decode(r *http.Request, into any) error {
	if err := json.NewDecoder(r.Body).Decode(into); err != nil {
		return fault(http.StatusBadRequest, "The request body is not valid JSON: %s", err)
	}
	return nil
}
