package rotation_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/bmc/credentials/password"
	"github.com/ironflow/ironflow/bmc/credentials/reason"
	"github.com/ironflow/ironflow/bmc/credentials/rotation"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// ready is a host of which a change is asked for and may be made.
func ready() *rotation.Observed {
	return &rotation.Observed{
		Now: noon, Host: "metal3/host-1", Record: &rotation.Record{}, AtRest: true, Turn: true, Request: "1",
		Secret: rotation.Secret{
			Name: "bmc-1", Found: true, Login: rotation.Login{Username: "root", Password: "calvin-secret"}, Version: "7", Written: noon.AddDate(0, -2, 0),
		},
		Limits: password.Limits{Min: 8, Max: 20, Wrong: 2, Window: time.Minute, Refusals: 1, Known: true},
	}
}

// TestWhatKeepsAChangeFromBeingMade has a row for each obstacle: what a user is told,
// and that nothing is done.
func TestWhatKeepsAChangeFromBeingMade(t *testing.T) {
	gomega.NewWithT(t).Expect(rotation.Decide(ready())).To(gomega.BeAssignableToTypeOf(rotation.Stage{}))
	for name, c := range map[string]struct {
		change func(o *rotation.Observed)
		reason reason.Reason
		says   string
		wait   time.Duration
	}{
		"nobody asks":          {func(o *rotation.Observed) { o.Request = "" }, reason.Current, "not changed by us yet", 0},
		"asked and done":       {func(o *rotation.Observed) { o.Record.Request = "1" }, reason.Current, "", 0},
		"no Secret":            {func(o *rotation.Observed) { o.Secret.Found = false }, reason.SecretMissing, "bmc-1", 0},
		"an empty Secret":      {func(o *rotation.Observed) { o.Secret.Login.Password = "" }, reason.SecretMissing, "bmc-1", 0},
		"an ipmi address":      {func(o *rotation.Observed) { o.Unsupported = "no Redfish" }, reason.Unsupported, "no Redfish", 0},
		"a shared Secret":      {func(o *rotation.Observed) { o.Sharers = []string{"metal3/host-2", "metal3/host-3"} }, reason.SharedSecret, "metal3/host-2, metal3/host-3", 0},
		"a shared account":     {func(o *rotation.Observed) { o.Neighbours = []string{"metal3/blade-2"} }, reason.SharedAccount, "metal3/blade-2", 0},
		"an immutable Secret":  {func(o *rotation.Observed) { o.Secret.Immutable = true }, reason.ImmutableSecret, "immutable", 0},
		"a rendered Secret":    {func(o *rotation.Observed) { o.Secret.Manager = "Flux" }, reason.ManagedSecret, names.RotateManagedSecret, 0},
		"a policy that is no":  {func(o *rotation.Observed) { o.PolicyProblem = "length=x" }, reason.PolicyInvalid, "length=x", 0},
		"a policy too long":    {func(o *rotation.Observed) { o.Policy.Least = 24 }, reason.PolicyImpossible, "at most 20", 0},
		"a host at work":       {func(o *rotation.Observed) { o.AtRest = false }, reason.NotAtRest, "at rest", 0},
		"too many at once":     {func(o *rotation.Observed) { o.Turn = false }, reason.WaitingForTurn, "", 30 * time.Second},
		"too soon for the BMC": {func(o *rotation.Observed) { o.Limits.Interval, o.Record.Rotated = 24*time.Hour, noon.Add(-time.Hour) }, reason.ChangeInterval, "2026-03-02T11:00:00Z", 23 * time.Hour},
		"a BMC of which nothing is known, by schedule": {func(o *rotation.Observed) {
			o.Request, o.Every, o.Limits.Known = "", 24*time.Hour, false
		}, reason.PolicyUnknown, names.RotateCredentials, 0},
		"a record that cannot be read": {func(o *rotation.Observed) { o.RecordProblem = "phase unknown" }, reason.RecordUnreadable, "host-1-bmc-rotation", 0},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			o := ready()
			c.change(o)
			wait, is := rotation.Decide(o).(rotation.Wait)
			g.Expect(is).To(gomega.BeTrue(), "%#v", rotation.Decide(o))
			g.Expect(wait.Condition.Reason).To(gomega.Equal(c.reason), wait.Condition.Message)
			g.Expect(wait.Condition.Message).To(gomega.ContainSubstring(c.says))
			g.Expect(wait.For).To(gomega.Equal(c.wait))
			g.Expect(wait.Condition.Status).NotTo(gomega.BeEmpty())
		})
	}
	for name, change := range map[string]func(o *rotation.Observed){
		"a BMC of which nothing is known, on request": func(o *rotation.Observed) { o.Limits.Known = false },
		"a rendered Secret that is allowed":           func(o *rotation.Observed) { o.Secret.Manager, o.Secret.ManagerAllowed = "Flux", true },
		"by schedule":                                 func(o *rotation.Observed) { o.Request, o.Every = "", 24*time.Hour },
		"demanded by the BMC": func(o *rotation.Observed) {
			o.Request, o.Every, o.Demanded, o.Record.Rotated = "", time.Hour*999, true, noon
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := ready()
			change(o)
			gomega.NewWithT(t).Expect(rotation.Decide(o)).To(gomega.BeAssignableToTypeOf(rotation.Stage{}))
		})
	}
}

// TestHostsAreSpreadOverTime: a fleet that was made on one day is changed over a tenth
// of the time, each host at its own, and none later than was asked for.
func TestHostsAreSpreadOverTime(t *testing.T) {
	g := gomega.NewWithT(t)
	const every, hosts = 1000 * time.Hour, 1000
	tenths := map[int]int{}
	for i := range hosts {
		host := fmt.Sprintf("metal3/host-%d", i)
		due := rotation.Due(host, noon, every)
		g.Expect(due).To(gomega.BeTemporally("<=", noon.Add(every)))
		g.Expect(due).To(gomega.BeTemporally(">", noon.Add(every*9/10)))
		g.Expect(rotation.Due(host, noon, every)).To(gomega.Equal(due))
		tenths[int(due.Sub(noon.Add(every*9/10))/(10*time.Hour))]++
	}
	for tenth, n := range tenths {
		g.Expect(n).To(gomega.BeNumerically("~", hosts/10, hosts/20), "tenth %d of %v", tenth, tenths)
	}
}

func TestWhatRendersASecret(t *testing.T) {
	type set = map[string]string
	for name, c := range map[string]struct {
		labels, annotations set
		owners              []string
		want                string
	}{
		"nobody":             {set{"environment.metal3.io": "baremetal", "app": "shop"}, set{"kubectl.kubernetes.io/last-applied-configuration": "{}"}, nil, ""},
		"Argo CD":            {nil, set{"argocd.argoproj.io/tracking-id": "x"}, nil, "Argo CD"},
		"Flux":               {set{"kustomize.toolkit.fluxcd.io/name": "x"}, nil, nil, "Flux"},
		"Helm":               {set{"app.kubernetes.io/managed-by": "Helm"}, nil, nil, "Helm"},
		"managed by a human": {set{"app.kubernetes.io/managed-by": "ops"}, nil, nil, ""},
		"External Secrets":   {nil, nil, []string{"ExternalSecret"}, "External Secrets"},
		"Sealed Secrets":     {nil, nil, []string{"SealedSecret"}, "Sealed Secrets"},
		"an unknown owner":   {nil, nil, []string{"Vault42"}, "its owner, which is of kind Vault42"},
	} {
		t.Run(name, func(t *testing.T) {
			gomega.NewWithT(t).Expect(rotation.ManagerOf(c.labels, c.annotations, c.owners)).To(gomega.Equal(c.want))
		})
	}
}

// TestARecordComesBackAsItWas, and shows its passwords under their own keys alone.
func TestARecordComesBackAsItWas(t *testing.T) {
	g := gomega.NewWithT(t)
	o := ready()
	r := rotation.Staging(o, "New-Pass-word-22", "/redfish/v1/AccountService/Accounts/2", rotation.ByAttributes, []byte("salt"))
	r = rotation.WasSent(o, rotation.Sending(r), rotation.Accepted, "")
	r = rotation.Tried(o, rotation.Trying(o, r, rotation.Next), rotation.Next, rotation.Wrong, "no")
	data, err := rotation.Encode(r)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(data).To(gomega.HaveLen(3))
	g.Expect(string(data["next"])).To(gomega.Equal("New-Pass-word-22"))
	g.Expect(string(data["current"])).To(gomega.Equal("calvin-secret"))
	again, err := rotation.Decode(data)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(again).To(gomega.Equal(r))
	for _, text := range []string{
		string(data["state"]), fmt.Sprint(r), fmt.Sprintf("%+v %#v", r, r), fmt.Sprintf("%+v %#v", *o, o.Secret),
		fmt.Sprintf("%v %+v %#v", rotation.Decide(o), rotation.Send{Login: o.Secret.Login}, rotation.Try{Login: o.Secret.Login}), toJSON(o), toJSON(o.Secret),
	} {
		g.Expect(text).NotTo(gomega.ContainSubstring("calvin"))
		g.Expect(text).NotTo(gomega.ContainSubstring("New-Pass"))
	}
}

func toJSON(v any) string {
	raw, err := json.Marshal(v)
	return fmt.Sprint(string(raw), err)
}

// TestARecordThatIsNotUnderstoodIsLeftAlone: it may hold the only copy of a password.
func TestARecordThatIsNotUnderstoodIsLeftAlone(t *testing.T) {
	type data = map[string][]byte
	empty, err := rotation.Decode(nil)
	g := gomega.NewWithT(t)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(empty.UnderWay()).To(gomega.BeFalse())
	for name, c := range map[string]struct {
		data data
		says string
	}{
		"no state":               {data{"next": []byte("geheim1")}, "state"},
		"no JSON":                {data{"state": []byte("geheim1")}, "state"},
		"a phase to come":        {data{"state": []byte(`{"phase":"Sealing"}`)}, "Sealing"},
		"a role to come":         {data{"state": []byte(`{"candidates":[{"role":"spare"}]}`), "spare": []byte("geheim1")}, "spare"},
		"a role twice":           {data{"state": []byte(`{"candidates":[{"role":"current"},{"role":"current"}]}`), "current": []byte("geheim1")}, "twice"},
		"a password missing":     {data{"state": []byte(`{"candidates":[{"role":"current"}]}`)}, "current"},
		"a password too many":    {data{"state": []byte(`{}`), "next": []byte("geheim1")}, "next"},
		"one that holds is gone": {data{"state": []byte(`{"phase":"Finding","holds":"next","candidates":[{"role":"current"}]}`), "current": []byte("geheim1")}, "next"},
		"nothing to find with":   {data{"state": []byte(`{"phase":"Promoting","candidates":[{"role":"current"}]}`), "current": []byte("geheim1")}, "next"},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			_, err := rotation.Decode(c.data)
			g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring(c.says)))
			g.Expect(err.Error()).NotTo(gomega.ContainSubstring("geheim1"))
		})
	}
}

// FuzzRecord: whatever stands in the record, a decision is made without a crash, and
// what is written back can be read.
func FuzzRecord(f *testing.F) {
	f.Add(`{"phase":"Finding","attempt":2,"candidates":[{"role":"next","refused":1},{"role":"current","open":true},{"role":"earlier-1"}]}`, "a", "b")
	f.Add(`{"phase":"Quarantined","candidates":[{"role":"current"},{"role":"given"}],"retry":"1"}`, "a", "b")
	f.Add(`{"phase":"Checking","notBefore":"2026-03-01T12:00:00Z","candidates":[{"role":"next"},{"role":"current"}],"holds":"next"}`, "", "x")
	f.Add(`{"holds":"earlier-9","phase":"Finding","candidates":[{"role":"current"}]}`, "c", "d")
	f.Add(`{}`, "", "")
	f.Fuzz(func(t *testing.T, state, next, current string) {
		data := map[string][]byte{"state": []byte(state)}
		for role, value := range map[string]string{"next": next, "current": current, "given": current + "g", "earlier-1": next + "e"} {
			if strings.Contains(state, `"`+role+`"`) {
				data[role] = []byte(value)
			}
		}
		r, err := rotation.Decode(data)
		if err != nil {
			return
		}
		o := ready()
		o.Record, o.Retry = r, "2"
		given := []rotation.Login{o.Secret.Login}
		for _, role := range []rotation.Role{rotation.Next, rotation.Current} {
			if login, found := r.Login(role); found {
				given = append(given, login)
			}
		}
		for _, login := range given {
			o.Secret.Login = login
			save, is := rotation.Decide(o).(rotation.Save)
			if !is {
				continue
			}
			data, err := rotation.Encode(save.Record)
			g := gomega.NewWithT(t)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			_, err = rotation.Decode(data)
			g.Expect(err).NotTo(gomega.HaveOccurred(), save.What)
		}
	})
}
