package health

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/health/rules"
)

type object = map[string]any

func link(path string) object { return object{"@odata.id": path} }

func stat(state, health, rollup string) object {
	s := object{}
	for name, value := range map[string]string{"State": state, "Health": health, "HealthRollup": rollup} {
		if value != "" {
			s[name] = value
		}
	}
	return s
}

// tree is a BMC made of resources by path. A number is a status to be answered.
type tree struct {
	mu        sync.Mutex
	resources map[string]any
	asked     []string
}

func (b *tree) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	path := r.URL.RequestURI()
	b.asked = append(b.asked, path)
	resource, found := b.resources[path]
	if status, is := resource.(int); is {
		w.WriteHeader(status)
		return
	}
	if !found {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(resource)
}

// set changes resources.
func (b *tree) set(resources map[string]any) *tree {
	b.mu.Lock()
	defer b.mu.Unlock()
	maps.Copy(b.resources, resources)
	return b
}

// count is how many requests there were since it was asked last.
func (b *tree) count(prefix string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for _, path := range b.asked {
		if strings.HasPrefix(path, prefix) {
			n++
		}
	}
	b.asked = nil
	return n
}

// members is a collection.
func members(paths ...string) object {
	links := []object{}
	for _, path := range paths {
		links = append(links, link(path))
	}
	return object{"Members": links, "Members@odata.count": len(links)}
}

const (
	sys     = "/redfish/v1/Systems/1"
	box     = "/redfish/v1/Chassis/1"
	logsAt  = sys + "/LogServices"
	entries = logsAt + "/SEL/Entries"
)

// usual is a server with the older resources, all well.
func usual() *tree {
	return &tree{resources: map[string]any{
		sys: object{
			"PowerState": "On", "Status": stat("Enabled", "OK", "OK"), "Links": object{"Chassis": []object{link(box)}},
			"MemorySummary": object{"Status": stat("Enabled", "OK", "OK")}, "ProcessorSummary": object{"Status": stat("Enabled", "OK", "OK")},
			"Memory": link(sys + "/Memory"), "Storage": link(sys + "/Storage"), "LogServices": link(logsAt),
		},
		logsAt: members(logsAt+"/Audit", logsAt+"/SEL"), logsAt + "/SEL": object{"Entries": link(entries)}, entries: members(),
		box: object{"Thermal": link(box + "/Thermal"), "Power": link(box + "/Power")},
		box + "/Thermal": object{
			"Fans":         []object{{"MemberId": "0", "Name": "Fan 1", "Reading": 5000, "ReadingUnits": "RPM", "LowerThresholdCritical": 600, "Status": stat("Enabled", "OK", "")}},
			"Temperatures": []object{{"MemberId": "0", "Name": "Inlet", "ReadingCelsius": 22, "UpperThresholdCritical": 45, "Status": stat("Enabled", "OK", "")}},
		},
		box + "/Power":     object{"PowerSupplies": []object{{"MemberId": "0", "Name": "PSU 1", "Status": stat("Enabled", "OK", "")}}},
		sys + "/Storage":   members(sys + "/Storage/R"),
		sys + "/Storage/R": object{"Name": "RAID", "Status": stat("Enabled", "OK", "OK"), "Drives": []object{link("/d/1"), link("/d/2")}},
		"/d/1":             object{"Name": "Drive 1", "Status": stat("Enabled", "OK", "")},
		"/d/2":             object{"Name": "Drive 2", "Status": stat("Enabled", "OK", ""), "PredictedMediaLifeLeftPercent": 80},
		sys + "/Memory":    members(sys+"/Memory/1", sys+"/Memory/2"),
		sys + "/Memory/1":  object{"Name": "Memory", "DeviceLocator": "DIMM A1", "Status": stat("Enabled", "OK", "")},
		sys + "/Memory/2":  object{"Name": "Memory", "DeviceLocator": "DIMM A2", "Status": stat("Enabled", "OK", "")},
	}}
}

var noon = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

// watch is a BMC that is read and judged pass by pass.
type watch struct {
	t      *testing.T
	c      *client.Client
	past   rules.Past
	report *v1alpha1.BMCReport
	alerts []rules.Alert
	last   rules.Reading
}

func newWatch(t *testing.T, h http.Handler) *watch {
	t.Helper()
	server := httptest.NewTLSServer(h)
	t.Cleanup(server.Close)
	c, err := client.New(client.Target{URL: server.URL, Username: "admin", Password: "password", Basic: true, TLS: client.Trust{Insecure: true}},
		client.Options{Rate: 10_000, Burst: 10_000})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(t.Context()) })
	return &watch{t: t, c: c, report: &v1alpha1.BMCReport{System: sys}}
}

// pass makes passes and returns the rows of the last one, by domain.
func (w *watch) pass(times int) map[rules.Domain]v1alpha1.DomainHealth {
	w.t.Helper()
	rows := map[rules.Domain]v1alpha1.DomainHealth{}
	for range times {
		reading, _ := Read(w.t.Context(), w.c, Options{Report: w.report, Past: w.past, Now: func() time.Time { return noon }})
		if reading.Requests > defaultRequests {
			w.t.Fatalf("%d requests in a pass", reading.Requests)
		}
		list, past, alerts := rules.Judge(reading, w.past)
		w.past, w.last, w.alerts = past, reading, append(w.alerts, alerts...)
		for _, row := range list {
			rows[rules.Domain(row.Domain)] = row
		}
	}
	return rows
}
