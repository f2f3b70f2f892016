package rest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/ironflow/ironflow/hub/auth"
	"github.com/ironflow/ironflow/hub/protocol"
	"github.com/ironflow/ironflow/hub/releases"
	"github.com/ironflow/ironflow/hub/releases/lookup"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
)

// request is one call with what handlers need of it.
type request struct {
	*http.Request
	hub    *service.Hub
	caller caller
	w      http.ResponseWriter
	// releases and live may be nil.
	releases *releases.File
	live     LiveFiles
	lookup   *lookup.Finder
	// public is how clients reach the hub; empty for as this one did. key signs URLs.
	public string
	key    auth.Key
	limits *limits
	// bodies hold what users send against the models of the operation.
	bodies      *protocol.Bodies
	operationID string
	// arrived is what the request's body takes of its senders' bounds, until the request is done with; nil where it counts for nobody.
	arrived *metered
}

// handler serves one operation. Its answer is a model, a *file, a list, or nil for
// an answer without a body.
type handler func(*request) (any, error)

// id reads a UUID from the path.
func (r *request) id(name string) (string, error) {
	return asID(name, r.PathValue(name))
}

// infraEnv reads the infra-env's id, and refuses an agent of another one as if
// it did not exist.
func (r *request) infraEnv() (string, error) {
	id, err := r.id("infra_env_id")
	if err != nil {
		return "", err
	}
	if r.caller.infraEnvID != "" && r.caller.infraEnvID != id {
		return "", notFound("there is no infra-env %s", id)
	}
	return id, r.ownsInfraEnv(id)
}

// host reads the host's key.
func (r *request) host() (store.HostKey, error) {
	env, err := r.infraEnv()
	if err != nil {
		return store.HostKey{}, err
	}
	id, err := r.id("host_id")
	if err != nil {
		return store.HostKey{}, err
	}
	key := store.HostKey{InfraEnvID: env, HostID: id}
	if err := r.speaksFor(key); err != nil {
		return store.HostKey{}, err
	}
	return key, r.ofOwnCluster(key)
}

// cluster reads the cluster's id. An agent reaches only clusters that a host
// belongs to for which it speaks, and the program inside a cluster only that.
func (r *request) cluster() (string, error) {
	id, err := r.id("cluster_id")
	if err != nil {
		return "", err
	}
	return id, r.reaches(id)
}

// reaches refuses an agent a cluster that no host belongs to for which it speaks, and the
// program inside a cluster another one, as if it did not exist.
func (r *request) reaches(cluster string) error {
	if own := r.caller.clusterID; own != "" && own != cluster {
		return notFound("there is no cluster %s", cluster)
	}
	if r.caller.infraEnvID == "" {
		return r.ownsCluster(cluster)
	}
	if r.caller.agent.Own() {
		return r.reachesAsHost(cluster)
	}
	found, err := r.sharedIn(cluster)
	if err == nil && !found {
		return notFound("there is no cluster %s", cluster)
	}
	return err
}

// body decodes the JSON body. Unknown members are ignored where agents send them, as the
// protocol says; a user's would be lost without a word, and are refused.
func (r *request) body(into any) error {
	raw, err := r.readBody()
	if err != nil {
		return bodyError(err)
	}
	if err := r.bodies.Check(r.operationID, raw); err != nil {
		return err
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return bad("the body is not the JSON that this operation takes: %v", err)
	}
	return nil
}

// bodyError keeps the limits' errors and blames the client for the others. A body
// that came too slowly may come another time: agents repeat after 408, not after 400.
func bodyError(err error) error {
	_, large := errors.AsType[*http.MaxBytesError](err)
	if _, refused := errors.AsType[*service.Error](err); large || refused {
		return err
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return &service.Error{Code: http.StatusRequestTimeout, Reason: "the body did not arrive in time"}
	}
	return bad("the body could not be read: %v", err)
}

// flag reads a boolean query parameter; present without a value means true.
func (r *request) flag(name string) (bool, error) {
	q := r.URL.Query()
	if !q.Has(name) {
		return false, nil
	}
	if q.Get(name) == "" {
		return true, nil
	}
	v, err := strconv.ParseBool(q.Get(name))
	if err != nil {
		return false, bad("%s %q is neither true nor false", name, clip(q.Get(name)))
	}
	return v, nil
}

// number reads a query parameter that is not negative; absent means zero.
func (r *request) number(name string) (int64, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, bad("%s %q is not a number from 0 on", name, clip(text))
	}
	return n, nil
}

// list reads a comma-separated query parameter.
func (r *request) list(name string) []string {
	text := r.URL.Query().Get(name)
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}

// optionalID reads a UUID from the query.
func (r *request) optionalID(name string) (string, error) {
	id := r.URL.Query().Get(name)
	if id == "" {
		return "", nil
	}
	return asID(name, id)
}

// asID is an id in the form in which records have it.
func asID(name, id string) (string, error) {
	id = strings.ToLower(id)
	if len(id) != 36 || uuid.Validate(id) != nil {
		return "", bad("%s %q is not a UUID", name, clip(id))
	}
	return id, nil
}

func bad(format string, args ...any) error {
	return &service.Error{Code: http.StatusBadRequest, Reason: fmt.Sprintf(format, args...)}
}

func notFound(format string, args ...any) error {
	return &service.Error{Code: http.StatusNotFound, Reason: fmt.Sprintf(format, args...)}
}

// normalMAC is an address as hosts report it.
func normalMAC(text string) string {
	address, err := net.ParseMAC(text)
	if err != nil {
		return strings.ToLower(text)
	}
	return address.String()
}
