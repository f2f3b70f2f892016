package health

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/health/rules"
	"github.com/ironflow/ironflow/bmc/lenient"
)

// logBMC is a BMC with a log of one vendor's habits.
type logBMC struct {
	*tree

	// newest: the newest entry comes first.
	newest bool
	// size is how many entries are on a page, 0 for all on one.
	size int
	// deaf: $skip is ignored in links that were not given out.
	deaf bool
	// bare: the log only links its entries.
	bare bool
	// absent: an empty log is answered with 404.
	absent bool
	// plain: the link to the next page is that of OData, without the list's name before it.
	plain bool

	mu    sync.Mutex
	all   []object // oldest first
	next  int
	pages int
}

func (b *logBMC) write(n int, severity string, at time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for range n {
		b.next++
		id := strconv.Itoa(b.next)
		b.all = append(b.all, object{
			"@odata.id": entries + "/" + id, "Id": id, "Created": at.Add(time.Duration(b.next) * time.Second).Format(time.RFC3339), "Severity": severity, "Message": "entry " + id,
		})
	}
}

// clear empties the log; numbers start anew.
func (b *logBMC) clear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all, b.next = nil, 0
}

func (b *logBMC) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.HasPrefix(r.URL.Path, entries) {
		b.tree.ServeHTTP(w, r)
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	list := slices.Clone(b.all)
	if b.newest {
		slices.Reverse(list)
	}
	if id, is := strings.CutPrefix(r.URL.Path, entries+"/"); is {
		i := slices.IndexFunc(list, func(e object) bool { return e["Id"] == id })
		_ = json.NewEncoder(w).Encode(list[i])
		return
	}
	b.pages++
	if b.absent && len(list) == 0 {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	from, _ := strconv.Atoi(r.URL.Query().Get("$skip"))
	if b.deaf && from%b.size != 0 {
		from = 0
	}
	page := object{"Members@odata.count": len(list)}
	list = list[min(from, len(list)):]
	if b.size > 0 && len(list) > b.size {
		list = list[:b.size]
		link := "Members@odata.nextLink"
		if b.plain {
			link = "@odata.nextLink"
		}
		page[link] = fmt.Sprintf("%s?$skip=%d", entries, from+b.size)
	}
	if b.bare {
		links := []object{}
		for _, e := range list {
			links = append(links, object{"@odata.id": e["@odata.id"]})
		}
		list = links
	}
	page["Members"] = list
	_ = json.NewEncoder(w).Encode(page)
}

// TestLog: over all habits, each new entry is told exactly once and in order, what
// was there before never, also after the log was cleared and its numbers began anew.
func TestLog(t *testing.T) {
	for name, b := range map[string]*logBMC{
		"oldest first":                        {},
		"newest first":                        {newest: true},
		"newest first, in pages":              {newest: true, size: 20},
		"oldest first, in pages":              {size: 20},
		"oldest first, in pages without skip": {size: 20, deaf: true},
		"oldest first, in pages of OData":     {size: 20, plain: true},
		"newest first, in pages of OData":     {newest: true, size: 20, plain: true},
		"absent when empty":                   {absent: true},
		"links only, oldest first":            {bare: true},
		"links only, newest first":            {bare: true, newest: true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			b.tree = usual()
			w := newWatch(t, b)
			told := func() []string {
				var ids []string
				for _, a := range w.alerts {
					ids = append(ids, a.ID)
				}
				w.alerts = nil
				return ids
			}
			b.write(147, "Critical", noon.Add(-48*time.Hour))
			w.pass(5) // as many as it takes to go through an old log
			g.Expect(told()).To(BeEmpty(), "what was there")

			b.write(1, "Warning", noon.Add(-time.Hour))
			w.pass(1)
			g.Expect(told()).To(Equal([]string{"148"}))
			w.pass(2)
			g.Expect(told()).To(BeEmpty())

			b.write(2, "OK", noon.Add(-time.Hour))
			b.write(2, "Critical", noon.Add(-time.Hour))
			w.pass(2)
			g.Expect(told()).To(Equal([]string{"151", "152"}))

			b.clear()
			b.write(2, "Warning", noon.Add(-time.Minute))
			rows := w.pass(2)
			g.Expect(told()).To(Equal([]string{"1", "2"}), "cleared, and written again")
			g.Expect(rows[rules.Log].Message).To(Equal("entry 2"))

			b.clear()
			rows = w.pass(2)
			g.Expect(rows[rules.Log].State).To(Equal(ok))
			b.write(1, "Warning", noon.Add(-time.Second))
			w.pass(2)
			g.Expect(told()).To(Equal([]string{"1"}), "cleared, looked at, and written again")
		})
	}
}

// TestLogIsBounded: a large log does not cost more than its pages in a pass.
func TestLogIsBounded(t *testing.T) {
	for name, b := range map[string]*logBMC{
		"newest first": {newest: true, size: 10}, "oldest first": {size: 10}, "without skip": {size: 10, deaf: true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			b.tree = usual()
			b.write(5005, "Critical", noon.Add(-48*time.Hour))
			w := newWatch(t, b)
			for range 5 {
				b.pages = 0
				w.pass(1)
				g.Expect(b.pages).To(BeNumerically("<=", logPages+1))
				if !b.deaf {
					g.Expect(w.past.Logs[entries].ID).To(Equal("5005"), "and its end is read at once")
				}
			}
		})
	}
}

// TestLogPlaces: the log that tells of the hardware is found, by its name.
func TestLogPlaces(t *testing.T) {
	manager := "/redfish/v1/Managers/1"
	for name, c := range map[string]struct {
		system, manager []string
		want            string
	}{
		"HPE":             {[]string{"SL", "IML", "Event"}, nil, logsAt + "/IML"},
		"Supermicro":      {[]string{"Log1"}, nil, logsAt + "/Log1"},
		"OpenBMC":         {[]string{"Dump", "EventLog", "PostCodes"}, nil, logsAt + "/EventLog"},
		"Dell":            {nil, []string{"Lclog", "Sel", "FaultList"}, manager + "/LogServices/Sel"},
		"other logs only": {[]string{"AuditLog"}, []string{"Journal"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			b := usual()
			collect := func(at string, names []string) {
				var paths []string
				for _, name := range names {
					path := at + "/LogServices/" + name
					paths = append(paths, path)
					b.resources[path] = object{"Entries": link(path + "/Entries")}
					b.resources[path+"/Entries"] = members()
				}
				b.resources[at+"/LogServices"] = members(paths...)
			}
			collect(sys, c.system)
			collect(manager, c.manager)
			b.resources[manager] = object{"LogServices": link(manager + "/LogServices")}
			w := newWatch(t, b)
			w.report.Manager = manager
			rows := w.pass(1)
			if c.want == "" {
				g.Expect(rows[rules.Log]).To(Equal(row(rules.Log, unknown, "the BMC has no log")))
				return
			}
			g.Expect(w.last.Logs).To(HaveLen(1))
			g.Expect(w.last.Logs[0].Service).To(Equal(c.want + "/Entries"))
		})
	}
}

// FuzzEntries: whatever a log's page holds, its entries are within bounds.
func FuzzEntries(f *testing.F) {
	for _, seed := range []string{
		`[{"Id":1,"Created":"2026-08-01T04:00:00-0600","Severity":"Critical","Message":"m"}]`, `[{"@odata.id":"/x/1"}]`, `[null,1,"x",[],{"Oem":{"Hpe":{"Repaired":true}}}]`,
		`{"Id":"x"}`, `[{"Message":"\u009b2J \u202egnorw","Id":"\u0085"}]`, `[{"MessageArgs":"x","MessageId":"A.1.0.B"},`, `null`, ``, `[{"Created":0,"Resolved":"true"}]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var list entryList
		if err := list.UnmarshalJSON(raw); err != nil {
			t.Fatal(err)
		}
		for i := range list {
			e := list[i].entry("/log")
			if len(e.ID) > longest || len(e.Message) > longest || e.Severity == "" || strings.ContainsFunc(e.ID+e.MessageID+e.Message, unprintable) {
				t.Fatalf("%#v", e)
			}
		}
	})
}

// unprintable are the signs that could command a terminal, or turn what it shows.
func unprintable(r rune) bool { return !unicode.IsPrint(r) }

// same answers every read with one text.
type same []byte

func (s same) Get(_ context.Context, path string, into any) error {
	if err := json.Unmarshal(s, into); err != nil && !lenient.OnlyTypes(err) {
		return &client.Error{Kind: client.Broken, Method: http.MethodGet, Path: path, Message: err.Error()}
	}
	return nil
}

// FuzzRead answers every read with the same text: whatever it is, a pass ends within its
// requests, and what is judged of it, twice, is bounded and for people.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		`{}`,
		`{"PowerState":"On","Status":{"Health":"Critical"},"Links":{"Chassis":["/c"]},
			"Thermal":"/t","Fans":[{"Name":"f\u009b","Reading":1e300,"LowerThresholdCritical":-5}],"Power":"/p","PowerSupplies":[{"Status":"x"}]}`,
		`{"Storage":"/s","Memory":"/m","Processors":"/p","LogServices":"/l",
			"Members":[{"@odata.id":"/SEL","Id":"1","Severity":"Critical","Message":"m"}],"Entries":"/e","Members@odata.nextLink":"/n?$skip=1","Members@odata.count":99999}`,
		`{"Links":{"Chassis":["/c"]},"ThermalSubsystem":"/t","PowerSubsystem":"/p","Sensors":"/s","LeakDetection":"/l",
			"Members":["/a","/a"],"ReadingType":"Temperature","Reading":"NaN","Thresholds":{"UpperCritical":{"Reading":1}}}`,
		`{"Links":{"Chassis":["/c"]},"Thermal":"/t",
			"Fans":[{"Name":"f","Reading":2,"UpperThresholdCritical":1,"ReadingUnits":"\u009b2J` + strings.Repeat("x", 100_000) + `","Status":{"State":"Enabled","Health":"OK"}}],
			"Status":{"State":"Enabled","Health":"\u202eCritical` + strings.Repeat("y", 100_000) + `"}}`,
		`{"PowerState":"Off","MemorySummary":[],"Members":{"@odata.id":"/x"}}`, `[`, `null`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var past rules.Past
		for range 2 {
			reading, _ := Read(t.Context(), same(body), Options{Report: &v1alpha1.BMCReport{System: sys}, Past: past, Now: func() time.Time { return noon }})
			if reading.Requests > defaultRequests {
				t.Fatalf("%d requests", reading.Requests)
			}
			rows, next, alerts := rules.Judge(reading, past)
			past = next
			if len(rows) > len(rules.Domains) {
				t.Fatalf("%d rows", len(rows))
			}
			if raw, err := json.Marshal([]any{rows, alerts}); err != nil || len(raw) > 64<<10 {
				t.Fatalf("%d bytes: %v", len(raw), err)
			}
			for _, part := range Parts(reading) {
				if strings.ContainsFunc(part.Name+part.Reading+part.Shows, unprintable) {
					t.Fatalf("%#v", part)
				}
			}
		}
	})
}

// TestEntriesAreBounded: a megabyte of empty entries takes the memory of both ends.
func TestEntriesAreBounded(t *testing.T) {
	g := NewWithT(t)
	var list entryList
	raw := `[{"Id":"first"}` + strings.Repeat(",{}", 100_000) + `,{"Id":"last"}]`
	g.Expect(list.UnmarshalJSON([]byte(raw))).To(Succeed())
	g.Expect(len(list)).To(BeNumerically("<=", 3*keptEntries))
	g.Expect(string(list[0].ID)).To(Equal("first"))
	g.Expect(string(list[len(list)-1].ID)).To(Equal("last"))
}
