package rest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/rest"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// seen is an event as an agent posts it, with some members changed.
func seen(change map[string]any) map[string]any {
	e := map[string]any{"name": "seen", "severity": "info", "category": "user", "message": "something was seen", "event_time": "2026-01-02T03:04:05.000Z"}
	maps.Copy(e, change)
	return e
}

// TestAnAgentTellsOfItsOwnOnly: what it says of others does not get onto their timeline.
func TestAnAgentTellsOfItsOwnOnly(t *testing.T) {
	f := newFixture(t)
	otherEnv, otherToken := f.InfraEnv(t, "another")
	for name, tc := range map[string]struct {
		token string
		about map[string]any
		code  int
	}{
		"its own":                       {f.token, map[string]any{"cluster_id": f.cluster, "host_id": f.host.HostID, "infra_env_id": f.env}, 201},
		"its own in capitals":           {f.token, map[string]any{"cluster_id": strings.ToUpper(f.cluster), "host_id": strings.ToUpper(f.host.HostID)}, 201},
		"nobody":                        {f.token, nil, 201},
		"the cluster of another":        {otherToken, map[string]any{"cluster_id": f.cluster}, 404},
		"the host of another":           {otherToken, map[string]any{"host_id": f.host.HostID}, 404},
		"the infra-env of another":      {otherToken, map[string]any{"infra_env_id": f.env}, 404},
		"a host that is not there":      {f.token, map[string]any{"host_id": uuid.NewString()}, 404},
		"its own host as of another":    {f.token, map[string]any{"host_id": f.host.HostID, "infra_env_id": otherEnv}, 404},
		"a cluster that is not a UUID":  {f.token, map[string]any{"cluster_id": "edge"}, 404},
		"an infra-env that is not UUID": {otherToken, map[string]any{"infra_env_id": "pool"}, 404},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			event := seen(tc.about)
			event["message"] = "told of " + name
			code, raw := f.Agent(tc.token).Do(t, http.MethodPost, "/events", event, nil)
			g.Expect(code).To(Equal(tc.code), raw)
			if tc.code == http.StatusCreated {
				g.Expect(f.Timeline(t)).To(ContainSubstring("told of " + name))
			} else {
				g.Expect(f.Timeline(t)).NotTo(ContainSubstring("told of " + name))
			}
		})
	}
}

// TestWhatAHostTellsIsOfItsCluster: most hosts do not know the id of their cluster, and who
// follows the cluster asks by that.
func TestWhatAHostTellsIsOfItsCluster(t *testing.T) {
	g := NewWithT(t)
	f := newFixture(t)
	code, raw := f.Agent(f.token).Do(t, http.MethodPost, "/events", seen(map[string]any{"host_id": f.host.HostID, "message": "no way to the registry"}), nil)
	g.Expect(code).To(Equal(201), raw)
	code, raw = f.User().Do(t, http.MethodGet, "/events?cluster_id="+f.cluster, nil, nil)
	g.Expect(code).To(Equal(200), raw)
	g.Expect(raw).To(ContainSubstring("no way to the registry"))
}

// TestAnEventOfAnAgentIsShort: it stays on the timeline for a month, and for ever with a time of the future.
func TestAnEventOfAnAgentIsShort(t *testing.T) {
	f := newFixture(t)
	soon := time.Now().Add(time.Minute).UTC().Format(time.RFC3339)
	for name, tc := range map[string]struct {
		change map[string]any
		want   string // of the refusal; empty for taken
	}{
		"as long as it may be":     {map[string]any{"message": strings.Repeat("x", service.MaxMessage)}, ""},
		"a clock that is ahead":    {map[string]any{"event_time": soon}, ""},
		"no time":                  {map[string]any{"event_time": nil}, ""},
		"properties":               {map[string]any{"props": `{"a": 1}`}, ""},
		"8 MiB":                    {map[string]any{"message": strings.Repeat("x", 8<<20)}, "message has 8388608 bytes, more than 4096"},
		"a long name":              {map[string]any{"name": strings.Repeat("x", 200)}, "name has 200 bytes, more than 128"},
		"long properties":          {map[string]any{"props": `{"a": "` + strings.Repeat("x", service.MaxProps) + `"}`}, "props has"},
		"properties without form":  {map[string]any{"props": "[]"}, "props: want a JSON object"},
		"the year 2999":            {map[string]any{"event_time": "2999-01-01T00:00:00.000Z"}, "set the clock of who sends it"},
		"a severity of its own":    {map[string]any{"severity": "apocalyptic"}, "want info, warning, error, critical"},
		"a category of its own":    {map[string]any{"category": "gossip"}, "want user or metrics"},
		"that its cluster is gone": {map[string]any{"name": "cluster_deregistered", "props": `{"cluster": {"name": "edge"}}`}, "the hub alone tells of cluster_deregistered"},
		"no message":               {map[string]any{"message": ""}, "needs a message and a severity"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			code, raw := f.Agent(f.token).Do(t, http.MethodPost, "/events", seen(tc.change), nil)
			if tc.want == "" {
				g.Expect(code).To(Equal(http.StatusCreated), raw)
				return
			}
			g.Expect(code).To(Equal(http.StatusBadRequest), raw)
			g.Expect(raw).To(ContainSubstring(tc.want))
		})
	}
}

// TestTheNameOfAnAgentIsShort: it is kept with the host and is part of each answer about it.
func TestTheNameOfAnAgentIsShort(t *testing.T) {
	g := NewWithT(t)
	hub := testhub.Start(t, testhub.Options{})
	env, token := hub.InfraEnv(t, "pool")
	key := store.HostKey{InfraEnvID: env, HostID: uuid.NewString()}
	code, raw := hub.Agent(token).Do(t, http.MethodPost, "/infra-envs/"+env+"/hosts", wire.HostCreateParams{HostID: key.HostID, DiscoveryAgentVersion: strings.Repeat("x", 4<<20)}, nil)
	g.Expect(code).To(Equal(http.StatusBadRequest), "%.200s", raw)
	g.Expect(raw).To(ContainSubstring("discovery_agent_version has 4194304 bytes, more than 512"))
	_, err := hub.Host(t.Context(), key)
	g.Expect(service.IsNotFound(err)).To(BeTrue(), "nothing is kept of it")
}

// TestARegistrationThatIsPutOffIsSaid, once: else nobody learns that a machine waits, and for
// what, or the timeline is full of it, since its agent asks again every minute.
func TestARegistrationThatIsPutOffIsSaid(t *testing.T) {
	g := NewWithT(t)
	hub := testhub.Start(t, testhub.Options{IgnitionDir: testhub.RoleFiles(t), Timers: service.Timers{Monitor: 10 * time.Millisecond}})
	p := singleNode(t).checked().play(t, hub)
	p.start(t, hub)
	env := p.hosts[0].InfraEnvID
	late := uuid.NewString()
	for range 3 {
		code, raw := p.agentOf(t, hub, 0).Do(t, http.MethodPost, "/infra-envs/"+env+"/hosts", wire.HostCreateParams{HostID: late}, nil)
		g.Expect(code).To(Equal(http.StatusServiceUnavailable), raw)
	}
	var events wire.EventList
	code, raw := p.user.Do(t, http.MethodGet, "/events?host_id="+late, nil, &events)
	g.Expect(code).To(Equal(http.StatusOK), raw)
	g.Expect(events).To(ConsistOf(And(
		HaveField("Name", "host_registration_put_off"), HaveField("Severity", wire.EventSeverityWarning),
		HaveField("Message", ContainSubstring("takes no new hosts: it is installing; the host asks again")),
	)))
}

// TestAHostKeepsWhatItWasAskedFor: one that answers what nobody asked fills neither records nor timeline.
func TestAHostKeepsWhatItWasAskedFor(t *testing.T) {
	g := NewWithT(t)
	hub := testhub.Start(t, testhub.Options{})
	p := singleNode(t).play(t, hub)
	agent := p.agentOf(t, hub, 0)
	path := "/infra-envs/" + p.hosts[0].InfraEnvID + "/hosts/" + p.hosts[0].HostID + "/instructions"
	before := hub.Timeline(t)
	pulled := func(n int, name string) string {
		answer := wire.ContainerImageAvailabilityResponse{}
		for i := range n {
			answer.Images = append(answer.Images, wire.ContainerImageAvailability{Name: fmt.Sprint(name, i), Result: wire.ContainerImageAvailabilityResultFailure})
		}
		return encode(answer)
	}
	for name, tc := range map[string]struct {
		step   wire.StepType
		output string
		want   string
	}{
		"20,000 images":        {wire.StepTypeContainerImageAvailability, pulled(20_000, "a/"), "has"},
		"33 images":            {wire.StepTypeContainerImageAvailability, pulled(33, "a/"), "the host reports 33 images"},
		"an image's long name": {wire.StepTypeContainerImageAvailability, pulled(1, strings.Repeat("x", 600)), "an image's name has 601 bytes"},
		"a disk that is none":  {wire.StepTypeInstallationDiskSpeedCheck, encode(wire.DiskSpeedCheckResponse{Path: strings.Repeat("x", 10_000), IoSyncDuration: 1}), "the host has no disk"},
		"a long resolution":    {wire.StepTypeDomainResolution, `{"resolutions": [{"domain_name": "` + strings.Repeat("x", 300<<10) + `"}]}`, "more than 262144"},
		"a long inventory":     {wire.StepTypeInventory, encode(wire.Inventory{Hostname: strings.Repeat("x", 9<<20)}), "more than 8388608"},
	} {
		code, raw := agent.Do(t, http.MethodPost, path, wire.StepReply{StepType: tc.step, StepID: "x", Output: tc.output}, nil)
		g.Expect(code).To(Equal(http.StatusBadRequest), "%s: %.200s", name, raw)
		g.Expect(raw).To(ContainSubstring(tc.want), name)
	}
	g.Expect(hub.Timeline(t)).To(Equal(before))
	for n := range 4 { // of other clusters, one after the other
		agent.Reply(t, p.hosts[0], wire.StepReply{StepType: wire.StepTypeContainerImageAvailability, StepID: "x", Output: pulled(20, fmt.Sprint("release-", n, "/"))})
	}
	h, _ := p.host(t, 0)
	g.Expect(len(h.ImagesStatus)).To(BeNumerically("<", 8<<10), "the last ones are kept")
	g.Expect(h.ImagesStatus).To(And(ContainSubstring("release-3/19"), Not(ContainSubstring("release-0/"))))
}

func encode(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// TestAHostHasOneBudget: what is beyond it is refused and said once; others do not notice.
func TestAHostHasOneBudget(t *testing.T) {
	g := NewWithT(t)
	f := newFixture(t)
	other := store.HostKey{InfraEnvID: f.env, HostID: uuid.NewString()}
	f.Agent(f.token).Register(t, other)
	path := "/infra-envs/" + f.env + "/hosts/"
	reports := func(key store.HostKey) (int, string) {
		return f.Agent(f.token).Do(t, http.MethodPut, path+key.HostID+"/logs-progress", wire.LogsProgressParams{LogsState: wire.LogsStateCollecting}, nil)
	}
	taken := 0
	var code int
	var raw string
	for code, raw = reports(f.host); code == http.StatusNoContent && taken < 10_000; code, raw = reports(f.host) {
		taken++
	}
	g.Expect(code).To(Equal(http.StatusTooManyRequests), raw)
	g.Expect(raw).To(MatchRegexp(`600 reports, and one a second after that; wait \d+ s`))
	g.Expect(taken).To(BeNumerically(">", 500), "a host that is installed has enough")
	for range 20 {
		reports(f.host)
	}
	var events wire.EventList
	code, raw = f.User().Do(t, http.MethodGet, "/events?host_id="+f.host.HostID, nil, &events)
	g.Expect(code).To(Equal(http.StatusOK), raw)
	said := 0
	for _, e := range events {
		if e.Name == "host_reports_too_much" {
			said++
		}
	}
	g.Expect(said).To(Equal(1))
	code, raw = reports(other)
	g.Expect(code).To(Equal(http.StatusNoContent), raw)
	f.Agent(f.token).Poll(t, f.host) // it can still be told to stop
}

// TestARegistrationIsPaidForByWhoSendsIt: a host with a token of its own claims to be another one, again and again. That one can
// still report.
func TestARegistrationIsPaidForByWhoSendsIt(t *testing.T) {
	g := NewWithT(t)
	f := newFixture(t)
	one, other := store.HostKey{InfraEnvID: f.env, HostID: uuid.NewString()}, store.HostKey{InfraEnvID: f.env, HostID: uuid.NewString()}
	good, hostile := f.Agent(f.token).Exchange(t, one), f.Agent(f.token).Exchange(t, other)
	for range 700 {
		code, raw := hostile.Do(t, http.MethodPost, "/infra-envs/"+f.env+"/hosts", wire.HostCreateParams{HostID: one.HostID, DiscoveryAgentVersion: "agent:1"}, nil)
		g.Expect(code).To(BeNumerically(">=", 400), raw)
	}
	code, raw := good.Do(t, http.MethodPut, "/infra-envs/"+f.env+"/hosts/"+one.HostID+"/logs-progress", wire.LogsProgressParams{LogsState: wire.LogsStateCollecting}, nil)
	g.Expect(code).To(Equal(http.StatusNoContent), raw)
}

// bodiesWithoutEnd begins eight bodies of 15 MiB that do not end while the test lasts, and returns the status codes of
// those that are answered nevertheless.
func bodiesWithoutEnd(t *testing.T, hub *testhub.Hub, token string) <-chan int {
	t.Helper()
	stop := make(chan struct{})
	var all sync.WaitGroup
	t.Cleanup(func() {
		close(stop)
		all.Wait()
	})
	answered := make(chan int, 8)
	for range cap(answered) {
		r, w := io.Pipe()
		all.Go(func() {
			chunk := bytes.Repeat([]byte("x"), 1<<20)
			for range 15 {
				if _, err := w.Write(chunk); err != nil {
					return // it was refused
				}
			}
			<-stop
			_ = w.CloseWithError(io.ErrUnexpectedEOF)
		})
		all.Go(func() {
			req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, hub.URL+rest.Base+"/v2/events", r)
			req.Header.Set(wire.HeaderAgentToken, token)
			answer, err := hub.Client().Do(req)
			_ = r.CloseWithError(io.ErrClosedPipe)
			if err == nil {
				_ = answer.Body.Close()
				answered <- answer.StatusCode
			}
		})
	}
	return answered
}

// TestBodiesThatDoNotEnd are in memory: those of one infra-env are bounded, and others do not notice.
func TestBodiesThatDoNotEnd(t *testing.T) {
	g := NewWithT(t)
	f := newFixture(t)
	_, otherToken := f.InfraEnv(t, "another")
	refused := bodiesWithoutEnd(t, f.Hub, f.token)
	g.Eventually(refused).WithTimeout(time.Minute).Should(Receive(Equal(http.StatusTooManyRequests)))
	code, raw := f.Agent(otherToken).Do(t, http.MethodPost, "/events", seen(nil), nil)
	g.Expect(code).To(Equal(http.StatusCreated), raw)
}

// TestAClusterHasOneBudget: what is said of a cluster is a write and an event each, whoever says it.
func TestAClusterHasOneBudget(t *testing.T) {
	g := NewWithT(t)
	f := newFixture(t)
	inside, err := clusterCaller(f.Hub, f.cluster)
	g.Expect(err).NotTo(HaveOccurred())
	degraded := func() (int, string) {
		return inside.Do(t, http.MethodPost, "/clusters/"+f.cluster+"/actions/complete-installation", wire.CompletionParams{ErrorInfo: "an operator is gone"}, nil)
	}
	taken := 0
	var code int
	var raw string
	for code, raw = degraded(); code == http.StatusAccepted && taken < 10_000; code, raw = degraded() {
		taken++
	}
	g.Expect(code).To(Equal(http.StatusTooManyRequests), raw)
	g.Expect(raw).To(MatchRegexp(`the cluster reports more than the hub keeps of one: 600 reports, and one a second after that; wait \d+ s`))
	g.Expect(taken).To(BeNumerically(">", 500), "a cluster that is installed has enough")
	for range 20 {
		degraded()
	}
	var events wire.EventList
	code, raw = f.User().Do(t, http.MethodGet, "/events?cluster_id="+f.cluster, nil, &events)
	g.Expect(code).To(Equal(http.StatusOK), raw)
	said := 0
	for _, e := range events {
		if e.Name == "cluster_reports_too_much" {
			said++
		}
	}
	g.Expect(said).To(Equal(1))
	f.agent.Progress(t, f.host, wire.HostStageWritingImageToDisk, "50%") // its hosts do not notice
}

// TestLogsThatDoNotEnd are files of the hub's machine: those of one host are bounded, and others do not notice.
func TestLogsThatDoNotEnd(t *testing.T) {
	g := NewWithT(t)
	f := newFixture(t)
	const begin = "--x\r\nContent-Disposition: form-data; name=\"upfile\"; filename=\"a\"\r\n\r\njournal"
	upload := func(query string, body io.Reader) int {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, f.URL+rest.Base+"/v2/clusters/"+f.cluster+"/logs?"+query, body)
		if err != nil {
			return 0
		}
		req.Header.Set(wire.HeaderAgentToken, f.token)
		req.Header.Set("Content-Type", "multipart/form-data; boundary=x")
		answer, err := f.Client().Do(req)
		if err != nil {
			return 0
		}
		_ = answer.Body.Close()
		return answer.StatusCode
	}
	ofHost := "logs_type=host&infra_env_id=" + f.env + "&host_id=" + f.host.HostID
	var all sync.WaitGroup
	var open []*io.PipeWriter
	const much = 16 << 20 // more than what is on its way: the hub has begun to take it
	for range 4 {
		r, w := io.Pipe()
		open = append(open, w)
		all.Go(func() { upload(ofHost, r) })
		_, err := io.WriteString(w, begin+strings.Repeat("x", much))
		g.Expect(err).NotTo(HaveOccurred())
	}
	whole := func() io.Reader { return strings.NewReader(begin + "\r\n--x--\r\n") }
	g.Expect(upload(ofHost, whole())).To(Equal(http.StatusTooManyRequests))
	g.Expect(upload("logs_type=controller", whole())).To(Equal(http.StatusNoContent))
	for _, w := range open {
		_ = w.CloseWithError(io.ErrUnexpectedEOF)
	}
	all.Wait()
	g.Eventually(func() int { return upload(ofHost, whole()) }).WithTimeout(time.Minute).Should(Equal(http.StatusNoContent), "the places are free again")
}
