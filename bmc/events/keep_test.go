package events

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/client"
)

const receiverBase = "https://ironflow.test:8092"

func wanted(t *testing.T, host string, generation int) *Wanted {
	t.Helper()
	keys := testKeys(t)
	key := keys.Of(host, generation)
	destination, err := key.Destination(receiverBase)
	if err != nil {
		t.Fatal(err)
	}
	w := &Wanted{Key: key, Destination: destination}
	for former := range generation {
		w.Former = append(w.Former, keys.Of(host, former))
	}
	return w
}

// TestKeepForms: each vendor gets the form that it takes.
func TestKeepForms(t *testing.T) {
	types := []string{"Alert", "MetricReport", "", "Other"}
	for name, c := range map[string]struct {
		bmc    *vendor
		quirks []string
		// want are the members besides Destination, Protocol and Context.
		want  object
		posts int
	}{
		"types, as iDRAC9 and iLO5": {
			&vendor{service: object{"EventTypesForSubscription": types, "RegistryPrefixes": []string{"IDRAC"}}}, nil,
			object{"EventTypes": []any{"Alert", "Other"}, "DeliveryRetryPolicy": "RetryForever"},
			1,
		},
		"prefixes, an empty one left out": {
			&vendor{service: object{"EventTypesForSubscription": []string{}, "RegistryPrefixes": []string{"", "Base", "OpenBMC"}}}, nil,
			object{"RegistryPrefixes": []any{"Base", "OpenBMC"}, "DeliveryRetryPolicy": "RetryForever"},
			1,
		},
		"neither": {&vendor{service: object{}}, nil, object{"DeliveryRetryPolicy": "RetryForever"}, 1},
		"a member that a quirk names is left out": {
			&vendor{service: object{"RegistryPrefixes": []string{"iLOEvents"}}}, []string{"Other.X,EventDestination.DeliveryRetryPolicy"}, object{"RegistryPrefixes": []any{"iLOEvents"}}, 1,
		},
		"what is refused is left out": {
			&vendor{service: object{"EventTypesForSubscription": types}, refuse: func(body object) (key, argument string) {
				for _, name := range []string{"DeliveryRetryPolicy", "EventTypes"} {
					if body[name] != nil {
						return "PropertyUnknown", name
					}
				}
				return "", ""
			}},
			nil,
			object{},
			3,
		},
		"what is missing is added": {
			&vendor{service: object{"ResourceTypes": []string{"Task", "Drive"}}, refuse: func(body object) (key, argument string) {
				for _, name := range []string{"ResourceTypes", "EventFormatType", "HttpHeaders"} {
					if body[name] == nil {
						return "CreateFailedMissingReqProperties", name
					}
				}
				return "", ""
			}},
			nil,
			object{"ResourceTypes": []any{"Task", "Drive"}, "EventFormatType": "Event", "HttpHeaders": []any{}, "DeliveryRetryPolicy": "RetryForever"},
			4,
		},
		"no Location": {&vendor{service: object{}, nameless: true}, nil, object{"DeliveryRetryPolicy": "RetryForever"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			bmc := c.bmc
			w := wanted(t, "host-1", 0)
			report := &v1alpha1.BMCReport{}
			for _, value := range c.quirks {
				report.Quirks = append(report.Quirks, v1alpha1.AppliedQuirk{Effect: "leave-out", Value: value})
			}
			state, err := Keep(t.Context(), connect(t, bmc), report, w)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(state).To(Equal(State{Did: Made, Path: subscriptionsPath + "/1"}))
			g.Expect(bmc.asked("POST")).To(Equal(c.posts))
			want := object{"@odata.id": state.Path, "Destination": w.Destination, "Protocol": "Redfish", "Context": w.Key.Context}
			maps.Copy(want, c.want)
			g.Expect(bmc.subs).To(Equal([]object{want}))
			g.Expect(len(w.Key.Context)).To(BeNumerically("<", 256))
		})
	}
}

// TestKeepGoesOn: what there is decides what is done; others' are never touched.
func TestKeepGoesOn(t *testing.T) {
	keys := testKeys(t)
	own := wanted(t, "host-1", 2)
	twin := keys.Of("host-2", 0)
	twinDestination, _ := twin.Destination(receiverBase)
	formerDestination, _ := own.Former[1].Destination(receiverBase)
	movedDestination, _ := own.Key.Destination("https://old.test:8092")
	others := []object{
		{"Destination": "https://monitoring.test/redfish/events/x", "Context": "monitoring"},
		{"Destination": "https://hook.test/", "Context": "metal3"}, // of a BMCEventSubscription
		{"Destination": twinDestination, "Context": twin.Context},  // another host on the same BMC
	}
	right := object{"Destination": own.Destination, "Context": own.Key.Context}
	with := func(o object, name string, value any) object {
		o = maps.Clone(o)
		o[name] = value
		return o
	}
	for name, c := range map[string]struct {
		there   []object
		known   string
		orphan  func(string) bool
		did     Did
		removed int
		left    int // of ours and others
		calls   int
	}{
		"none yet":                                   {nil, "", nil, Made, 0, 4, 7},
		"known and there: one look":                  {[]object{right}, "4", nil, Kept, 0, 4, 1},
		"there, not known":                           {[]object{right}, "", nil, Adopted, 0, 4, 7},
		"known, but gone since a reset":              {nil, "9", nil, Made, 0, 4, 8},
		"known, but the path is another's now":       {nil, "1", nil, Made, 0, 4, 8},
		"known, but another path since":              {[]object{right}, "9", nil, Adopted, 0, 4, 8},
		"a double":                                   {[]object{right, right}, "", nil, Adopted, 1, 4, 9},
		"another context":                            {[]object{with(right, "Context", "x")}, "", nil, Made, 1, 4, 9},
		"a former generation":                        {[]object{{"Destination": formerDestination, "Context": "c"}}, "", nil, Made, 1, 4, 9},
		"the receiver has moved":                     {[]object{with(right, "Destination", movedDestination)}, "4", nil, Made, 1, 4, 10},
		"switched off by the BMC after its failures": {[]object{with(right, "Status", object{"State": "Disabled"})}, "4", nil, Made, 1, 4, 10},
		"an orphan":                                  {nil, "", func(part string) bool { return part == twin.Part }, Made, 1, 3, 8},
		"others' are no orphans":                     {nil, "", func(part string) bool { return part != twin.Part }, Made, 0, 4, 7},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			bmc := &vendor{service: object{}}
			for _, sub := range append(slices.Clone(others), c.there...) {
				bmc.add(maps.Clone(sub))
			}
			w := *own
			w.Orphan = c.orphan
			if c.known != "" {
				w.Known = subscriptionsPath + "/" + c.known
			}
			state, err := Keep(t.Context(), connect(t, bmc), nil, &w)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(state.Did).To(Equal(c.did))
			g.Expect(state.Removed).To(Equal(c.removed))
			g.Expect(bmc.calls).To(HaveLen(c.calls), "%v", bmc.calls)
			g.Expect(bmc.subs).To(HaveLen(c.left))
			ours := 0
			for _, sub := range bmc.subs {
				if sub["Destination"] == own.Destination && sub["Context"] == own.Key.Context {
					ours++
					g.Expect(sub["@odata.id"]).To(Equal(state.Path))
				}
			}
			g.Expect(ours).To(Equal(1), "one per host")
			for i, other := range others[:2] {
				g.Expect(bmc.subs[i]["Destination"]).To(Equal(other["Destination"]), "others' stay")
			}

			// The next look finds it in order.
			w.Known = state.Path
			state, err = Keep(t.Context(), connect(t, bmc), nil, &w)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(state.Did).To(Equal(Kept))
		})
	}
}

// TestKeepAnotherSpelling: a destination that the BMC writes in its own way is the one that it
// was given; it is not made anew with each look.
func TestKeepAnotherSpelling(t *testing.T) {
	for name, c := range map[string]struct {
		base    string
		spelled func(string) string
	}{
		"the port written out, as bmcweb": {"https://ironflow.test", func(s string) string { return strings.Replace(s, ".test/", ".test:443/", 1) }},
		"the port left out":               {"https://ironflow.test:443", func(s string) string { return strings.Replace(s, ":443", "", 1) }},
		"small letters":                   {"https://Ironflow.TEST:8092", func(s string) string { return strings.Replace(s, "Ironflow.TEST", "ironflow.test", 1) }},
		"a slash at the end":              {receiverBase, func(s string) string { return s + "/" }},
		"IPv6":                            {"https://[2001:DB8::0:1]:8092", func(s string) string { return strings.Replace(s, "2001:DB8::0:1", "2001:db8::1", 1) }},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			w, bmc := wanted(t, "host-1", 0), &vendor{service: object{}, spelled: c.spelled}
			var err error
			w.Destination, err = w.Key.Destination(c.base)
			g.Expect(err).NotTo(HaveOccurred())
			keep := func() Did {
				state, err := Keep(t.Context(), connect(t, bmc), nil, w)
				g.Expect(err).NotTo(HaveOccurred())
				w.Known = state.Path
				return state.Did
			}
			g.Expect(keep()).To(Equal(Made))
			g.Expect(keep()).To(Equal(Kept))
			w.Known = ""
			g.Expect(keep()).To(Equal(Adopted))
			g.Expect(bmc.asked("DELETE")).To(BeZero())
			g.Expect(Remove(t.Context(), connect(t, bmc), w)).To(Equal(1))
		})
	}
}

// TestKeepDuplicate: the BMC says that it has one, in either of the ways that there
// are, which the list did not show yet.
func TestKeepDuplicate(t *testing.T) {
	for _, key := range []string{"ResourceAlreadyExists", "PropertyValueModified"} {
		t.Run(key, func(t *testing.T) {
			g := NewWithT(t)
			w := wanted(t, "host-1", 0)
			bmc := &vendor{service: object{}}
			bmc.refuse = func(object) (string, string) {
				bmc.add(object{"Destination": w.Destination, "Context": w.Key.Context})
				return key, "Destination"
			}
			state, err := Keep(t.Context(), connect(t, bmc), nil, w)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(state).To(Equal(State{Did: Adopted, Path: subscriptionsPath + "/1"}))
			g.Expect(bmc.asked("POST")).To(Equal(1))
		})
	}
}

// TestKeepProblems: what a person has to mend is said, without our secrets.
func TestKeepProblems(t *testing.T) {
	full := &vendor{service: object{}, refuse: func(object) (key, argument string) { return "EventSubscriptionLimitExceeded", "x" }}
	full.add(object{"Destination": "https://monitoring.test/", "Context": "m"})
	w := wanted(t, "host-1", 0)
	for name, c := range map[string]struct {
		bmc    *vendor
		vendor string
		want   string
		stream bool
	}{
		"no service":        {&vendor{}, "", "no EventService", false},
		"off, Dell":         {&vendor{service: object{"ServiceEnabled": false, "ServerSentEventUri": "/redfish/v1/SSE"}}, "Dell", "IPMILan.1.AlertEnable", true},
		"off":               {&vendor{service: object{"ServiceEnabled": false}}, "", "ServiceEnabled", false},
		"no subscriptions":  {&vendor{service: object{"Subscriptions": nil}}, "", "takes no subscriptions", false},
		"full":              {full, "", "all 1 are others'", false},
		"refused in total":  {&vendor{service: object{}, refuse: func(object) (string, string) { return "PropertyValueFormatError", w.Destination }}, "", "refuses the subscription", false},
		"refuses each form": {&vendor{service: object{}, refuse: func(object) (string, string) { return "PropertyUnknown", "Protocol" }}, "", "refuses the subscription", false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			state, err := Keep(t.Context(), connect(t, c.bmc), &v1alpha1.BMCReport{Vendor: c.vendor}, w)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(state.Did).To(Equal(Nothing))
			g.Expect(state.Problem).To(ContainSubstring(c.want))
			g.Expect(state.Problem).NotTo(ContainSubstring(w.Key.Part))
			g.Expect(state.Stream).To(Equal(c.stream))
			g.Expect(c.bmc.asked("DELETE")).To(BeZero(), "no room is made at others' cost")
			g.Expect(c.bmc.asked("POST")).To(BeNumerically("<=", attempts))
		})
	}
}

// TestKeepPassing: a BMC that is away is no problem for a person.
func TestKeepPassing(t *testing.T) {
	g := NewWithT(t)
	state, err := Keep(t.Context(), connect(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
	})), nil, wanted(t, "host-1", 0))
	g.Expect(client.KindOf(err)).To(Equal(client.Failed))
	g.Expect(state.Problem).To(BeEmpty())
}

func TestRemove(t *testing.T) {
	g := NewWithT(t)
	w := wanted(t, "host-1", 1)
	former, _ := w.Former[0].Destination(receiverBase)
	bmc := &vendor{service: object{}}
	bmc.add(object{"Destination": "https://monitoring.test/", "Context": "m"})
	bmc.add(object{"Destination": former, "Context": "x"})
	bmc.add(object{"Destination": w.Destination, "Context": w.Key.Context})
	c := connect(t, bmc)
	g.Expect(Remove(t.Context(), c, w)).To(Equal(2))
	g.Expect(bmc.subs).To(HaveLen(1))
	g.Expect(bmc.subs[0]["Context"]).To(Equal("m"))
	g.Expect(Remove(t.Context(), c, w)).To(BeZero(), "again does nothing")
	g.Expect(Remove(t.Context(), connect(t, &vendor{}), w)).To(BeZero(), "nor where there are no events")
}

func TestProve(t *testing.T) {
	action := object{"Actions": object{"#EventService.SubmitTestEvent": object{
		"target": "/redfish/v1/EventService/Actions/EventService.SubmitTestEvent", "EventType@Redfish.AllowableValues": []string{"StatusChange", "Alert"},
	}}}
	picky := func(body object) (key, argument string) {
		for name := range body {
			return "ActionParameterUnknown", name
		}
		return "", ""
	}
	for name, c := range map[string]struct {
		bmc     *vendor
		arrives bool
		want    error
	}{
		"arrives":                     {&vendor{service: action}, true, nil},
		"does not arrive":             {&vendor{service: action}, false, ErrNotArrived},
		"offers none":                 {&vendor{service: object{}}, true, ErrNoTest},
		"wants nothing of our body":   {&vendor{service: action, refuse: picky}, true, ErrNoTest},
		"takes a body without a time": {&vendor{service: action, refuse: without("EventTimestamp")}, true, nil},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			sent := time.Date(2026, 8, 1, 10, 0, 0, 0, time.UTC)
			arrived := make(chan time.Time, 1)
			if c.arrives {
				arrived <- sent.Add(1500 * time.Millisecond)
			}
			took, err := Prove(ctx, &afterPost{connect(t, c.bmc), func() {
				if !c.arrives {
					cancel()
				}
			}}, nil, arrived, func() time.Time { return sent })
			if c.want != nil {
				g.Expect(err).To(MatchError(c.want))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(took).To(Equal(1500 * time.Millisecond))
			body := c.bmc.sent[0]
			g.Expect(body["EventType"]).To(Equal("Alert"))
			if at, there := body["EventTimestamp"].(string); there {
				g.Expect(time.Parse(time.RFC3339, at)).To(BeTemporally("==", sent))
			}
		})
	}
}

// afterPost does something after each POST.
type afterPost struct {
	*client.Client

	then func()
}

func (i *afterPost) Post(ctx context.Context, path string, body any) (*client.Answer, error) {
	defer i.then()
	return i.Client.Post(ctx, path, body)
}

func without(name string) func(object) (string, string) {
	return func(body object) (key, argument string) {
		if body[name] != nil {
			return "ActionParameterUnknown", name
		}
		return "", ""
	}
}

// TestKeepWhatIsRefused: a BMC that refuses a path which is not there any more is
// subscribed to again.
func TestKeepWhatIsRefused(t *testing.T) {
	g := NewWithT(t)
	bmc, w := &vendor{service: object{}, missing: http.StatusBadRequest}, wanted(t, "host-1", 0)
	w.Known = subscriptionsPath + "/9"
	state, err := Keep(t.Context(), connect(t, bmc), &v1alpha1.BMCReport{}, w)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(state.Did).To(Equal(Made))
	g.Expect(bmc.subs).To(HaveLen(1))
}
