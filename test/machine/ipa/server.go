package ipa

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
)

// maxCommand bounds a command's body: a node with its configdrive is some MiB.
const maxCommand = 64 << 20

// handler is the command API of the agent, version 1.
func (a *agent) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", a.getRoot)
	mux.HandleFunc("GET /v1/{$}", a.getRoot)
	for _, prefix := range []string{"/v1", ""} {
		mux.HandleFunc("GET "+prefix+"/status", a.getStatus)
		mux.HandleFunc(prefix+"/commands", redirectToSlash)
		mux.HandleFunc("GET "+prefix+"/commands/{$}", a.withToken(a.listCommands))
		mux.HandleFunc("GET "+prefix+"/commands/{id}", a.withToken(a.getCommand))
		mux.HandleFunc("POST "+prefix+"/commands/{$}", a.withToken(a.runCommand))
	}
	return mux
}

func redirectToSlash(w http.ResponseWriter, r *http.Request) {
	target := *r.URL
	target.Path += "/"
	http.Redirect(w, r, target.RequestURI(), http.StatusPermanentRedirect) //nolint:gosec // the same place with a slash
}

func (a *agent) getRoot(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, map[string]any{
		"name":            "OpenStack Ironic Python Agent API",
		"versions":        []map[string]string{{"id": "v1"}},
		"default_version": map[string]string{"id": "v1"},
	})
}

func (a *agent) getStatus(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, map[string]any{
		"started_at": float64(a.started.UnixMicro()) / 1e6,
		"version":    Version,
	})
}

// withToken lets only requests with the agent token through.
func (a *agent) withToken(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		given, token := r.URL.Query().Get("agent_token"), a.Identity.Token
		if token == "" || subtle.ConstantTimeCompare([]byte(given), []byte(token)) != 1 {
			fault(w, http.StatusUnauthorized, "401 Unauthorized: Token invalid.")
			return
		}
		next(w, r)
	}
}

func (a *agent) listCommands(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, map[string]any{"commands": a.journal.list()})
}

func (a *agent) getCommand(w http.ResponseWriter, r *http.Request) {
	c, err := a.journal.find(r.PathValue("id"))
	if err != nil {
		refuse(w, err)
		return
	}
	reply(w, http.StatusOK, a.waited(r, c))
}

func (a *agent) runCommand(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Name   *string `json:"name"`
		Params Params  `json:"params"`
	}
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxCommand))
	if err != nil || json.Unmarshal(raw, &body) != nil || body.Name == nil || body.Params == nil {
		fault(w, http.StatusBadRequest, "400 Bad Request: Missing or invalid name or params")
		return
	}
	c, err := a.execute(*body.Name, body.Params)
	if err != nil {
		refuse(w, err)
		return
	}
	reply(w, http.StatusOK, a.waited(r, c))
}

// execute starts the command in the agent's own time: a client that hangs up
// ends nothing.
func (a *agent) execute(name string, params Params) (Command, error) {
	h, err := lookupCommand(name)
	if err != nil {
		return Command{}, err
	}
	if h.check != nil {
		if err := h.check(params); err != nil {
			return Command{}, err
		}
	}
	a.commandedOnce.Do(func() { close(a.commanded) })
	a.log.Info("command", "name", name)
	run := func() (any, error) { return h.run(a.life, a, params) }
	c, err := a.journal.execute(name, h, run, a.commandEnded)
	if err != nil {
		a.log.Warn("command refused", "name", name, "error", err)
	}
	return c, err
}

// waited is the command as it is, or once it is done if the request says so.
func (a *agent) waited(r *http.Request, c Command) Command {
	if !strings.EqualFold(r.URL.Query().Get("wait"), "true") {
		return c
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(a.life, cancel)()
	return a.journal.wait(ctx, c)
}

func refuse(w http.ResponseWriter, err error) {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		fault(w, http.StatusInternalServerError, err.Error())
		return
	}
	fault(w, e.Code, e.Error())
}

func fault(w http.ResponseWriter, code int, text string) {
	kind := "Client"
	if code >= http.StatusInternalServerError {
		kind = "Server"
	}
	reply(w, code, map[string]string{"faultcode": kind, "faultstring": text})
}

func reply(w http.ResponseWriter, code int, v any) {
	raw, err := json.Marshal(v)
	if err != nil {
		code, raw = http.StatusInternalServerError, []byte(`{"faultcode": "Server", "faultstring": "the result cannot be encoded"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = w.Write(raw)
}
