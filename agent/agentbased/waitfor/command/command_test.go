package command_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/agentbased/waitfor/command"
)

func TestWaitForAnInstallation(t *testing.T) {
	for name, tc := range map[string]struct {
		status string
		code   int
		args   []string
		// want is in the output, or in the error where there is none.
		want string
	}{
		"installed":          {"installed", 0, nil, "complete  cluster edge is installed"},
		"failed, as JSON":    {"error", 3, []string{"--output", "json"}, `"kind":"end","cluster":"edge","outcome":"failed","code":3`},
		"too slow":           {"installing", 4, []string{"--timeout", "50ms", "--interval", "10ms"}, "deadline  not install-complete after 50ms"},
		"a bad token":        {"refused", 6, nil, "refused  the hub refuses the token"},
		"nobody":             {"installed", 5, []string{"--url", "http://127.0.0.1:1", "--patience", "20ms", "--interval", "10ms"}, "away  nobody has answered for"},
		"a bad output":       {"installed", 1, []string{"--output", "xml"}, `--output is "xml": want text or json`},
		"a bad time":         {"installed", 1, []string{"--interval", "0"}, "--interval is 0s: want more than 0"},
		"no such kubeconfig": {"installed", 1, []string{"--kubeconfig", "/missing"}, "--kubeconfig: "},
		"no hub":             {"installed", 1, []string{"--url", ""}, "--url or --cacert: hub URL"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			hub := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				cluster := `{"id": "c", "name": "edge", "status": "` + tc.status + `"}`
				switch {
				case tc.status == "refused" || r.Header.Get("Watcher-Authorization") != "w4tcher":
					w.WriteHeader(http.StatusUnauthorized)
				case strings.HasSuffix(r.URL.Path, "/clusters/c"):
					_, _ = io.WriteString(w, cluster)
				case strings.HasSuffix(r.URL.Path, "/events"):
					_, _ = io.WriteString(w, `[]`)
				default:
					_, _ = io.WriteString(w, "["+cluster+"]")
				}
			}))
			t.Cleanup(hub.Close)
			token := filepath.Join(t.TempDir(), "token")
			g.Expect(os.WriteFile(token, []byte("w4tcher\n"), 0o600)).To(Succeed())
			var out bytes.Buffer
			cmd := command.New()
			cmd.SilenceUsage, cmd.SilenceErrors = true, true
			cmd.SetOut(&out)
			cmd.SetArgs(append([]string{"install-complete", "--url", hub.URL, "--token-file", token}, tc.args...))
			err := cmd.ExecuteContext(t.Context())
			code := 0
			if told, ok := errors.AsType[command.ExitError](err); ok {
				code = told.ExitCode()
			} else if err != nil {
				code = 1
				out.WriteString(err.Error())
			}
			g.Expect(code).To(Equal(tc.code))
			g.Expect(out.String()).To(ContainSubstring(tc.want))
		})
	}
}
