package meaning

import (
	"errors"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func TestParse(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		want Payload
	}{
		"as the standard has it": {
			`{"@odata.type":"#Event.v1_7_0.Event","Id":"1","Context":"c","Events":[{"EventId":"7","EventType":"Alert","MessageId":"Alert.1.0.FanFailed",
			"MessageSeverity":"Critical","Message":"Fan 1 failed.","OriginOfCondition":{"@odata.id":"/redfish/v1/Chassis/1/Thermal"},"EventTimestamp":"2026-08-01T10:00:00Z"}]}`,
			Payload{Context: "c", Events: []Event{{
				ID: "7", Type: "Alert", MessageID: "Alert.1.0.FanFailed", Severity: Critical, Message: "Fan 1 failed.",
				Origin: "/redfish/v1/Chassis/1/Thermal", Time: time.Date(2026, 8, 1, 10, 0, 0, 0, time.UTC),
			}}},
		},
		"Alerts instead of Events, one instead of a list": {
			`{"Context":"c","Alerts":{"Severity":"Warning","Message":"m"}}`,
			Payload{Context: "c", Events: []Event{{Severity: Warning, Message: "m"}}},
		},
		"the worse of two severities": {
			`{"Events":[{"Severity":"OK","MessageSeverity":"Warning"},{"Severity":"CRITICAL"},{"Severity":"Normal"},{"Severity":3}]}`,
			Payload{Events: []Event{{Severity: Warning}, {Severity: Critical}, {Severity: OK}, {Severity: OK}}},
		},
		"an origin that is a text": {
			`{"Events":[{"OriginOfCondition":"/redfish/v1/Systems/1"}]}`,
			Payload{Events: []Event{{Severity: OK, Origin: "/redfish/v1/Systems/1"}}},
		},
		"an EventId that is a number, one that is missing": {
			`{"Events":[{"EventId":12},{"MemberId":"3"},{}]}`,
			Payload{Events: []Event{{ID: "12", Severity: OK}, {ID: "3", Severity: OK}, {Severity: OK}}},
		},
		"a context in the event": {
			`{"Events":[{"Context":"old"}],"Name":"x"}`,
			Payload{Context: "old", Events: []Event{{Severity: OK}}},
		},
		"a message from its key and arguments": {
			`{"Events":[{"MessageId":"PSU0003","MessageArgs":["1",2]}]}`,
			Payload{Events: []Event{{Severity: OK, MessageID: "PSU0003", Message: "PSU0003: 1, 2"}}},
		},
		"a metric report": {
			`{"@odata.type":"#MetricReport.v1_4_0.MetricReport","Context":"c","MetricValues":[{"MetricValue":"1"}]}`,
			Payload{Context: "c"},
		},
		"wrong types everywhere": {
			`{"Context":5,"Events":[null,4,"x",[],{"Message":{},"MessageId":[],"EventTimestamp":7,"OriginOfCondition":3,"EventType":null}]}`,
			Payload{Context: "5", Events: []Event{{Severity: OK}}},
		},
		"control characters that JSON does not allow, a mark before it and zeros behind": {
			"\ufeff{\"Events\":[{\"Message\":\"a\r\tb\"}]}\x00\x00",
			Payload{Events: []Event{{Severity: OK, Message: "a  b"}}},
		},
		"characters that would disturb a terminal": {
			"{\"Events\":[{\"Message\":\"a\\u001b[31mb\\nc\"}]}",
			Payload{Events: []Event{{Severity: OK, Message: "a [31mb c"}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			got, err := Parse([]byte(c.body))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got).To(Equal(c.want))
		})
	}
}

// TestParseOffsets: iDRACs leave the colon out of their offsets.
func TestParseOffsets(t *testing.T) {
	g := NewWithT(t)
	got, err := Parse([]byte(`{"Events":[{"EventTimestamp":"2026-08-01T04:00:00-0600"},{"EventTimestamp":"0000-00-00T00:00:00Z"}]}`))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(got.Events[0].Time).To(BeTemporally("==", time.Date(2026, 8, 1, 10, 0, 0, 0, time.UTC)))
	g.Expect(got.Events[1].Time).To(BeZero())
}

func TestParseDamaged(t *testing.T) {
	for name, body := range map[string]string{
		"empty": "", "no object": `[1]`, "text": `hello`, "cut": `{"Context":"c","Events":[{"Message":"m"`, "broken": `{"Context":"c",,}`, "HTML": "<html>",
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			p, err := Parse([]byte(body))
			g.Expect(err).To(MatchError(ErrDamaged))
			if strings.Contains(body, "Context") {
				g.Expect(p.Context).To(Equal("c"), "what came before the damage counts")
			}
		})
	}
}

// TestParseIsBounded: a megabyte of tiny events, and huge texts, are cut.
func TestParseIsBounded(t *testing.T) {
	g := NewWithT(t)
	p, err := Parse([]byte(`{"Events":[` + strings.TrimSuffix(strings.Repeat("{},", 300_000), ",") + `]}`))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(p.Events).To(HaveLen(MaxEvents))
	g.Expect(cap(p.Events)).To(BeNumerically("<=", 2*MaxEvents))
	g.Expect(p.More).To(Equal(300_000 - MaxEvents))

	long := strings.Repeat("ä", 400_000)
	p, err = Parse([]byte(`{"Context":"` + long + `","Events":[{"Message":"` + long + `","MessageId":"` + long + `"}]}`))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(len(p.Context)).To(BeNumerically("<=", maxField))
	g.Expect(len(p.Events[0].Message)).To(BeNumerically("<=", maxMessage))
	g.Expect(len(p.Events[0].MessageID)).To(BeNumerically("<=", maxField))
}

func TestOf(t *testing.T) {
	for name, c := range map[string]struct {
		event Event
		want  Kind
		told  bool
	}{
		"power":                        {Event{MessageID: "ResourceEvent.1.3.ResourcePowerStateChanged", Severity: OK}, Power, false},
		"power, HPE":                   {Event{MessageID: "iLOEvents.2.3.ServerPoweredOff", Severity: OK}, Power, false},
		"power, registry in capitals":  {Event{MessageID: "ILOEVENTS.2.3.serverpoweredon", Severity: OK}, Power, false},
		"power, Dell":                  {Event{MessageID: "IDRAC.2.8.SYS1001", Severity: OK}, Power, false},
		"power, Dell without registry": {Event{MessageID: "SYS1000", Severity: OK}, Power, false},
		"power, OpenBMC":               {Event{MessageID: "OpenBMC.0.1.DCPowerOn", Severity: OK}, Power, false},
		"power, only a type":           {Event{Type: "StatusChange", Origin: "/redfish/v1/Systems/1", Severity: OK}, Power, false},
		"boot, HPE":                    {Event{MessageID: "iLOEvents.2.3.ServerPostComplete", Severity: OK}, Boot, false},
		"task":                         {Event{MessageID: "TaskEvent.1.0.3.TaskCompletedOK", Severity: OK}, Task, false},
		"task, Dell":                   {Event{MessageID: "IDRAC.2.8.JCP037", Severity: OK}, Task, false},
		"task, by its origin":          {Event{MessageID: "Acme.1.0.Done", Origin: "/redfish/v1/TaskService/Tasks/5", Severity: OK}, Task, false},
		"part":                         {Event{MessageID: "StorageDevice.1.1.DriveFailure", Severity: Critical}, Health, true},
		"part is well again":           {Event{MessageID: "ResourceEvent.1.3.ResourceStatusChangedOK", Severity: OK}, Health, true},
		"part, Dell":                   {Event{MessageID: "PSU0003", Severity: Critical}, Health, true},
		"a part's name is no class":    {Event{MessageID: "REDUNDANCY", Type: "Alert", Severity: OK}, Log, false},
		"alert of an unknown registry": {Event{MessageID: "FQXSPFA0002N", Type: "Alert", Severity: Warning}, Health, true},
		"log":                          {Event{MessageID: "Acme.1.0.Logged", Origin: "/redfish/v1/Systems/1/LogServices/SEL/Entries/3", Severity: OK}, Log, false},
		"test":                         {Event{MessageID: "ResourceEvent.1.3.TestMessage", Type: "Alert", Severity: OK}, Other, false},
		"media":                        {Event{MessageID: "ResourceEvent.1.3.ResourceChanged", Type: "ResourceUpdated", Origin: "/redfish/v1/Systems/1/VirtualMedia/1", Severity: OK}, Other, false},
		"nothing":                      {Event{Severity: OK}, Other, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(Of(c.event)).To(Equal(c.want))
			g.Expect(Tells(c.event)).To(Equal(c.told))
		})
	}
}

// TestRules: every rule can be reached, and every kind has its reads.
func TestRules(t *testing.T) {
	g := NewWithT(t)
	for i, r := range Rules {
		g.Expect(Reads).To(HaveKey(r.Kind))
		g.Expect(r.Because).NotTo(BeEmpty())
		e := Event{Severity: OK, Origin: "/x"}
		if r.Registry != "" {
			e.MessageID = r.Registry + ".1.0.Anything"
		}
		if len(r.Keys) > 0 {
			e.MessageID = r.Registry + ".1.0." + strings.NewReplacer("*", "X", "#", "1").Replace(r.Keys[0])
		}
		if r.Origin != nil {
			e.Origin = map[Kind]string{Task: "/redfish/v1/TaskService/Tasks/1", Log: "/redfish/v1/Systems/1/LogServices/SEL", Health: "/redfish/v1/Chassis/1/Power", Power: "/redfish/v1/Systems/1"}[r.Kind]
		}
		if len(r.Types) > 0 {
			e.Type = r.Types[0]
		}
		if len(r.Severities) > 0 {
			e.Severity = r.Severities[0]
		}
		first := -1
		registry, key := split(e.MessageID)
		for j := range Rules {
			if Rules[j].matches(registry, key, e) {
				first = j
				break
			}
		}
		g.Expect(first).To(Equal(i), "rule %d (%s) is never reached: %+v", i, r.Because, e)
	}
}

func TestSystemOf(t *testing.T) {
	for path, want := range map[string]string{
		"/redfish/v1/Systems/1":                                      "/redfish/v1/Systems/1",
		"/redfish/v1/Systems/1/":                                     "/redfish/v1/Systems/1",
		"/redfish/v1/systems/1/LogServices/SEL/Entries/3":            "/redfish/v1/Systems/1",
		"/redfish/v1/Systems/System.Embedded.1#/Boot":                "/redfish/v1/Systems/System.Embedded.1",
		"/redfish/v1/Systems/a%20b/Memory/1":                         "/redfish/v1/Systems/a b",
		"/redfish/v1/Systems/50%/Memory/1":                           "/redfish/v1/Systems/50%",
		"https://192.0.2.1/redfish/v1/Systems/1/Bios":                "/redfish/v1/Systems/1",
		"/redfish/v1/Systems":                                        "",
		"/redfish/v1/Systems/":                                       "",
		"/redfish/v1/Chassis/1/Sensors/Fan1":                         "",
		"/redfish/v1/Managers/1/LogServices/IML/Entries/3":           "",
		"/redfish/v1/AggregationService/X/redfish/v1/Systems/1/Bios": "",
		"/redfish/v1/TaskService/Tasks/1":                            "",
		"":                                                           "",
	} {
		NewWithT(t).Expect(SystemOf(path)).To(Equal(want), path)
	}
}

// FuzzSystemOf: whatever an origin is, a system or nothing comes of it.
func FuzzSystemOf(f *testing.F) {
	for _, seed := range []string{"/redfish/v1/Systems/1/Bios", "https://h/redfish/v1/Systems/%31", "/redfish/v1/Systems/%", "/redfish/v1/Systems/\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		if system := SystemOf(path); system != "" && (!strings.HasPrefix(system, "/redfish/v1/Systems/") || len(system) > len("/redfish/v1/Systems/")+len(path)) {
			t.Fatalf("%q gives %q", path, system)
		}
	})
}

// FuzzParse: no payload makes it fail otherwise than by ErrDamaged, and what is kept
// stays within its bounds.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"Context":"c","Events":[{"EventId":1,"Severity":"OK","OriginOfCondition":"/x"}]}`, `{"Alerts":{"Message":"m"}}`,
		`{"Events":[[[[{}]]]]}`, `{"Events":[{"OriginOfCondition":[[{"@odata.id":"/x"}]]}]}`, "\ufeff{}", `{"Events":[{"Message":"\ud800"}]}`,
		`{"Events":[{"EventTimestamp":"2026-08-01T04:00:00-0600"},`, "{\"Events\":\x00}", `{"Context":{"a":1},"context":"b"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		p, err := Parse(body)
		if err != nil && !errors.Is(err, ErrDamaged) {
			t.Fatalf("another error: %v", err)
		}
		if len(p.Events) > MaxEvents || len(p.Context) > maxField {
			t.Fatalf("%d events, %d bytes of context", len(p.Events), len(p.Context))
		}
		for _, e := range p.Events {
			if len(e.Message) > 3*maxMessage || strings.ContainsAny(e.Message, "\n\x1b") {
				t.Fatalf("message %q", e.Message)
			}
			if Reads[Of(e)] == nil && Of(e) != Other {
				t.Fatalf("kind %q", Of(e))
			}
		}
	})
}
