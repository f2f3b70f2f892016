package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ironflowv1 "github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/bmc/quirks"
	"github.com/ironflow/ironflow/controllers/bmc"
	"github.com/ironflow/ironflow/test/kubeapi"
)

// aBMC has a RAID controller of two levels, no secure boot, and a quirk.
func aBMC(name string) *ironflowv1.BMC {
	b := &ironflowv1.BMC{ObjectMeta: metav1.ObjectMeta{Name: name}}
	b.Status.Report = &ironflowv1.BMCReport{
		Address: "https://192.0.2.1", Vendor: "Maker", Model: "One", BMCVersion: "7.1",
		Capabilities: []ironflowv1.Capability{
			{Name: "SecureBoot", State: ironflowv1.No, Proof: "the system has no SecureBoot"},
			{Name: "VolumeCreation", State: ironflowv1.Yes, Proof: "POST"},
			{Name: "StorageDiscovered", State: ironflowv1.Yes},
			{Name: "VirtualMediaCD", State: ironflowv1.Yes},
		},
		Storage: []ironflowv1.StorageReport{{
			ID: "RAID.1", Controllers: 1, RAIDTypes: &[]string{"RAID0", "RAID1"}, CreatesVolumes: ironflowv1.Yes,
			Drives: []ironflowv1.DriveReport{{ID: "D0", CapacityBytes: 960e9}, {ID: "D1", CapacityBytes: 960e9}, {ID: "D2", CapacityBytes: 960e9}},
		}},
		Quirks: []ironflowv1.AppliedQuirk{
			{ID: "maker-ours", Applied: true, Effect: "no-expand", Advice: "it leaves members out"}, {ID: "maker-yours", Effect: "eject-first", Advice: "eject by hand"},
		},
	}
	b.Status.Health = []ironflowv1.DomainHealth{{Domain: "Power", State: ironflowv1.HealthWarning, Message: "PSU 2: no input"}, {Domain: "Cooling", State: ironflowv1.HealthOK}}
	return b
}

func TestBMCHealthAndQuirks(t *testing.T) {
	s := newSite(t)
	s.create(aBMC("node-1"))
	s.create(&ironflowv1.BMC{ObjectMeta: metav1.ObjectMeta{Name: "fresh"}})
	for name, c := range map[string]struct {
		args []string
		want []string
	}{
		"health":              {[]string{"health", "node-1"}, []string{"DOMAIN", `Power +Warning +PSU 2: no input`, `Cooling +OK`}},
		"health, not known":   {[]string{"health", "fresh"}, []string{"nothing is known of the health of fresh yet"}},
		"quirks of a host":    {[]string{"quirks", "node-1"}, []string{`maker-ours +Ironflow +no-expand +it leaves`, `maker-yours +you +eject-first +eject by hand`}},
		"quirks, none":        {[]string{"quirks", "fresh"}, []string{"no row of the table of quirks applies to the BMC of fresh"}},
		"the table of quirks": {[]string{"quirks"}, []string{"ID +VENDOR", quirks.New().Rows()[0].ID}},
		"another namespace":   {[]string{"health", "node-1", "-n", "site"}, []string{"PSU 2"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			out, _, err := s.run("", append([]string{"bmc"}, c.args...)...)
			g.Expect(err).NotTo(HaveOccurred())
			for _, want := range c.want {
				g.Expect(out).To(MatchRegexp(want))
			}
		})
	}
	_, _, err := s.run("", "bmc", "health", "nobody")
	s.Expect(err).To(MatchError(ContainSubstring("host nobody has no BMC: it was not registered yet, or ironflow runs without --bmc")))
	_, _, err = s.run("", "bmc", "quirks", "node-1", "-n", "elsewhere")
	s.Expect(err).To(MatchError(ContainSubstring("has no BMC")))
}

// TestBMCProbe: the report that is shown is the one that was asked for.
func TestBMCProbe(t *testing.T) {
	s := newSite(t)
	s.create(aBMC("node-1"))
	s.create(&metal3v1.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}})
	answered := make(chan error, 1)
	go func() { answered <- s.answer("8.0") }()
	out, told, err := s.run("", "bmc", "probe", "node-1")
	s.Expect(err).NotTo(HaveOccurred())
	s.Expect(<-answered).To(Succeed())
	s.Expect(out).To(And(ContainSubstring("Maker"), MatchRegexp(`BMC +8\.0`), MatchRegexp(`SecureBoot +No`)))
	s.Expect(told).To(ContainSubstring("asking the BMC of host node-1"))
}

// answer does what the controller of BMCs does when a report is asked for.
func (s *site) answer(version string) error {
	var hosts metal3v1.BareMetalHostList
	watch, err := s.kube.Watch(s.t.Context(), &hosts, client.InNamespace("site"))
	if err != nil {
		return err
	}
	defer watch.Stop()
	for event := range watch.ResultChan() {
		h, is := event.Object.(*metal3v1.BareMetalHost)
		if !is || h.Annotations[names.Probe] == "" {
			continue
		}
		b := &ironflowv1.BMC{}
		if err := s.kube.Get(s.t.Context(), client.ObjectKeyFromObject(h), b); err != nil {
			return err
		}
		b.Status.Report.BMCVersion, b.Status.Probed = version, &ironflowv1.Probed{Request: h.Annotations[names.Probe], Time: metav1.Now()}
		return s.kube.Status().Update(s.t.Context(), b)
	}
	return nil
}

func TestBMCProbeWithoutAnAnswer(t *testing.T) {
	s := newSite(t)
	s.create(&metal3v1.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}})
	b := aBMC("node-1")
	b.Status.Conditions = []metav1.Condition{{
		Type: ironflowv1.Reachable, Status: metav1.ConditionFalse, Reason: "Unreachable", Message: "no route to 192.0.2.1", LastTransitionTime: metav1.Now(),
	}}
	s.create(b)
	out, _, err := s.run("", "bmc", "probe", "node-1", "--wait", "300ms")
	s.Expect(err).To(MatchError(And(ContainSubstring("is ironflow running with --bmc?"), ContainSubstring("no route to 192.0.2.1"))))
	s.Expect(codeOf(err)).To(Equal(exitTimeout))
	s.Expect(out).To(BeEmpty(), "an old report is none")
	_, _, err = s.run("", "bmc", "probe", "nobody")
	s.Expect(err).To(MatchError("host site/nobody is not there"))
}

// TestBMCProbeEndsWhenOnlyAPersonCanGoOn, though the time is not over.
func TestBMCProbeEndsWhenOnlyAPersonCanGoOn(t *testing.T) {
	s := newSite(t)
	for name, annotation := range map[string]string{"held": names.Hold, "paused": names.Paused} {
		s.create(&metal3v1.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{annotation: ""}}})
		_, _, err := s.run("", "bmc", "probe", name)
		s.Expect(codeOf(err)).To(Equal(exitPerson), "%v", err)
		s.Expect(err).To(MatchError(ContainSubstring("remove the annotation " + annotation)))
	}
	NewWithT(t).Expect(byPerson).To(ConsistOf(bmc.ReasonNoRedfish, bmc.ReasonBadAddress, bmc.ReasonNoCredentials, bmc.ReasonBadCredentials), "the controller's reasons that no attempt ends")
}

// TestBMCProbeOfRefusedCredentials ends once they stand: what was mended a moment ago gets its chance.
func TestBMCProbeOfRefusedCredentials(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		known, err := scheme()
		g.Expect(err).NotTo(HaveOccurred())
		api, err := kubeapi.New(known, &metal3v1.BareMetalHost{}, &ironflowv1.BMC{})
		g.Expect(err).NotTo(HaveOccurred())
		kube, err := api.Client(known)
		g.Expect(err).NotTo(HaveOccurred())
		meta := metav1.ObjectMeta{Namespace: "site", Name: "node-1"}
		g.Expect(kube.Create(t.Context(), &metal3v1.BareMetalHost{ObjectMeta: meta})).To(Succeed())
		b := &ironflowv1.BMC{ObjectMeta: meta}
		g.Expect(kube.Create(t.Context(), b)).To(Succeed())
		b.Status.Conditions = []metav1.Condition{{Type: ironflowv1.Ready, Status: metav1.ConditionFalse, Reason: "BadCredentials", Message: "user root is refused", LastTransitionTime: metav1.Now()}}
		g.Expect(kube.Status().Update(t.Context(), b)).To(Succeed())
		ask := func() (*ironflowv1.BMCReport, error) {
			ctx, stop := context.WithTimeoutCause(t.Context(), time.Hour, errTimeout)
			defer stop()
			p := probing{client: kube, key: client.ObjectKeyFromObject(b), request: "now", wait: time.Hour}
			return p.run(ctx)
		}
		began := time.Now()
		_, err = ask()
		g.Expect(codeOf(err)).To(Equal(exitPerson), "%v", err)
		g.Expect(err).To(MatchError(ContainSubstring("user root is refused")))
		g.Expect(time.Since(began)).To(BeNumerically("~", stands, time.Second))

		mended := make(chan error, 1)
		go func() {
			<-time.After(stands / 2)
			b.Status.Conditions, b.Status.Report, b.Status.Probed = nil, &ironflowv1.BMCReport{Vendor: "Maker"}, &ironflowv1.Probed{Request: "now", Time: metav1.Now()}
			mended <- kube.Status().Update(t.Context(), b)
		}()
		report, err := ask()
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(<-mended).To(Succeed())
		g.Expect(report.Vendor).To(Equal("Maker"))
	})
}

// hosts are a host whose wishes cannot work, and one that asks for nothing.
const hosts = `
apiVersion: metal3.io/v1alpha1
kind: BareMetalHost
metadata: {name: node-1}
spec:
  online: true
  bootMode: UEFISecureBoot
  bmc: {address: "redfish-virtualmedia://192.0.2.1/redfish/v1/Systems/1", credentialsName: x}
  raid: {hardwareRAIDVolumes: [{level: "5", sizeGibibytes: 100}]}
---
apiVersion: v1
kind: Secret
metadata: {name: x}
stringData: {password: n0t-Shown}
---
apiVersion: metal3.io/v1alpha1
kind: HostFirmwareSettings
metadata: {name: node-1}
spec: {settings: {Wings: "x", Turbo: "Sometimes", Cores: 8}}
---
apiVersion: metal3.io/v1alpha1
kind: HostFirmwareComponents
metadata: {name: node-1}
spec: {updates: [{component: cpld, url: "https://192.0.2.9/x"}]}
---
apiVersion: v1
kind: List
items:
- apiVersion: metal3.io/v1alpha1
  kind: BareMetalHost
  metadata: {name: node-2}
  spec: {online: true, bmc: {address: "redfish://192.0.2.2", credentialsName: x}}
`

// withSettings makes the BIOS settings of node-1 known, as Ironic has read them.
func (s *site) withSettings() {
	s.create(&metal3v1.FirmwareSchema{ObjectMeta: metav1.ObjectMeta{Name: "schema-1"}, Spec: metal3v1.FirmwareSchemaSpec{Schema: map[string]metal3v1.SettingSchema{
		"Turbo": {AttributeType: "Enumeration", AllowableValues: []string{"On", "Off"}},
		"Cores": {AttributeType: "Integer", LowerBound: new(1), UpperBound: new(64)},
	}}})
	settings := &metal3v1.HostFirmwareSettings{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}}
	settings.Status.FirmwareSchema = &metal3v1.SchemaReference{Name: "schema-1", Namespace: "site"}
	settings.Status.Settings = metal3v1.SettingsMap{"Turbo": "On", "Cores": "4"}
	s.create(settings)
}

// TestBMCCheck: mismatches of a file, with what the cluster knows and with what a report does.
func TestBMCCheck(t *testing.T) {
	report, err := json.Marshal(aBMC("").Status.Report)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	file, reported := write("hosts.yaml", hosts), write("report.json", string(report))
	good := write("good.yaml", strings.NewReplacer("UEFISecureBoot", "UEFI", `"5"`, `"1"`, "cpld", "bmc", `Wings: "x", `, "", "Sometimes", "Off").Replace(hosts))
	inHost := []string{
		`node-1 +BareMetalHost +spec\.bootMode +SecureBootNotOffered`, `node-1 +BareMetalHost +spec\.raid\.hardwareRAIDVolumes\[0\]\.level +RAIDLevel`,
		`node-1 +HostFirmwareComponents +spec\.updates\[0\]\.component +UpdateComponent`,
	}
	inBIOS := []string{`node-1 +HostFirmwareSettings +spec\.settings\.Wings +SettingUnknown`, `node-1 +HostFirmwareSettings +spec\.settings\.Turbo +SettingValue .*On.*Off`}
	for name, c := range map[string]struct {
		args    []string
		in      string
		cluster func(*site)
		want    []string
		not     string
		fails   string
	}{
		"against the cluster": {
			args: []string{"-f", file}, cluster: func(s *site) { s.create(aBMC("node-1")) }, want: append(inHost, "node-2: there is no report of its BMC"), not: "Wings",
			fails: "3 mismatches, on 1 of 2 hosts",
		},
		"with the BIOS settings": {
			args: []string{"-f", file}, cluster: func(s *site) { s.create(aBMC("node-1")); s.withSettings() },
			want: append(inHost, inBIOS...), not: "Cores", fails: "5 mismatches",
		},
		"from standard input":     {args: []string{"-f", "-"}, in: hosts, cluster: func(s *site) { s.create(aBMC("node-1")) }, want: inHost, fails: "3 mismatches"},
		"without a report":        {args: []string{"-f", file}, want: append(inHost[2:], "node-1: there is no report of its BMC"), not: "RAIDLevel", fails: "1 mismatch"},
		"against a report's file": {args: []string{"-f", file, "--report", reported}, want: append(inHost, "node-2: nothing that is known speaks against its wishes"), fails: "3 mismatches"},
		"nothing speaks against it": {
			args: []string{"-f", good}, cluster: func(s *site) { s.create(aBMC("node-1")); s.withSettings() },
			want: []string{"^node-1: nothing that is known speaks against its wishes"}, not: "MESSAGE",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			if c.cluster != nil {
				c.cluster(s)
			}
			out, _, err := s.run(c.in, append([]string{"bmc", "check"}, c.args...)...)
			if c.fails != "" {
				s.Expect(err).To(MatchError(ContainSubstring(c.fails)), out)
			} else {
				s.Expect(err).NotTo(HaveOccurred(), out)
			}
			for _, want := range c.want {
				s.Expect(out).To(MatchRegexp(want))
			}
			if c.not != "" {
				s.Expect(out).NotTo(ContainSubstring(c.not))
			}
			s.Expect(out).NotTo(ContainSubstring("n0t-Shown"))
		})
	}
}

// TestABadObjectEndsNoCheck: what cannot be checked is named, and the other hosts are
// checked all the same.
func TestABadObjectEndsNoCheck(t *testing.T) {
	raw, err := json.Marshal(aBMC("").Status.Report)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	report := filepath.Join(t.TempDir(), "report.json")
	NewWithT(t).Expect(os.WriteFile(report, raw, 0o600)).To(Succeed())
	const head = "apiVersion: metal3.io/v1alpha1\nkind: "
	for name, c := range map[string]struct{ bad, says string }{
		"an address":      {head + "BareMetalHost\nmetadata: {name: odd}\nspec: {online: true, bmc: {address: 'pigeon://x'}}\n", `not checked: host "odd": spec.bmc.address`},
		"a wrong type":    {head + "BareMetalHost\nmetadata: {name: odd}\nspec: {online: 3}\n", `not checked: document 1: BareMetalHost "odd"`},
		"no YAML":         {"a: [\n", `not checked: document 1: `},
		"lost settings":   {head + "HostFirmwareSettings\nmetadata: {name: lost}\n", `not checked: HostFirmwareSettings "lost" has no BareMetalHost`},
		"lost components": {head + "HostFirmwareComponents\nmetadata: {name: lost}\n", `not checked: HostFirmwareComponents "lost" has no BareMetalHost`},
		"in a list":       {"apiVersion: v1\nkind: List\nitems:\n- {apiVersion: metal3.io/v1alpha1, kind: BareMetalHost, metadata: {name: odd}, spec: {online: []}}\n", `BareMetalHost "odd"`},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			out, _, err := command(t, c.bad+"---\n"+hosts, "bmc", "check", "-f", "-", "--report", report)
			g.Expect(err).To(MatchError(And(ContainSubstring("3 mismatches, on 1 of"), ContainSubstring(c.says))))
			g.Expect(out).To(MatchRegexp(`node-1 +BareMetalHost +spec\.bootMode`))
			g.Expect(out).To(ContainSubstring("node-2: nothing that is known speaks against its wishes"))
			g.Expect(out).NotTo(ContainSubstring("odd: nothing that is known"))
		})
	}
}

// TestBMCCheckNeedsNoClusterForAReport: nothing of a kubeconfig is read.
func TestBMCCheckNeedsNoClusterForAReport(t *testing.T) {
	g := NewWithT(t)
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	raw, err := json.Marshal(aBMC("").Status.Report)
	g.Expect(err).NotTo(HaveOccurred())
	report := filepath.Join(t.TempDir(), "report.json")
	g.Expect(os.WriteFile(report, raw, 0o600)).To(Succeed())
	_, _, err = command(t, hosts, "bmc", "check", "-f", "-", "--report", report)
	g.Expect(err).To(MatchError(ContainSubstring("3 mismatches")))
	_, _, err = command(t, hosts, "bmc", "check", "-f", "-")
	g.Expect(err).To(MatchError(ContainSubstring("set KUBECONFIG")))
}

func TestBMCCheckRefuses(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	for name, c := range map[string]struct {
		in, report, want, warns string
	}{
		"no host":            {in: "apiVersion: v1\nkind: Secret\n", want: "there is no BareMetalHost in it"},
		"nothing":            {in: "", want: "there is no BareMetalHost in it"},
		"a host of another":  {in: "apiVersion: example.com/v1\nkind: BareMetalHost\n", want: "there is no BareMetalHost in it"},
		"no YAML":            {in: "a: b: c", want: "document 1"},
		"settings alone":     {in: "apiVersion: metal3.io/v1alpha1\nkind: HostFirmwareSettings\nmetadata: {name: lost}\n", want: `HostFirmwareSettings "lost" has no BareMetalHost`},
		"a wrong type":       {in: "apiVersion: metal3.io/v1alpha1\nkind: BareMetalHost\nmetadata: {name: odd}\nspec: {online: 3}\n", want: `BareMetalHost "odd"`},
		"an unknown address": {in: "apiVersion: metal3.io/v1alpha1\nkind: BareMetalHost\nmetadata: {name: odd}\nspec: {online: true, bmc: {address: 'pigeon://x'}}\n", want: "Unknown BMC type"},
		"a wish misspelled": {
			in: strings.Replace(hosts, "hardwareRAIDVolumes", "hardwareRaidVolume", 1), want: "2 mismatches",
			warns: `warning: BareMetalHost "node-1": .*unknown field "hardwareRaidVolume"`,
		},
		"no report":           {in: hosts, report: "{}", want: "is no report"},
		"a list of reports":   {in: hosts, report: `{"reports": []}`, want: "several reports"},
		"a report of nothing": {in: hosts, report: "nothing", want: "report"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			report := c.report
			if report == "" {
				raw, err := json.Marshal(aBMC("").Status.Report)
				g.Expect(err).NotTo(HaveOccurred())
				report = string(raw)
			}
			_, told, err := command(t, c.in, "bmc", "check", "-f", "-", "--report", write(strings.ReplaceAll(name, " ", "-"), report))
			g.Expect(err).To(MatchError(ContainSubstring(c.want)))
			g.Expect(told).To(MatchRegexp(c.warns))
		})
	}
	_, _, err := command(t, "", "bmc", "check")
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring("filename")))
}
