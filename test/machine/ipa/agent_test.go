package ipa

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// bench is a hardware manager with one step of each way to end.
type bench struct {
	release chan struct{}
	version string
}

func (*bench) Name() string      { return "BenchManager" }
func (b *bench) Version() string { return b.version }

func (*bench) Steps(context.Context, Kind) ([]Step, error) {
	return []Step{{Name: "wait", Interface: "deploy", Priority: 10}, {Name: "fail", Interface: "deploy"}}, nil
}

func (b *bench) Run(ctx context.Context, call Call) (any, error) {
	switch call.Step {
	case "wait":
		select {
		case <-b.release:
			return map[string]any{"args": call.Args}, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	case "promptly":
		call.BeatAtEnd()
		return "done", call.Beat(ctx, "step promptly: 50 %")
	case "fail":
		return nil, ErrDeployment("disk is on fire")
	case "panic":
		return nil, errors.New("odd")
	}
	return nil, errors.ErrUnsupported
}

func withBench(b *bench) func(*Options) {
	return func(o *Options) {
		o.Managers = []Manager{b}
		o.Config.InspectionURLs = nil
		o.Pace.Forced = time.Hour
	}
}

func stepBody(step, version string) string {
	raw, _ := json.Marshal(map[string]any{"name": "deploy.execute_deploy_step", "params": map[string]any{
		"step": map[string]any{"step": step, "interface": "deploy", "args": map[string]any{"a": 1}},
		"node": map[string]any{"uuid": testNode}, "ports": []any{}, "deploy_version": map[string]string{"BenchManager": version},
	}})
	return string(raw)
}

func TestCommandAnswers(t *testing.T) {
	for _, c := range []struct {
		name   string
		method string
		path   string
		body   string
		code   int
		want   map[string]any
	}{
		{
			"no token", http.MethodGet, "/v1/commands/", "",
			401,
			map[string]any{"faultcode": "Client", "faultstring": "401 Unauthorized: Token invalid."},
		},
		{
			"wrong token", http.MethodPost, "/v1/commands/?agent_token=nonsense", `{"name": "standby.sync", "params": {}}`,
			401,
			map[string]any{"faultcode": "Client"},
		},
		{
			"without the slash", http.MethodGet, "/v1/commands?agent_token=" + testToken, "",
			200,
			map[string]any{"commands": BeEmpty()},
		},
		{
			"not JSON", http.MethodPost, "/v1/commands/?agent_token=" + testToken, "{",
			400,
			map[string]any{"faultstring": "400 Bad Request: Missing or invalid name or params"},
		},
		{
			"no parameters", http.MethodPost, "/v1/commands/?agent_token=" + testToken, `{"name": "standby.sync"}`,
			400,
			map[string]any{"faultcode": "Client"},
		},
		{
			"name without extension", http.MethodPost, "/v1/commands/?agent_token=" + testToken, `{"name": "sync", "params": {}}`,
			400,
			map[string]any{"faultstring": "Invalid command: Command name must be of the form <extension>.<name>"},
		},
		{
			"unknown extension", http.MethodPost, "/v1/commands/?agent_token=" + testToken, `{"name": "mars.land", "params": {}}`,
			404,
			map[string]any{"faultstring": "Not found: Extension with id mars not found."},
		},
		{
			"unknown command", http.MethodPost, "/v1/commands/?agent_token=" + testToken, `{"name": "standby.fly", "params": {}}`,
			400,
			map[string]any{"faultstring": "Invalid command: Unknown command: fly"},
		},
		{
			"unknown record", http.MethodGet, "/v1/commands/42?agent_token=" + testToken, "",
			404,
			map[string]any{"faultstring": "Not found: Command Result with id 42 not found."},
		},
		{
			"sync", http.MethodPost, "/v1/commands/?wait=true&agent_token=" + testToken, `{"name": "standby.sync", "params": {}}`,
			200,
			map[string]any{"command_name": "sync", "command_status": "SUCCEEDED", "command_error": BeNil(), "command_result": BeNil()},
		},
		{
			"partition ids", http.MethodPost, "/v1/commands/?wait=true&agent_token=" + testToken, `{"name": "standby.get_partition_uuids", "params": {}}`,
			200,
			map[string]any{"command_status": "SUCCEEDED", "command_result": BeEmpty()},
		},
		{
			"image without id", http.MethodPost, "/v1/commands/?agent_token=" + testToken, `{"name": "standby.prepare_image", "params": {"image_info": {}}}`,
			400,
			map[string]any{"faultstring": "Invalid command parameters: Image is missing 'id' field."},
		},
		{
			"image", http.MethodPost, "/v1/commands/?wait=true&agent_token=" + testToken,
			`{"name": "standby.prepare_image", "params": {"image_info": {"id": "x", "urls": ["http://x"]}}}`,
			200,
			map[string]any{"command_status": "FAILED", "command_error": HaveKeyWithValue("details", ContainSubstring("not supported by a simulated machine"))},
		},
		{
			"rescue", http.MethodPost, "/v1/commands/?agent_token=" + testToken, `{"name": "rescue.finalize_rescue", "params": {}}`,
			200,
			map[string]any{"command_name": "rescue.finalize_rescue", "command_status": "FAILED"},
		},
		{
			"deploy steps", http.MethodPost, "/v1/commands/?wait=true&agent_token=" + testToken, `{"name": "deploy.get_deploy_steps", "params": {"node": {}, "ports": []}}`,
			200,
			map[string]any{"command_result": And(
				HaveKeyWithValue("deploy_steps", HaveKeyWithValue("BenchManager", HaveLen(2))),
				HaveKeyWithValue("hardware_manager_version", HaveKeyWithValue("BenchManager", "1")))},
		},
		{
			"failing step", http.MethodPost, "/v1/commands/?wait=true&agent_token=" + testToken, stepBody("fail", "1"),
			200,
			map[string]any{"command_status": "FAILED", "command_error": Equal(map[string]any{
				"type": "DeploymentError", "code": 500.0, "message": "Deploy step failed", "details": "disk is on fire",
			})},
		},
		{
			"unexpected error", http.MethodPost, "/v1/commands/?wait=true&agent_token=" + testToken, stepBody("panic", "1"),
			200,
			map[string]any{"command_error": HaveKeyWithValue("details", HavePrefix("Unexpected exception performing deploy step panic. "))},
		},
		{
			"step of nobody", http.MethodPost, "/v1/commands/?wait=true&agent_token=" + testToken, stepBody("levitate", "1"),
			200,
			map[string]any{"command_error": HaveKeyWithValue("type", "HardwareManagerMethodNotFound")},
		},
		{
			"other version", http.MethodPost, "/v1/commands/?wait=true&agent_token=" + testToken, stepBody("fail", "2"),
			200,
			map[string]any{"command_status": "CLEAN_VERSION_MISMATCH", "command_error": HaveKeyWithValue("code", 409.0)},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			l := start(t, newIronic(t), withBench(&bench{version: "1"})).serving()
			code, answer := l.call(c.method, c.path, c.body)
			g.Expect(code).To(Equal(c.code), "%v", answer)
			for key, value := range c.want {
				g.Expect(answer).To(HaveKeyWithValue(key, value))
			}
		})
	}
}

func TestOneCommandAtATime(t *testing.T) {
	g := NewWithT(t)
	b := &bench{release: make(chan struct{}), version: "1"}
	l := start(t, newIronic(t), withBench(b)).serving()

	code, running := l.command(stepBody("wait", "1"), "")
	g.Expect(code).To(Equal(200))
	g.Expect(running).To(HaveKeyWithValue("command_status", "RUNNING"))

	code, refused := l.command(`{"name": "standby.sync", "params": {}}`, "")
	g.Expect(code).To(Equal(409))
	g.Expect(refused["faultstring"]).To(Equal("Agent is busy: executing command execute_deploy_step"))

	close(b.release)
	_, done := l.call(http.MethodGet, "/v1/commands/"+running["id"].(string)+"?wait=true&agent_token="+testToken, "")
	g.Expect(done["command_status"]).To(Equal("SUCCEEDED"))
	g.Expect(done["command_result"]).To(And(
		HaveKeyWithValue("deploy_result", HaveKeyWithValue("args", HaveKeyWithValue("a", 1.0))),
		HaveKeyWithValue("deploy_step", HaveKeyWithValue("step", "wait"))))

	_, list := l.call(http.MethodGet, "/v1/commands/?agent_token="+testToken, "")
	g.Expect(list["commands"]).To(HaveLen(1), "refused commands are not recorded")
}

func TestPromptHeartbeatAfterStep(t *testing.T) {
	g := NewWithT(t)
	l := start(t, newIronic(t), withBench(&bench{version: "1"})).serving()
	_, _ = l.command(stepBody("promptly", "1"), "")
	progress := l.beat()
	g.Expect(progress.AgentStatus).To(Equal("start"))
	g.Expect(progress.StatusMessage).To(Equal("step promptly: 50 %"))
	g.Expect(l.beat().StatusMessage).To(BeEmpty(), "the beat behind the step's end, an hour before the next regular one")
	g.Expect(l.ironic.versions).To(Equal([]string{"1.68", "1.72", "1.68"}))
}

func TestHeartbeatIsRepeatedUntilAccepted(t *testing.T) {
	g := NewWithT(t)
	i := newIronic(t)
	i.refuse = 3
	l := start(t, i, withBench(&bench{version: "1"})).serving()
	g.Expect(l.url).To(HavePrefix("https://127.0.0.1:"))
	g.Expect(i.versions).To(HaveLen(4))
}

func TestInspection(t *testing.T) {
	g := NewWithT(t)
	i := newIronic(t)
	i.wait(true)
	start(t, i, func(o *Options) {
		o.Config.Collectors = []string{"default", "logs"}
		o.Logs = func(context.Context) ([]byte, error) { return []byte("hi"), nil }
	}).serving()
	g.Expect(i.lookups[0]).To(And(HaveKeyWithValue("node_uuid", ConsistOf(testNode)),
		HaveKeyWithValue("addresses", ConsistOf("52:54:00:00:00:01,52:54:00:00:00:02"))))
	data := i.taken()
	g.Expect(data).To(And(HaveKey("configuration"), HaveKeyWithValue("logs", "aGk="), HaveKeyWithValue("error", BeNil()), HaveKeyWithValue("boot_interface", BeNil()),
		HaveKeyWithValue("root_disk", HaveKeyWithValue("name", "/dev/nvme0n1"))), "the smallest disk of 4 GiB or more")
	inventory := data["inventory"].(map[string]any)
	g.Expect(inventory["memory"]).To(HaveKeyWithValue("physical_mb", 16384.0))
	g.Expect(inventory["cpu"]).To(And(HaveKeyWithValue("count", 8.0), HaveKeyWithValue("frequency", "2400.0000")))
	g.Expect(inventory["interfaces"].([]any)[0]).To(And(HaveKeyWithValue("ipv4_address", "192.0.2.10"), HaveKeyWithValue("has_carrier", true)))
}

func TestInventoryIsOfferedUntilIronicWaits(t *testing.T) {
	g := NewWithT(t)
	i := newIronic(t)
	start(t, i, nil).serving()
	g.Expect(i.taken()).To(BeNil())
	i.wait(true)
	g.Eventually(i.taken, 20*time.Second, time.Millisecond).ShouldNot(BeNil())
}

func TestInventoryIsKeptBackAfterACommand(t *testing.T) {
	g := NewWithT(t)
	i := newIronic(t)
	l := start(t, i, func(o *Options) { o.Pace.Inspect = time.Hour }).serving()
	code, _ := l.command(`{"name": "standby.sync", "params": {}}`, "")
	g.Expect(code).To(Equal(200))
	g.Expect(l.stop()).To(Succeed(), "nothing goes on behind the machine's back")
}

func TestRestartWithAndWithoutToken(t *testing.T) {
	for _, c := range []struct {
		name string
		kept *Identity
		want Phase
	}{
		{"within the boot, token and certificate kept", &Identity{}, Serving},
		{"after a reboot behind Ironic's back", nil, LockedDown},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			i := newIronic(t)
			keep := func(o *Options) { o.Config.InspectionURLs, o.Identity = nil, c.kept }
			first := start(t, i, keep).serving()
			g.Expect(first.stop()).To(Succeed())
			second := start(t, i, keep)
			g.Expect(<-second.phases).To(Equal(LookingUp))
			g.Expect(<-second.phases).To(Equal(c.want))
			if c.want == Serving {
				second.serving()
				g.Expect([]string{second.url, second.pem}).To(Equal([]string{first.url, first.pem}), "Ironic refuses another address or certificate")
			}
		})
	}
}

func TestPowerCommandsReachTheMachine(t *testing.T) {
	for command, want := range map[string]string{"power_off": "off", "run_image": "reboot"} {
		t.Run(command, func(t *testing.T) {
			g := NewWithT(t)
			power := fakePower{make(chan string, 1)}
			l := start(t, newIronic(t), func(o *Options) { o.Config.InspectionURLs, o.Power = nil, power }).serving()
			_, _ = l.command(`{"name": "standby.`+command+`", "params": {}}`, "")
			g.Eventually(power.calls, 20*time.Second).Should(Receive(Equal(want)))
		})
	}
}

func TestLockdownClosesTheAPI(t *testing.T) {
	g := NewWithT(t)
	l := start(t, newIronic(t), withBench(&bench{version: "1"})).serving()
	code, answer := l.command(`{"name": "system.lockdown", "params": {}}`, "")
	g.Expect(code).To(Equal(200))
	g.Expect(answer["command_status"]).To(Equal("SUCCEEDED"))
	g.Eventually(l.phases, 20*time.Second).Should(Receive(Equal(LockedDown)))
}

func TestReadConfig(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       Config
		fails      string
	}{
		{
			"as rendered", "[DEFAULT]\napi_url = https://a:6385/, https://b:6385\ncafile = /etc/ca.crt\ninspection_callback_url = https://a:5050/v1/continue\n",
			Config{APIURLs: []string{"https://a:6385", "https://b:6385"}, InspectionURLs: []string{"https://a:5050/v1/continue"}, Collectors: []string{"default"}, CAFile: "/etc/ca.crt"},
			"",
		},
		{
			"inspection by collectors", "[DEFAULT]\napi_url=http://a\ninspection_collectors=default,logs\ninsecure=True\n",
			Config{APIURLs: []string{"http://a"}, InspectionURLs: []string{"http://a/v1/continue_inspection"}, Collectors: []string{"default", "logs"}, Insecure: true},
			"",
		},
		{"other sections", "[container]\napi_url = http://a\n", Config{}, "api_url is not set"},
		{"not a URL", "[DEFAULT]\napi_url = nonsense\n", Config{}, "is not a URL"},
		{"not an option", "[DEFAULT]\nnonsense\n", Config{}, "line 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			got, err := ReadConfig(strings.NewReader(c.text))
			if c.fails != "" {
				g.Expect(err).To(MatchError(ContainSubstring(c.fails)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got).To(Equal(c.want))
		})
	}
}
