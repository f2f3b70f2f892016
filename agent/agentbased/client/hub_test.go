package client_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/agentbased/client"
	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/api/hostfile"
)

// answer is what the hub says to one call.
type answer struct {
	code int
	body string
}

// recorder is a hub that answers from a list and notes what it was asked.
type recorder struct {
	*httptest.Server

	mu sync.Mutex
	// answers by "METHOD PATH"; the last one of a list stays.
	answers map[string][]answer
	// calls are those that came, with their bodies in compact JSON.
	calls []string
	// authorization is that of each call.
	authorization []string
}

const base = "/api/assisted-install/v2"

// newHub starts a hub with these answers.
func newHub(t *testing.T, answers map[string][]answer) *recorder {
	t.Helper()
	h := &recorder{answers: answers}
	h.Server = httptest.NewServer(h)
	t.Cleanup(h.Close)
	return h
}

func (h *recorder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	call := r.Method + " " + strings.TrimPrefix(r.URL.RequestURI(), base)
	key := call
	if raw, _ := io.ReadAll(r.Body); len(raw) > 0 {
		var compact bytes.Buffer
		if json.Compact(&compact, raw) != nil {
			compact.Write(raw)
		}
		call += " " + compact.String()
	}
	h.calls = append(h.calls, call)
	h.authorization = append(h.authorization, r.Header.Get("Authorization"))
	list := h.answers[key]
	if len(list) == 0 {
		http.Error(w, `{"code":"404","reason":"nothing here for `+key+`"}`, http.StatusNotFound)
		return
	}
	if len(list) > 1 {
		h.answers[key] = list[1:]
	}
	w.WriteHeader(list[0].code)
	_, _ = io.WriteString(w, list[0].body)
}

// body of the nth call (from 0) with this beginning.
func (h *recorder) body(t *testing.T, beginning string) string {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range h.calls {
		if rest, ok := strings.CutPrefix(c, beginning+" "); ok {
			return rest
		}
	}
	t.Fatalf("no call %s in %q", beginning, h.calls)
	return ""
}

// made are the calls without their bodies.
func (h *recorder) made() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []string
	for _, c := range h.calls {
		out = append(out, strings.Join(strings.SplitN(c, " ", 3)[:2], " "))
	}
	return out
}

// host is a root directory with the manifests of an installation.
func host(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	source := filepath.Join("..", "manifests", "testdata", "whole")
	g := NewWithT(t)
	for from, to := range map[string]string{"manifests": "manifests", "extra": "extra-manifests", "hosts": "etc/assisted/hostconfig"} {
		g.Expect(os.CopyFS(filepath.Join(root, to), os.DirFS(filepath.Join(source, from)))).To(Succeed())
	}
	return root
}

// newClient is a client of the hub on that host, with the environment.
func newClient(t *testing.T, hub, root string, env map[string]string) *client.Client {
	t.Helper()
	settings := client.FromEnv(func(name string) string { return env[name] }, hostfile.Dir{Root: root})
	dir := hostfile.Dir{Root: root}
	calls, err := hubclient.New(hubclient.Options{URL: hub, Dir: dir, Header: settings.Header()})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	t.Cleanup(calls.Close)
	return &client.Client{Settings: settings, Hub: calls, Releases: client.Registry{HTTP: http.DefaultClient}, Dir: dir, Log: slog.New(slog.DiscardHandler)}
}

func read(t *testing.T, root, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(root, name))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return string(raw)
}
