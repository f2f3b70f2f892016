package machine_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"
)

const agentToken = "0123456789abcdef0123456789abcdef"

func encode(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

func bytesReader(b []byte) io.Reader { return bytes.NewReader(b) }

// ironicDouble answers look-ups and takes heartbeats, so that a machine comes up
// without an Ironic. It hands the token out at every look-up.
type ironicDouble struct {
	*httptest.Server
	beats chan beat
}

type beat struct {
	CallbackURL   string `json:"callback_url"`
	AgentVerifyCA string `json:"agent_verify_ca"`
}

func newIronicDouble(t *testing.T) *ironicDouble {
	i := &ironicDouble{beats: make(chan beat, 1000)}
	mux := http.NewServeMux()
	answer := func(w http.ResponseWriter, code int, v any) {
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(v)
	}
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, 200, map[string]any{"default_version": map[string]string{"version": "1.104"}})
	})
	mux.HandleFunc("GET /v1/lookup", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, 200, map[string]any{"node": map[string]string{"uuid": "n-1"}, "config": map[string]any{"heartbeat_timeout": 300, "agent_token": agentToken}})
	})
	mux.HandleFunc("POST /v1/heartbeat/n-1", func(w http.ResponseWriter, r *http.Request) {
		var b beat
		_ = json.NewDecoder(r.Body).Decode(&b)
		w.WriteHeader(http.StatusAccepted)
		i.beats <- b
	})
	i.Server = httptest.NewUnstartedServer(mux)
	i.Config.ErrorLog = log.New(io.Discard, "", 0) // machines lose their power in mid handshake
	i.StartTLS()
	t.Cleanup(i.Close)
	return i
}

// forget drops the heartbeats of machines that are gone.
func (i *ironicDouble) forget() {
	for len(i.beats) > 0 {
		<-i.beats
	}
}

// ca is the double's certificate in PEM.
func (i *ironicDouble) ca() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: i.Certificate().Raw}))
}

// agent waits for a heartbeat and returns the sender of commands to that agent.
func (i *ironicDouble) agent(t *testing.T) func(name string, params map[string]any, wait bool) map[string]any {
	t.Helper()
	var b beat
	select {
	case b = <-i.beats:
	case <-time.After(patience):
		t.Fatal("no heartbeat came")
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(b.AgentVerifyCA))
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, DisableKeepAlives: true}, Timeout: patience}
	return func(name string, params map[string]any, wait bool) map[string]any {
		t.Helper()
		body, err := json.Marshal(map[string]any{"name": name, "params": params})
		if err != nil {
			t.Fatal(err)
		}
		url := b.CallbackURL + "/v1/commands/?agent_token=" + agentToken
		if wait {
			url += "&wait=true"
		}
		answer, err := client.Post(url, "application/json", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		out := map[string]any{}
		if err := json.NewDecoder(answer.Body).Decode(&out); err != nil {
			t.Fatal(err)
		}
		return out
	}
}

// execute are the parameters of a step.
func execute(step string) map[string]any {
	return map[string]any{"step": map[string]any{"step": step}, "node": map[string]any{"uuid": "n-1"}, "ports": []any{}}
}

// scriptedStep makes a folder with an ironflow-step that is a shell script: its
// start_assisted_install runs the body.
func scriptedStep(t *testing.T, body string) string {
	t.Helper()
	dir := t.TempDir()
	script := `#!/bin/sh
if [ "$1" = list ]; then
  echo '[{"step": "start_assisted_install", "interface": "deploy", "priority": 0, "reboot_requested": false, "argsinfo": {}}]'
  exit 0
fi
run="$IRONFLOW_ROOT/run/ironflow"
mkdir -p "$run"
` + body
	if err := os.WriteFile(filepath.Join(dir, "ironflow-step"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Bodies of the scripted step.
const (
	stepInstalls = `cat > "$run/input.json"
echo '{"t": "2026-01-01T00:00:00Z", "stage": "Writing image to disk", "percent": 50, "text": "to /dev/sda"}'
printf '{"boot_id": "%s", "disk": "/dev/sda"}' "$(cat $IRONFLOW_ROOT/proc/sys/kernel/random/boot_id)" > "$run/installed.json"
echo '{"outcome": "done", "result": {"outcome": "installed", "seconds": 1}}'
`
	stepFails = `echo '{"outcome": "failed", "reason": "disk is on fire", "detail": ["line one", "line two"]}'
exit 1
`
	stepCrashes = `echo last words >&2
kill -9 $$
`
	stepHangs = `echo '{"t": "2026-01-01T00:00:00Z", "stage": "Writing image to disk", "percent": 1, "text": ""}'
setsid sleep 1000 &
sleep 1000
`
)
