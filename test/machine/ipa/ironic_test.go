package ipa

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/ironflow/ironflow/agent/scenario"
)

const (
	testNode  = "11111111-2222-3333-4444-555555555555"
	testToken = "0123456789abcdef0123456789abcdef0123456789a"
)

// ironic is as much of Ironic's agent API as the protocol's unit tests need.
// The real one is met in the contract cases.
type ironic struct {
	*httptest.Server
	mu         sync.Mutex
	tokenGiven bool
	inspecting bool
	inventory  map[string]any
	lookups    []url.Values
	versions   []string
	refuse     int // heartbeats still to be refused
	beats      chan heartbeat
}

func newIronic(t *testing.T) *ironic {
	i := &ironic{beats: make(chan heartbeat, 100)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, http.StatusOK, map[string]any{"default_version": map[string]string{"version": "1.104"}})
	})
	mux.HandleFunc("GET /v1/lookup", i.lookup)
	mux.HandleFunc("POST /v1/heartbeat/{node}", i.heartbeat)
	mux.HandleFunc("POST /v1/continue_inspection", i.continueInspection)
	i.Server = httptest.NewTLSServer(mux)
	t.Cleanup(i.Close)
	return i
}

func (i *ironic) lookup(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.lookups = append(i.lookups, r.URL.Query())
	token := hiddenToken
	if !i.tokenGiven {
		token, i.tokenGiven = testToken, true
	}
	reply(w, http.StatusOK, map[string]any{
		"node":   map[string]any{"uuid": testNode},
		"config": map[string]any{"heartbeat_timeout": 300, "agent_token": token},
	})
}

func (i *ironic) heartbeat(w http.ResponseWriter, r *http.Request) {
	var beat heartbeat
	_ = json.NewDecoder(r.Body).Decode(&beat)
	i.mu.Lock()
	defer i.mu.Unlock()
	i.versions = append(i.versions, r.Header.Get("X-OpenStack-Ironic-API-Version"))
	if beat.AgentToken != testToken || i.refuse > 0 {
		i.refuse--
		reply(w, http.StatusConflict, map[string]any{"error_message": `{"faultstring": "Node is locked"}`})
		return
	}
	w.WriteHeader(http.StatusAccepted)
	i.beats <- beat
}

func (i *ironic) continueInspection(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.inspecting {
		reply(w, http.StatusNotFound, map[string]any{"error_message": map[string]string{"faultstring": "Not Found"}})
		return
	}
	_ = json.NewDecoder(r.Body).Decode(&i.inventory)
	reply(w, http.StatusAccepted, map[string]string{"uuid": testNode})
}

func (i *ironic) wait(on bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.inspecting = on
}

func (i *ironic) taken() map[string]any {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.inventory
}

// life is one running agent under test.
type life struct {
	t        *testing.T
	ironic   *ironic
	url, pem string
	phases   chan Phase
	stop     func() error
}

// fakePower records what the machine was asked to do.
type fakePower struct{ calls chan string }

func (p fakePower) Off(context.Context) error    { p.calls <- "off"; return nil }
func (p fakePower) Reboot(context.Context) error { p.calls <- "reboot"; return nil }

func testScenario() *scenario.Scenario {
	return &scenario.Scenario{Name: "m-0", Hardware: scenario.Hardware{
		System:    scenario.System{Manufacturer: "Acme", Product: "Box 1", Serial: "S1"},
		CPU:       scenario.CPU{Architecture: "x86_64", Model: "Acme CPU", Count: 8, MHz: 2400},
		MemoryMiB: 16384,
		NICs: []scenario.NIC{
			{Name: "eno1", MAC: "52:54:00:00:00:01", IPv4: []string{"192.0.2.10/24"}, SpeedMbps: 1000},
			{Name: "eno2", MAC: "52:54:00:00:00:02"},
		},
		Disks: []scenario.Disk{
			{Name: "sda", SizeGiB: 400, Type: "HDD"},
			{Name: "nvme0n1", SizeGiB: 120, Type: "NVME", Serial: "N1", WWN: "0x5000"},
			{Name: "sdb", SizeGiB: 2, Type: "SSD"},
		},
	}}
}

// start runs an agent until the test ends or stop is called.
func start(t *testing.T, i *ironic, change func(*Options)) *life {
	roots := x509.NewCertPool()
	roots.AddCert(i.Certificate())
	l := &life{t: t, ironic: i, phases: make(chan Phase, 10)}
	o := Options{
		Config: Config{
			APIURLs: []string{i.URL}, InspectionURLs: []string{i.URL + inspectionPath}, Collectors: []string{"default"},
		},
		Roots: roots, Inventory: NewInventory(testScenario()), Power: fakePower{make(chan string, 10)},
		Pace:    Pace{Lookup: time.Millisecond, Conflict: time.Millisecond, Retry: time.Millisecond, Inspect: time.Millisecond, Forced: time.Millisecond},
		Observe: func(p Phase) { l.phases <- p },
		Log:     slog.New(slog.DiscardHandler),
	}
	if change != nil {
		change(&o)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- Run(ctx, o) }()
	l.stop = sync.OnceValue(func() error { cancel(); return <-done })
	t.Cleanup(func() { _ = l.stop() })
	return l
}

// serving waits for the first heartbeat and returns the life with its URL.
func (l *life) serving() *life {
	l.t.Helper()
	beat := l.beat()
	l.url, l.pem = beat.CallbackURL, beat.AgentVerifyCA
	return l
}

func (l *life) beat() heartbeat {
	l.t.Helper()
	select {
	case beat := <-l.ironic.beats:
		return beat
	case <-time.After(20 * time.Second):
		l.t.Fatal("no heartbeat came")
		return heartbeat{}
	}
}

// call makes a request as Ironic does: trusting the certificate of the heartbeat.
func (l *life) call(method, path, body string) (int, map[string]any) {
	l.t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(l.pem))
	client := &http.Client{
		Timeout: 20 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, DisableKeepAlives: true},
	}
	req, err := http.NewRequestWithContext(l.t.Context(), method, l.url+path, bytes.NewBufferString(body))
	if err != nil {
		l.t.Fatal(err)
	}
	answer, err := client.Do(req)
	if err != nil {
		l.t.Fatal(err)
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	if err != nil {
		l.t.Fatal(err)
	}
	out := map[string]any{}
	if err := json.Unmarshal(raw, &out); err != nil {
		l.t.Fatalf("answer %s: %v", raw, err)
	}
	return answer.StatusCode, out
}

// command posts a command with the right token.
func (l *life) command(body, query string) (int, map[string]any) {
	l.t.Helper()
	return l.call(http.MethodPost, "/v1/commands/?agent_token="+testToken+query, body)
}
