package contract

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/onsi/gomega"
	"github.com/stmcginnis/gofish"
	"github.com/stmcginnis/gofish/schemas"

	"github.com/ironflow/ironflow/test/bmc/simulator"
)

// Target is a Redfish service with systems that cases can use up.
type Target struct {
	// URL is the service's address without a path.
	URL, User, Password string
	// HTTP trusts the service.
	HTTP *http.Client
	// NewSystem makes a system that nobody uses yet, powered off, with one NIC, and
	// returns its Id.
	NewSystem func(t testing.TB) string
	// Simulator is the simulator behind the service; nil for another one, which
	// then runs the cases that are marked Both.
	Simulator *simulator.Server
	// Patience bounds each wait, Look is the pause between looks.
	Patience, Look time.Duration
}

// Case is one thing that BMCs are asked for.
type Case struct {
	Name string
	// Feature is the row of the feature list that it belongs to.
	Feature Feature
	// Both says that sushy-tools' emulator has it too.
	Both bool
	Run  func(w *World)
}

// World is what a case works with.
type World struct {
	*gomega.WithT
	Target
	T *testing.T
	// API is a client with basic credentials; ID the Id of the case's own system.
	API *gofish.APIClient
	ID  string
}

// Run runs the cases that the target has, as sub-tests side by side.
func Run(t *testing.T, target Target, cases []Case) {
	for _, c := range cases {
		if target.Simulator == nil && !c.Both {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			w := &World{WithT: gomega.NewWithT(t), Target: target, T: t}
			w.API = w.Connect(true, target.Password)
			w.ID = target.NewSystem(t)
			c.Run(w)
		})
	}
}

// Connect opens a client, with basic credentials or a session of its own, which
// ends with the test.
func (w *World) Connect(basic bool, password string) *gofish.APIClient {
	w.T.Helper()
	api, err := w.tryConnect(basic, password)
	w.Expect(err).NotTo(gomega.HaveOccurred())
	return api
}

func (w *World) tryConnect(basic bool, password string) (*gofish.APIClient, error) {
	return gofish.ConnectContext(w.T.Context(), gofish.ClientConfig{
		Endpoint: w.URL, Username: w.User, Password: password, BasicAuth: basic, HTTPClient: w.HTTP, NoModifyTransport: true,
		MaxConcurrentRequests: 4, ReuseConnections: true,
	})
}

// systemPath is the address of the case's system.
func (w *World) systemPath() string { return "/redfish/v1/Systems/" + w.ID }

// System reads the case's system.
func (w *World) System() *schemas.ComputerSystem {
	w.T.Helper()
	system, err := schemas.GetComputerSystem(w.API, w.systemPath())
	w.Expect(err).NotTo(gomega.HaveOccurred())
	return system
}

// Manager reads the BMC of the case's system.
func (w *World) Manager() *schemas.Manager {
	w.T.Helper()
	managers, err := w.System().ManagedBy()
	w.Expect(err).NotTo(gomega.HaveOccurred())
	w.Expect(managers).To(gomega.HaveLen(1))
	return managers[0]
}

// Chassis reads the chassis of the case's system.
func (w *World) Chassis() *schemas.Chassis {
	w.T.Helper()
	chassis, err := w.System().Chassis()
	w.Expect(err).NotTo(gomega.HaveOccurred())
	w.Expect(chassis).To(gomega.HaveLen(1))
	return chassis[0]
}

// Reset asks for a reset, which must be accepted.
func (w *World) Reset(kind schemas.ResetType) {
	w.T.Helper()
	_, err := w.System().Reset(kind)
	w.Expect(err).NotTo(gomega.HaveOccurred(), string(kind))
}

// UntilPower waits until the system shows the power state.
func (w *World) UntilPower(state schemas.PowerState) {
	w.T.Helper()
	w.Eventually(func() schemas.PowerState { return w.System().PowerState }, w.Patience, w.Look).Should(gomega.Equal(state))
}

// Boots switches the system on and waits for the end of POST.
func (w *World) Boots() {
	w.T.Helper()
	w.Reset(schemas.ForceRestartResetType)
	w.UntilPower(schemas.OnPowerState)
	w.Eventually(func() schemas.BootProgressTypes { return w.System().BootProgress.LastState }, w.Patience, w.Look).Should(
		gomega.Equal(schemas.OSRunningBootProgressTypes))
}

// Quirk switches a quirk of the case's system on.
func (w *World) Quirk(quirk simulator.Quirk, times int) {
	w.T.Helper()
	w.Expect(w.Simulator.SetQuirk(w.ID, quirk, times)).To(gomega.Succeed())
}

// Done waits for the end of a task and returns it as it then is.
func (w *World) Done(monitor *schemas.TaskMonitorInfo) *schemas.Task {
	w.T.Helper()
	w.Expect(monitor).NotTo(gomega.BeNil(), "the work goes on as a task")
	w.Expect(monitor.TaskMonitor).NotTo(gomega.BeEmpty(), "the answer says where to look for the task")
	var task *schemas.Task
	w.Eventually(func(g gomega.Gomega) {
		answer := w.Do(http.MethodGet, monitor.TaskMonitor, nil)
		g.Expect(answer.status).To(gomega.Equal(http.StatusOK), "202 while the task goes on")
		task = &schemas.Task{}
		g.Expect(task.UnmarshalJSON(answer.body)).To(gomega.Succeed())
	}, w.Patience, w.Look).Should(gomega.Succeed())
	return task
}

// Answer is what a plain request brought.
type Answer struct {
	status int
	header http.Header
	body   []byte
}

// Do makes a plain request with the client's credentials; refusals are answers too.
func (w *World) Do(method, path string, body any, headers ...string) Answer {
	w.T.Helper()
	custom := map[string]string{}
	for i := 0; i+1 < len(headers); i += 2 {
		custom[headers[i]] = headers[i+1]
	}
	var response *http.Response
	var err error
	switch method {
	case http.MethodGet:
		response, err = w.API.GetWithHeaders(path, custom)
	case http.MethodPost:
		response, err = w.API.PostWithHeaders(path, body, custom)
	case http.MethodPatch:
		response, err = w.API.PatchWithHeaders(path, body, custom)
	default:
		response, err = w.API.DeleteWithHeaders(path, custom)
	}
	if refused, is := errors.AsType[*schemas.Error](err); is {
		return Answer{status: refused.HTTPReturnedStatusCode, body: []byte(refused.Error())}
	}
	w.Expect(err).NotTo(gomega.HaveOccurred())
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	w.Expect(err).NotTo(gomega.HaveOccurred())
	return Answer{status: response.StatusCode, header: response.Header, body: text}
}

// status is that of a plain request.
func (w *World) status(method, path string, body any, headers ...string) int {
	w.T.Helper()
	return w.Do(method, path, body, headers...).status
}

// refusal expects a plain request to be refused with a status, and returns what is said.
func (w *World) refusal(status int, method, path string, body any, headers ...string) string {
	w.T.Helper()
	answer := w.Do(method, path, body, headers...)
	w.Expect(answer.status).To(gomega.Equal(status), "%s %s: %s", method, path, answer.body)
	return string(answer.body)
}

// accepted expects a plain request to be accepted.
func (w *World) accepted(method, path string, body any, headers ...string) Answer {
	w.T.Helper()
	answer := w.Do(method, path, body, headers...)
	w.Expect(answer.status).To(gomega.BeNumerically("<", http.StatusMultipleChoices), "%s %s: %s", method, path, answer.body)
	return answer
}

// get reads a resource as it is.
func (w *World) get(path string) map[string]any {
	w.T.Helper()
	var body map[string]any
	w.decode(w.accepted(http.MethodGet, path, nil).body, &body)
	return body
}

// decode reads JSON.
func (w *World) decode(raw []byte, into any) {
	w.T.Helper()
	w.Expect(json.Unmarshal(raw, into)).To(gomega.Succeed(), "%s", raw)
}

// at walks into nested values: names of properties, and numbers of elements.
func at(value any, steps ...any) any {
	for _, step := range steps {
		switch step := step.(type) {
		case string:
			object, _ := value.(map[string]any)
			value = object[step]
		case int:
			list, _ := value.([]any)
			if step >= len(list) {
				return nil
			}
			value = list[step]
		}
	}
	return value
}

// members reads the links of a collection, without following them: what belongs to
// other cases comes and goes, and its BMC restarts.
func (w *World) members(path string) []string {
	w.T.Helper()
	var collection struct {
		Members []struct {
			ID string `json:"@odata.id"`
		}
	}
	w.Expect(json.Unmarshal(w.Do(http.MethodGet, path, nil).body, &collection)).To(gomega.Succeed())
	ids := make([]string, 0, len(collection.Members))
	for _, member := range collection.Members {
		ids = append(ids, member.ID)
	}
	return ids
}

// Refused expects a refusal with the status.
func (w *World) Refused(err error, status int) {
	w.T.Helper()
	refused, is := errors.AsType[*schemas.Error](err)
	w.Expect(is).To(gomega.BeTrue(), "%v", err)
	w.Expect(refused.HTTPReturnedStatusCode).To(gomega.Equal(status), "%v", err)
}
