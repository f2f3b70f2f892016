package contract_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/hub/contract"
)

// noted keeps what a test would be told.
type noted struct {
	testing.TB
	wrong []string
}

func (n *noted) Errorf(format string, args ...any) {
	n.wrong = append(n.wrong, fmt.Sprintf(format, args...))
}

func (n *noted) Name() string { return "TestOfSomebody/case" }

func (n *noted) Helper() {}

const steps = `{"instructions":[{"step_type":"inventory","step_id":"inventory-1","args":null}],"next_instruction_seconds":60}`

func TestAnswersAreHeldAgainstTheDocument(t *testing.T) {
	const instructions = "/api/assisted-install/v2/infra-envs/x/hosts/y/instructions"
	for name, tc := range map[string]struct {
		method, path string
		code         int
		kind, body   string
		wrong        string
	}{
		"good":                     {"GET", instructions, 200, "", steps, ""},
		"member that is none":      {"GET", instructions, 200, "", strings.Replace(steps, "step_id", "stepId", 1), "has the member stepId"},
		"value of another enum":    {"GET", instructions, 200, "", strings.Replace(steps, `"inventory"`, `"walk"`, 1), `body.instructions[0].step_type is "walk"`},
		"number as text":           {"GET", instructions, 200, "", strings.Replace(steps, "60", `"60"`, 1), "is no number"},
		"another status":           {"GET", instructions, 202, "", steps, "no such answer"},
		"error":                    {"GET", instructions, 404, "", `{"kind":"Error","id":404,"code":"404","href":"","reason":"gone"}`, ""},
		"error of no kind":         {"GET", instructions, 404, "", `{"reason":"gone"}`, "has no member"},
		"error that is not listed": {"GET", instructions, 413, "", `{"kind":"Error","id":413,"code":"413","href":"","reason":"long"}`, ""},
		"refusal":                  {"GET", instructions, 401, "", `{"code":401,"message":"who?"}`, ""},
		"refusal as error":         {"GET", instructions, 401, "", `{"kind":"Error","id":401,"code":"401","href":"","reason":"who?"}`, "has no member"},
		"not served":               {"GET", instructions, 501, "", `{"kind":"Error","id":501,"code":"501","href":"","reason":"no"}`, "is not served"},
		"text":                     {"GET", instructions, 200, "text/plain", steps, "Content-Type"},
		"body of nothing":          {"POST", instructions, 204, "", "x", "want none"},
		"nothing":                  {"POST", instructions, 204, "", "", ""},
		"id that is none":          {"GET", "/api/assisted-install/v2/infra-envs/x/downloads/image-url", 200, "", `{"url":"u","expires_at":"soon"}`, "no date-time"},
		"download without name":    {"GET", "/api/assisted-install/v2/clusters/x/downloads/files", 200, "application/octet-stream", "x", "headers"},
		"unknown path":             {"GET", "/elsewhere", 200, "text/plain", "x", ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			told := &noted{TB: t}
			api := contract.Checked(told, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if tc.kind == "" {
					tc.kind = "application/json"
				}
				w.Header().Set("Content-Type", tc.kind)
				w.WriteHeader(tc.code)
				_, _ = w.Write([]byte(tc.body))
			}))
			api.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), tc.method, tc.path, nil))
			if tc.wrong == "" {
				g.Expect(told.wrong).To(BeEmpty())
				return
			}
			g.Expect(told.wrong).To(ConsistOf(ContainSubstring(tc.wrong)))
		})
	}
	NewWithT(t).Expect(contract.Succeeded("v2PostStepReply")).To(Equal([]string{"TestOfSomebody"}))
}
