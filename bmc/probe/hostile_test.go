package probe_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/probe"
)

// TestHostileAnswers: an answer that wants to harm costs its rows, a bounded report
// and a bounded number of requests.
func TestHostileAnswers(t *testing.T) {
	long := strings.Repeat("x", 256<<10)
	for name, harm := range map[string]func(f *fixture){
		"links to another host": func(f *fixture) {
			for _, member := range []string{"Bios", "SecureBoot", "Storage", "VirtualMedia"} {
				f.Resources[dellSystem].(map[string]any)[member] = map[string]any{"@odata.id": "https://elsewhere.example/redfish/v1/x"}
			}
		},
		"a link to itself": func(f *fixture) {
			for _, member := range []string{"Bios", "SecureBoot", "Storage", "VirtualMedia"} {
				f.Resources[dellSystem].(map[string]any)[member] = linkTo(dellSystem)
			}
		},
		"pages without an end": func(f *fixture) {
			for _, path := range []string{"/Registries", "/SessionService/Sessions", dellSystem + "/VirtualMedia", dellRAID + "/Volumes"} {
				f.Resources[path].(map[string]any)["Members@odata.nextLink"] = redfishRoot + path + "?$skip=1"
			}
		},
		"a hundred thousand members": func(f *fixture) {
			many := make([]any, 100_000)
			for i := range many {
				many[i] = linkTo(fmt.Sprintf("%s/Drives/%d", dellRAID, i))
			}
			f.Resources[dellRAID].(map[string]any)["Drives"] = many
			f.Resources[dellRAID+"/Volumes"].(map[string]any)["Members"] = many[:20_000]
		},
		"ten thousand controllers": func(f *fixture) {
			many := make([]any, 10_000)
			for i := range many {
				many[i] = linkTo(fmt.Sprintf("%s/Storage/%d-%s", dellSystem, i, strings.Repeat("x", 200)))
			}
			f.Resources[dellSystem+"/Storage"].(map[string]any)["Members"] = many
		},
		"texts without an end": func(f *fixture) {
			s := f.Resources[dellSystem].(map[string]any)
			s["Model"], s["SKU"], s["PowerState"], s["BiosVersion"] = long, long, long, long
			f.Resources[dellManager].(map[string]any)["FirmwareVersion"] = long
		},
		"commands for a terminal": func(f *fixture) {
			f.Resources[dellSystem].(map[string]any)["Model"] = "\x1b]0;owned\x07 R750 \u202e"
			f.Resources[dellManager].(map[string]any)["Model"] = "\x1b[2J"
			f.Resources["/AccountService"] = json.RawMessage("\x1b[2J")
		},
		"values of every wrong type": func(f *fixture) {
			for path, body := range f.Resources {
				if resource, is := body.(map[string]any); is && path != "/" && path != "/Systems" {
					for i, member := range []any{nil, 7, "x", []any{[]any{}}, map[string]any{"a": 1}, true, -1e300} {
						for j, name := range sortedNames(resource) {
							if j%7 == i {
								resource[name] = member
							}
						}
					}
				}
			}
		},
		"one Id twice": func(f *fixture) {
			f.Resources[dellRAID].(map[string]any)["Drives"] = []any{linkTo(dellRAID + "/Drives/Disk.Bay.0"), linkTo(dellRAID + "/Drives/Disk.Bay.0")}
			f.Resources[dellSystem+"/Storage/CPU.1"].(map[string]any)["Id"] = "RAID.Slot.1-1"
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			f := load(t, "dell-idrac9")
			harm(f)
			report, err := examine(t, f, probe.Options{Requests: 80})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(report.Vendor).To(Equal("Dell"))
			g.Expect(len(f.requests())).To(BeNumerically("<=", 80))
			sane(t, report)
		})
	}
}

func sortedNames(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }

// sane checks what every report keeps to: it fits into an object of the API, its
// texts are for people, and the keys of its lists occur once.
func sane(t testing.TB, report *v1alpha1.BMCReport) {
	t.Helper()
	raw, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	if len(raw) > 256<<10 {
		t.Errorf("the report has %d bytes", len(raw))
	}
	var content any
	if err := json.Unmarshal(raw, &content); err != nil {
		t.Fatal(err)
	}
	eachText(content, func(text string) {
		if !utf8.ValidString(text) || utf8.RuneCountInString(text) > 400 {
			t.Errorf("a text of %d signs: %.80q", utf8.RuneCountInString(text), text)
		}
		for _, r := range text {
			if !unicode.IsPrint(r) {
				t.Errorf("%q holds %U", text, r)
			}
		}
	})
	if len(report.Capabilities) != len(probe.Capabilities) {
		t.Errorf("%d capabilities", len(report.Capabilities))
	}
	keys := map[string]bool{}
	for _, s := range report.Storage {
		if keys[s.ID] {
			t.Errorf("the storage %q occurs twice", s.ID)
		}
		keys[s.ID] = true
		drives := map[string]bool{}
		for _, d := range s.Drives {
			if drives[d.ID] {
				t.Errorf("the drive %q occurs twice", d.ID)
			}
			drives[d.ID] = true
		}
	}
	for _, list := range [][]string{report.MediaProtocols, report.UpdateProtocols, report.Licences} {
		seen := map[string]bool{}
		for _, one := range list {
			if seen[one] {
				t.Errorf("%q occurs twice in a set", one)
			}
			seen[one] = true
		}
	}
}

func eachText(value any, do func(string)) {
	switch value := value.(type) {
	case string:
		do(value)
	case []any:
		for _, element := range value {
			eachText(element, do)
		}
	case map[string]any:
		for _, member := range value {
			eachText(member, do)
		}
	}
}

// FuzzProbe answers every request with the same text: whatever it is, the probe ends
// within its budget, without a panic, and its report is sane.
func FuzzProbe(f *testing.F) {
	f.Add([]byte(`{}`))
	f.Add([]byte(`{"RedfishVersion":"1.0","Systems":{"@odata.id":"/redfish/v1/Systems"},"Members":[{"@odata.id":"/redfish/v1/Systems/1"}],
		"Drives":["/d/1"],"Storage":"/s","StorageControllers":[{"SupportedRAIDTypes":["RAID1"]}],"Volumes":"/v",
		"Bios":"/b","Attributes":{"A":1},"@Redfish.Settings":{"SettingsObject":"/x"},
		"VirtualMedia":"/m","MediaTypes":["CD"],"Links":{"ManagedBy":["/mgr"]},"LicenseService":"/l","Licenses":["x"]}`))
	f.Add([]byte(`{"Systems":["/a"],"Members":"/a","Boot":{"BootSourceOverrideTarget":null},"Oem":{"Hpe":{"License":{"LicenseString":"\u001b"}}},"DateTime":"0000-00-00T00:00:00-0600"}`))
	f.Add([]byte(`{"Systems":"/a","Members":[{"@odata.id":"/a","Id":"1","Boot":[]},null,7,[["/a"]]],"Members@odata.nextLink":"/a","Members@odata.count":-5}`))
	f.Add([]byte(`[`))
	f.Fuzz(func(t *testing.T, body []byte) {
		r := &reader{http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(body) }), 0}
		report, err := probe.Probe(t.Context(), r, probe.Options{Username: "admin", Expand: true, Now: func() time.Time { return time.Unix(1_800_000_000, 0) }})
		if r.n >= probe.DefaultRequests {
			t.Errorf("%d requests", r.n)
		}
		if err == nil {
			sane(t, report)
		}
	})
}

// TestGivesUp: without root, system or credentials there is no report, and nothing is
// tried that could lock an account or trouble a silent BMC.
func TestGivesUp(t *testing.T) {
	status := func(code int, only string) http.Handler {
		f := load(t, "dell-idrac9")
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if only == "" || strings.HasSuffix(r.URL.Path, only) {
				w.WriteHeader(code)
				return
			}
			f.ServeHTTP(w, r)
		})
	}
	answer := func(text string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) })
	}
	for name, c := range map[string]struct {
		bmc  http.Handler
		most int64
		want func(error) bool
	}{
		"credentials are refused":       {status(http.StatusUnauthorized, ""), 1, kind(client.Credentials)},
		"credentials are refused later": {status(http.StatusUnauthorized, "/SecureBoot"), 10, kind(client.Credentials)},
		"no root":                       {status(http.StatusNotFound, ""), 1, kind(client.NotSupported)},
		"no systems":                    {status(http.StatusInternalServerError, "/Systems"), 2, kind(client.Failed)},
		"an empty list of systems":      {answer(`{"RedfishVersion": "1.0", "Systems": {"@odata.id": "/redfish/v1/Systems"}, "Members": []}`), 2, is(probe.ErrNoSystem)},
		"no link to systems":            {answer(`{"RedfishVersion": "1.0"}`), 2, is(probe.ErrNoSystem)},
		"JSON of something else":        {answer(`{"version": 3}`), 1, is(probe.ErrNotRedfish)},
		"no JSON":                       {answer(`hello`), 1, func(err error) bool { return err != nil }},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			r := &reader{c.bmc, 0}
			report, err := probe.Probe(t.Context(), r, probe.Options{})
			g.Expect(report).To(BeNil())
			g.Expect(c.want(err)).To(BeTrue(), "%v", err)
			g.Expect(r.n).To(BeNumerically("<=", c.most))
		})
	}
}

func kind(k client.Kind) func(error) bool {
	return func(err error) bool { return client.KindOf(err) == k }
}

func is(target error) func(error) bool { return func(err error) bool { return errors.Is(err, target) } }

// silentAfter answers some requests, then none.
type silentAfter struct {
	reader
	after int64
}

func (r *silentAfter) GetRaw(ctx context.Context, path string) (*client.Answer, error) {
	if r.n >= r.after {
		r.n++
		return nil, &client.Error{Kind: client.Unreachable, Method: http.MethodGet, Path: path}
	}
	return r.reader.GetRaw(ctx, path)
}

func TestSilence(t *testing.T) {
	g := NewWithT(t)
	r := &silentAfter{reader{load(t, "dell-idrac9"), 0}, 8}
	_, err := probe.Probe(t.Context(), r, probe.Options{})
	g.Expect(client.KindOf(err)).To(Equal(client.Unreachable))
	g.Expect(r.n).To(Equal(int64(11)), "three requests without an answer are enough")
}

// TestInterrupted: who ends a probe gets no report of what happened to be read, whether
// the end comes with an answer, before one, or between two requests.
func TestInterrupted(t *testing.T) {
	for name, c := range map[string]struct {
		at     string
		answer bool
	}{
		"with an answer":           {"/Bios", true},
		"before an answer":         {"/Bios", false},
		"before the last answer":   {"/Accounts", false},
		"with the last":            {"/Accounts", true},
		"while a list is read":     {"/FirmwareInventory", false},
		"while members are listed": {"/Systems", false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			ctx, cancel := context.WithCancel(t.Context())
			r := &endedAt{reader{load(t, "dell-idrac9"), 0}, c.at, c.answer, cancel, 0}
			report, err := probe.Probe(ctx, r, probe.Options{Username: "root", Requests: -1})
			g.Expect(r.reached).To(BeNumerically(">", 0), "the test ends nothing")
			g.Expect(err).To(MatchError(context.Canceled))
			g.Expect(report).To(BeNil())
			g.Expect(r.n).To(Equal(r.reached), "nothing more is asked")
		})
	}
}

// endedAt ends the context of the probe at a path, and gives an answer all the same or
// the error that the client has then.
type endedAt struct {
	reader
	path    string
	answer  bool
	end     context.CancelFunc
	reached int64
}

func (r *endedAt) GetRaw(ctx context.Context, path string) (*client.Answer, error) {
	if strings.HasSuffix(path, r.path) && r.reached == 0 {
		r.end()
		r.reached = r.n + 1
		if !r.answer {
			r.n++
			return nil, &client.Error{Kind: client.Unreachable, Method: http.MethodGet, Path: path, Message: "no answer"}
		}
	}
	return r.reader.GetRaw(ctx, path)
}
