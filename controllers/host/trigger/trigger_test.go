package trigger

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/test/pages"
)

var update = flag.Bool("update", false, "write the generated parts of the documentation")

// facts are those of a host with all that can be changed.
func facts() Facts {
	h := &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{
		Namespace: "lab", Name: "host-1", UID: "uid-1", Generation: 3, ResourceVersion: "17",
		Annotations: map[string]string{
			names.Retry: "1", names.Ironic: "west", names.Inspect: "", names.Reboot: "", names.Reboot + "/fence": "", names.Detached: "",
		},
	}}
	return Facts{Host: h, Credentials: "c0ffee", Secrets: map[string]string{"user": "1", "network": "2"}, Firmware: []any{map[string]int{"a": 1}}}
}

func set(key, value string) func(*Facts) {
	return func(f *Facts) { f.Host.Annotations[key] = value }
}

func without(key string) func(*Facts) {
	return func(f *Facts) { delete(f.Host.Annotations, key) }
}

// TestWhatCounts has one thing change after an error was recorded: which of the triggers
// that is, if any, after a failed inspection and after a failed deployment.
func TestWhatCounts(t *testing.T) {
	for name, c := range map[string]struct {
		change     func(*Facts)
		want       string
		deployment bool // counts after a failed deployment as well
	}{
		"spec":                  {func(f *Facts) { f.Host.Generation++ }, "spec", true},
		"deleted":               {func(f *Facts) { f.Host.DeletionTimestamp = new(metav1.Now()) }, "deletion", true},
		"retry":                 {set(names.Retry, "2"), "retry", true},
		"retry taken away":      {without(names.Retry), "", false},
		"password":              {func(f *Facts) { f.Credentials = "beef" }, "credentials", true},
		"BMC's Secret removed":  {func(f *Facts) { f.Credentials = "" }, "credentials", true},
		"content of a Secret":   {func(f *Facts) { f.Secrets["user"] = "3" }, "secrets", true},
		"a Secret appears":      {func(f *Facts) { f.Secrets["meta"] = "1" }, "secrets", true},
		"firmware":              {func(f *Facts) { f.Firmware = nil }, "firmware", true},
		"another Ironic":        {set(names.Ironic, "east"), "ironic", false},
		"inspection":            {set(names.Inspect, "disabled"), "inspect", false},
		"inspection was begun":  {without(names.Inspect), "", false},
		"reboot":                {set(names.Reboot, `{"mode":"hard"}`), "", false},
		"rebooted":              {without(names.Reboot), "", false},
		"kept off by another":   {set(names.Reboot+"/other", ""), "", false},
		"kept off no more":      {without(names.Reboot + "/fence"), "", false},
		"detachment is another": {set(names.Detached, `{"force":true}`), "", false},
		"hold":                  {set(names.Hold, "me"), "", false},
		"pause":                 {set(names.Paused, ""), "", false},
		"look at the BMC":       {set(names.Probe, "now"), "", false},
		"rotation":              {set(names.RotateCredentials, "now"), "", false},
		"our own mark":          {set(names.Rebooting, "x"), "", false},
		"last applied":          {set("kubectl.kubernetes.io/last-applied-configuration", "{}"), "", false},
		"label":                 {func(f *Facts) { f.Host.Labels = map[string]string{names.FailureDomain: "rack"} }, "", false},
		"owner, finalizer, status": {func(f *Facts) {
			f.Host.OwnerReferences, f.Host.Finalizers, f.Host.ResourceVersion = []metav1.OwnerReference{{}}, []string{"x"}, "18"
			f.Host.Status.ErrorCount = 4
		}, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			before := facts()
			Of(before).Store(before.Host)
			after := before
			after.Host = before.Host.DeepCopy()
			after.Secrets = map[string]string{"user": "1", "network": "2"}
			c.change(&after)
			stored, known := RecordOf(after.Host)
			g.Expect(known).To(BeTrue())
			g.Expect(strings.Join(Changed(stored, Of(after), metal3.InspectionError), " ")).To(Equal(c.want))
			want := ""
			if c.deployment {
				want = c.want
			}
			g.Expect(strings.Join(Changed(stored, Of(after), metal3.ProvisioningError), " ")).To(Equal(want), "after a failed deployment")
		})
	}
}

// TestADetachmentThatFailed is tried again when it is asked for in another way, and not
// because it is called off.
func TestADetachmentThatFailed(t *testing.T) {
	g := NewWithT(t)
	f := facts()
	f.Detaching = true
	before := Of(f)
	f.Host.Annotations[names.Detached] = `{"force":true}`
	g.Expect(Changed(before, Of(f), metal3.ProvisioningError)).To(Equal([]string{"detached"}))
	delete(f.Host.Annotations, names.Detached)
	g.Expect(Changed(before, Of(f), "")).To(BeEmpty())
}

// TestARequestThatIsMadeAnewCounts: it was taken away, and set again as it was.
func TestARequestThatIsMadeAnewCounts(t *testing.T) {
	g := NewWithT(t)
	for name, key := range map[string]string{"inspect": names.Inspect, "reboot": names.Reboot, "retry": names.Retry} {
		f := facts()
		record, value := Of(f), f.Host.Annotations[key]
		g.Expect(record.Forget(f)).To(BeFalse(), "it is there")
		delete(f.Host.Annotations, key)
		g.Expect(record.Forget(f)).To(BeTrue())
		g.Expect(record.Forget(f)).To(BeFalse(), "once")
		f.Host.Annotations[key] = value
		g.Expect(Changed(record, Of(f), "")).To(Equal([]string{name}))
	}
	f := facts()
	record := Of(f)
	delete(f.Host.Annotations, names.Ironic)
	g.Expect(record.Forget(f)).To(BeFalse(), "that it goes counts itself")
}

// TestPowerIsSteeredAtOnce: a reboot that is asked for, and a client that keeps the machine
// off or lets it go, do not wait until the last request of power is due again.
func TestPowerIsSteeredAtOnce(t *testing.T) {
	g := NewWithT(t)
	for change, want := range map[string]string{names.Reboot: "reboot", names.Reboot + "/other": "kept-off"} {
		f := facts()
		before := Of(f)
		f.Host.Annotations[change] = `{"mode":"hard"}`
		g.Expect(Changed(before, Of(f), metal3.PowerManagementError)).To(Equal([]string{want}))
	}
	f := facts()
	before := Of(f)
	delete(f.Host.Annotations, names.Reboot)
	g.Expect(Changed(before, Of(f), metal3.PowerManagementError)).To(BeEmpty(), "it was done")
	delete(f.Host.Annotations, names.Reboot+"/fence")
	g.Expect(Changed(before, Of(f), metal3.PowerManagementError)).To(Equal([]string{"kept-off"}))
}

// TestAMoveIsNoChange: in another cluster all generations and digests are others.
func TestAMoveIsNoChange(t *testing.T) {
	g := NewWithT(t)
	f := facts()
	Of(f).Store(f.Host)
	f.Host.UID, f.Host.Generation, f.Credentials = "uid-2", 1, "beef"
	stored, known := RecordOf(f.Host)
	g.Expect(known).To(BeTrue())
	g.Expect(stored.Moved(f.Host)).To(BeTrue())
	g.Expect(Changed(stored, Of(f), metal3.ProvisioningError)).To(BeEmpty())
}

// TestTheRecordOfAnotherVersion: a trigger that a record does not name has not changed, and
// one that this version does not know is passed over.
func TestTheRecordOfAnotherVersion(t *testing.T) {
	g := NewWithT(t)
	f := facts()
	before := Of(f)
	delete(before, "spec")
	before["moon"] = "full"
	before.Store(f.Host)
	stored, known := RecordOf(f.Host)
	g.Expect(known).To(BeTrue())
	f.Host.Generation++
	g.Expect(Changed(stored, Of(f), "")).To(BeEmpty())

	_, known = RecordOf(&metal3.BareMetalHost{})
	g.Expect(known).To(BeFalse(), "nothing was recorded")
}

// TestTheRecordIsReadAsItWasWritten also for values that are empty.
func TestTheRecordIsReadAsItWasWritten(t *testing.T) {
	g := NewWithT(t)
	for _, f := range []Facts{facts(), {Host: &metal3.BareMetalHost{}}} {
		r := Of(f)
		r.Store(f.Host)
		stored, known := RecordOf(f.Host)
		g.Expect(known).To(BeTrue())
		g.Expect(stored).To(Equal(r))
		for name, value := range r {
			g.Expect(name + value).NotTo(MatchRegexp(`[\s=]`))
		}
	}
}

// TestDocsAreGenerated keeps the table of the documentation equal to the code's.
func TestDocsAreGenerated(t *testing.T) {
	var b strings.Builder
	b.WriteString("| in `FailedWith` | what counts | not after | its removal counts |\n|---|---|---|---|\n")
	for _, row := range Table {
		not := "-"
		if len(row.Not) > 0 {
			var kinds []string
			for _, kind := range row.Not {
				kinds = append(kinds, string(kind))
			}
			not = strings.Join(kinds, ", ")
		}
		removal := "yes"
		if row.Request {
			removal = "no"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", row.Name, row.Means, not, removal)
	}
	pages.Generated{Root: "../../..", Page: "baremetalhost.md", Package: "./controllers/host/trigger", Update: *update}.Hold(t, "triggers", b.String())
}
