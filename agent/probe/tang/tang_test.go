package tang_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/probe"
	"github.com/ironflow/ironflow/agent/probe/tang"
	"github.com/ironflow/ironflow/agent/steps"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/needs"
	"github.com/ironflow/ironflow/test/netns"
)

func run(t *testing.T, client *http.Client, servers string) steps.Result {
	t.Helper()
	quoted, err := json.Marshal(servers)
	if err != nil {
		t.Fatal(err)
	}
	return tang.Check.Runner(probe.Env{HTTP: client}).Run(t.Context(), []string{`{"tang_servers":` + string(quoted) + `}`})
}

func TestMain(m *testing.M) { netns.Main(m, nil) }

// startTang starts Debian's Tang with new keys inside a host and returns its URL
// and the thumbprint of its signing key. Tang serves one connection on its
// standard input and output, as a socket unit would start it.
func startTang(t *testing.T, h *netns.Host) (url, thumbprint string) {
	t.Helper()
	const folder = "/usr/libexec/"
	needs.Program(t, folder+"tangd", "tang-common")
	keys := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), needs.Program(t, folder+"tangd-keygen", "tang-common"), keys).CombinedOutput(); err != nil {
		t.Fatalf("tangd-keygen: %v: %s", err, out)
	}
	var listener net.Listener
	err := h.Do(func() (err error) {
		listener, err = new(net.ListenConfig).Listen(t.Context(), "tcp", "192.0.2.1:80")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			file, err := conn.(*net.TCPConn).File()
			conn.Close()
			if err != nil {
				continue
			}
			cmd := exec.CommandContext(t.Context(), folder+"tangd", keys)
			cmd.Stdin, cmd.Stdout = file, file
			_ = cmd.Run() // it ends with the connection
			file.Close()
		}
	}()
	return "http://192.0.2.1", signingKey(t, keys)
}

// signingKey is the name of the key that may sign: Tang calls key files by their thumbprints.
func signingKey(t *testing.T, keys string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(keys, "*.jwk"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		out, err := exec.CommandContext(t.Context(), needs.Program(t, "jose", "jose"), "jwk", "use", "-i", file, "-r", "-u", "sign", "-o", "-").Output()
		if err == nil && len(out) > 0 {
			return strings.TrimSuffix(filepath.Base(file), ".jwk")
		}
	}
	t.Fatalf("no signing key in %v", files)
	return ""
}

func TestARealTangServer(t *testing.T) {
	g := NewWithT(t)
	network := netns.Topology{Hosts: []netns.HostSpec{
		{Name: "machine", NICs: []netns.NIC{{Name: "eth0", Segment: "lan", Addresses: []string{"192.0.2.10/24"}}}},
		{Name: "server", NICs: []netns.NIC{{Name: "eth0", Segment: "lan", Addresses: []string{"192.0.2.1/24"}}}},
	}}.Build(t)
	url, thumbprint := startTang(t, network.Host("server"))
	ask := func(url, thumbprint string) steps.Result {
		return network.Host("machine").Step(netns.Options{}, wire.StepTypeTangConnectivityCheck,
			`{"tang_servers":"[{\"url\":\"`+url+`\",\"thumbprint\":\"`+thumbprint+`\"}]"}`)
	}
	result := ask(url+"/", thumbprint)
	g.Expect(result.Error).To(BeEmpty())
	g.Expect(result.Exit).To(BeZero())
	var out map[string]any
	g.Expect(json.Unmarshal([]byte(result.Output), &out)).To(Succeed())
	g.Expect(out).To(HaveKeyWithValue("is_success", true))
	answer := out["tang_server_response"].([]any)[0].(map[string]any)
	g.Expect(answer).To(HaveKeyWithValue("tang_url", url+"/"))
	keys, err := base64.RawURLEncoding.DecodeString(answer["payload"].(string))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(keys)).To(ContainSubstring(`"keys"`), "the payload is the server's list of keys")
	g.Expect(answer["signatures"]).NotTo(BeEmpty())
	g.Expect(answer["signatures"].([]any)[0]).To(And(HaveKey("protected"), HaveKey("signature")))

	result = ask(url, strings.Repeat("A", 43))
	g.Expect(result.Exit).To(BeEquivalentTo(-1), "Tang knows no such key")
	g.Expect(result.Output).To(Equal(`{"tang_server_response":null}`))
	g.Expect(result.Error).To(ContainSubstring("404"))
	g.Expect(ask("http://192.0.2.1:81", thumbprint).Error).To(HavePrefix("tang server http://192.0.2.1:81: "), "nobody listens there")
}

func TestServersThatFail(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/list/adv/T":
			fmt.Fprint(w, `{"payload":"P","signatures":[{"protected":"A","signature":"B"},{"protected":"C","signature":"D"}]}`)
		case "/one/adv/T":
			fmt.Fprint(w, `{"payload":"P","protected":"A","signature":"B"}`)
		case "/html/adv/T":
			fmt.Fprint(w, "<html>log in</html>")
		case "/empty/adv/T":
			fmt.Fprint(w, "{}")
		case "/created/adv/T":
			w.WriteHeader(http.StatusCreated)
			fmt.Fprint(w, `{"payload":"P","protected":"A","signature":"B"}`)
		case "/endless/adv/T":
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 1<<16)); err != nil {
					return
				}
			}
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	dead := httptest.NewServer(http.NotFoundHandler())
	dead.Close()
	list := func(urls ...string) string {
		var all []string
		for _, url := range urls {
			all = append(all, fmt.Sprintf(`{"url":%q,"thumbprint":"T"}`, url))
		}
		return "[" + strings.Join(all, ",") + "]"
	}

	g := NewWithT(t)
	good := run(t, server.Client(), list(server.URL+"/one", server.URL+"/list"))
	g.Expect(good.Error).To(BeEmpty())
	g.Expect(good.Output).To(MatchJSON(`{"is_success":true,"tang_server_response":[
		{"tang_url":"` + server.URL + `/one","payload":"P","signatures":[{"protected":"A","signature":"B"}]},
		{"tang_url":"` + server.URL + `/list","payload":"P","signatures":[{"protected":"A","signature":"B"},{"protected":"C","signature":"D"}]}]}`))

	bad := run(t, server.Client(), list(server.URL+"/one", server.URL+"/html", server.URL+"/empty", server.URL+"/created", server.URL+"/endless", server.URL+"/none", dead.URL))
	g.Expect(bad.Exit).To(BeEquivalentTo(-1))
	g.Expect(bad.Output).To(Equal(`{"tang_server_response":null}`))
	reasons := strings.Split(bad.Error, "\n")
	g.Expect(reasons).To(HaveLen(6), "one line for each that failed: %s", bad.Error)
	for i, want := range []string{"/html: the answer is not JSON", "/empty: the answer is no signed list", "/created: answered 201", "/endless: the answer is larger", "/none: answered 404", "connection refused"} {
		g.Expect(reasons[i]).To(ContainSubstring(want))
	}
}

func TestASlowServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		silent := &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, context.Cause(r.Context())
		})}
		result := run(t, silent, `[{"url":"http://slow.example","thumbprint":"T"}]`)
		g.Expect(result.Exit).To(BeEquivalentTo(-1), "not the step's time limit: the reason is the report")
		g.Expect(result.Error).To(ContainSubstring("tang server http://slow.example: no answer in time"))
	})
}

type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

func TestRefused(t *testing.T) {
	for name, tc := range map[string]struct{ servers, want string }{
		"no thumbprint":   {`[{"url":"http://a"}]`, "not a thumbprint"},
		"path for a hash": {`[{"url":"http://a","thumbprint":"../rec"}]`, "not a thumbprint"},
		"no URL":          {`[{"thumbprint":"T"}]`, "not an http(s) URL"},
		"file":            {`[{"url":"file:///etc/shadow","thumbprint":"T"}]`, "not an http(s) URL"},
		"too many":        {"[" + strings.Repeat(`{},`, 64) + "{}]", "more than 64"},
		"no list":         {`{}`, "not a JSON list"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			result := run(t, nil, tc.servers)
			g.Expect(result.Exit).To(BeEquivalentTo(-1))
			g.Expect(result.Error).To(ContainSubstring(tc.want))
			g.Expect(result.Output).To(BeEmpty())
		})
	}
}
