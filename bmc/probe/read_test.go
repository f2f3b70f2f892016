package probe_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/probe"
)

// states are the states of a report's capabilities.
func states(r *v1alpha1.BMCReport) map[string]v1alpha1.CapabilityState {
	out := map[string]v1alpha1.CapabilityState{}
	for _, c := range r.Capabilities {
		out[c.Name] = c.State
	}
	return out
}

// The paths of the fixture of Dell.
const (
	dellSystem  = "/Systems/System.Embedded.1"
	dellManager = "/Managers/iDRAC.Embedded.1"
	dellRAID    = dellSystem + "/Storage/RAID.Slot.1-1"
)

// costs are the capabilities that stand on one resource.
var costs = map[string][]string{
	dellSystem + "/VirtualMedia":           {probe.VirtualMedia, probe.VirtualMediaCD, probe.VirtualMediaProtocols, probe.VirtualMediaMethod, probe.VirtualMediaInsert, probe.IronicNeeds},
	dellSystem + "/SecureBoot":             {probe.SecureBoot},
	dellSystem + "/Bios":                   {probe.BIOSSettings, probe.BIOSRegistry},
	dellSystem + "/Storage":                {probe.RAID, probe.VolumeCreation, probe.Drives},
	dellRAID:                               {probe.RAID, probe.VolumeCreation, probe.Drives},
	dellRAID + "/Volumes":                  {probe.VolumeCreation},
	dellManager:                            {probe.BMCVersion, probe.Clock, probe.Licences},
	dellManager + "/Oem/Dell/Jobs":         {},
	dellManager + "/Oem/Dell/DellLicenses": {probe.Licences},
	"/Registries":                          {probe.BIOSRegistry},
	"/SessionService/Sessions":             {probe.Sessions},
	"/AccountService":                      {probe.Accounts},
	"/UpdateService":                       {probe.SimpleUpdate, probe.PushUpdate, probe.FirmwareInventory},
	"/EventService":                        {probe.Events, probe.EventStream},
}

// TestOneBrokenResource: whatever one resource answers, there is a report, and only
// the capabilities that stand on it change, to Unknown.
func TestOneBrokenResource(t *testing.T) {
	base, err := examine(t, load(t, "dell-idrac9"), probe.Options{})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	for path, lost := range costs {
		for kind, breakIt := range map[string]func(w http.ResponseWriter){
			"500":      func(w http.ResponseWriter) { w.WriteHeader(http.StatusInternalServerError) },
			"404":      func(w http.ResponseWriter) { w.WriteHeader(http.StatusNotFound) },
			"403":      func(w http.ResponseWriter) { w.WriteHeader(http.StatusForbidden) },
			"a page":   func(w http.ResponseWriter) { fmt.Fprint(w, "<html>Login</html>") },
			"half":     func(w http.ResponseWriter) { fmt.Fprint(w, `{"Members": [{"@odata.`) },
			"too deep": func(w http.ResponseWriter) { fmt.Fprint(w, strings.Repeat("[", 5000)) },
			"redirects": func(w http.ResponseWriter) {
				w.Header().Set("Location", "https://elsewhere.example/")
				w.WriteHeader(http.StatusFound)
			},
		} {
			t.Run(path+" "+kind, func(t *testing.T) {
				g := NewWithT(t)
				f := load(t, "dell-idrac9")
				report, err := probe.Probe(t.Context(), &reader{breaks(f, path, breakIt), 0}, probe.Options{Now: func() time.Time { return f.Now }})
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(report.Model).To(Equal("PowerEdge R750"))
				got := states(report)
				for name, state := range states(base) {
					if slices.Contains(lost, name) {
						continue
					}
					g.Expect(got[name]).To(Equal(state), "%s does not stand on %s", name, path)
				}
				for _, c := range report.Capabilities {
					if slices.Contains(lost, c.Name) {
						g.Expect(c.State).To(Equal(v1alpha1.Unknown), "%s: %s", c.Name, c.Proof)
						g.Expect(c.Proof).NotTo(BeEmpty(), c.Name)
					}
				}
			})
		}
	}
}

// breaks is a BMC of which one path is broken.
func breaks(f *fixture, path string, breakIt func(http.ResponseWriter)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == redfishRoot+path {
			breakIt(w)
			return
		}
		f.ServeHTTP(w, r)
	})
}

// reader asks a handler without a network, and counts.
type reader struct {
	bmc http.Handler
	n   int64
}

func (r *reader) GetRaw(ctx context.Context, path string) (*client.Answer, error) {
	r.n++
	client.CountRequest(ctx)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://bmc.example", http.NoBody)
	if err != nil {
		return nil, err
	}
	request.URL.Path, request.URL.RawQuery, _ = strings.Cut(path, "?")
	w := httptest.NewRecorder()
	r.bmc.ServeHTTP(w, request)
	var kind client.Kind
	switch code := w.Code; {
	case code == http.StatusOK:
		return &client.Answer{Status: code, Header: w.Header(), Body: w.Body.Bytes()}, nil
	case code == http.StatusUnauthorized:
		kind = client.Credentials
	case code == http.StatusNotFound:
		kind = client.NotSupported
	case code >= http.StatusInternalServerError:
		kind = client.Failed
	default:
		kind = client.Refused
	}
	return nil, &client.Error{Kind: kind, Method: http.MethodGet, Path: path, Status: w.Code}
}

func (r *reader) Connection() client.Connection { return client.Connection{} }

// TestNotOffered: a link that is not there is No, however the rest is.
func TestNotOffered(t *testing.T) {
	for name, c := range map[string]struct {
		resource string
		members  []string
		lost     []string
	}{
		"virtual media": {dellSystem, []string{"VirtualMedia"}, []string{probe.VirtualMedia, probe.VirtualMediaCD, probe.VirtualMediaInsert}},
		"boot":          {dellSystem, []string{"Boot"}, []string{probe.BootOnce, probe.BootOrder, probe.HTTPBoot, probe.IronicNeeds}},
		"secure boot":   {dellSystem, []string{"SecureBoot"}, []string{probe.SecureBoot}},
		"BIOS":          {dellSystem, []string{"Bios"}, []string{probe.BIOSSettings, probe.BIOSRegistry}},
		"storage":       {dellSystem, []string{"Storage"}, []string{probe.RAID, probe.VolumeCreation, probe.Drives}},
		"power":         {dellSystem, []string{"PowerState", "Actions"}, []string{probe.IronicNeeds}},
		"services": {
			"/",
			[]string{"UpdateService", "EventService", "AccountService", "SessionService", "Links", "Tasks"},
			[]string{probe.SimpleUpdate, probe.PushUpdate, probe.FirmwareInventory, probe.Events, probe.EventStream, probe.Accounts, probe.Sessions, probe.Tasks},
		},
		"certificates": {"/", []string{"CertificateService"}, []string{}},
		"registries":   {"/", []string{"Registries"}, []string{probe.BIOSRegistry}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			f := load(t, "dell-idrac9")
			for _, member := range c.members {
				delete(f.Resources[c.resource].(map[string]any), member)
			}
			report, err := examine(t, f, probe.Options{})
			g.Expect(err).NotTo(HaveOccurred())
			for _, name := range c.lost {
				g.Expect(states(report)).To(HaveKeyWithValue(name, v1alpha1.No), name)
			}
		})
	}
}

// TestWhileTheHostStarts: what a host in its self-test does not show is not missing.
func TestWhileTheHostStarts(t *testing.T) {
	for name, c := range map[string]struct {
		members map[string]any
		raid    v1alpha1.CapabilityState
	}{
		"in its self-test":           {map[string]any{"BootProgress": map[string]any{"LastState": "MemoryInitializationStarted"}}, v1alpha1.Unknown},
		"when its buses are set up":  {map[string]any{"BootProgress": map[string]any{"LastState": "PCIResourceConfigStarted"}}, v1alpha1.Unknown},
		"after its self-test":        {map[string]any{"BootProgress": map[string]any{"LastState": "SystemHardwareInitializationComplete"}}, v1alpha1.No},
		"when its system runs":       {map[string]any{"BootProgress": map[string]any{"LastState": "OSRunning"}}, v1alpha1.No},
		"nothing is said of it":      {nil, v1alpha1.No},
		"an HPE in its self-test":    {map[string]any{"Oem": map[string]any{"Hpe": map[string]any{"PostState": "InPost"}}}, v1alpha1.Unknown},
		"an HPE after its self-test": {map[string]any{"Oem": map[string]any{"Hpe": map[string]any{"PostState": "FinishedPost"}}}, v1alpha1.No},
		"an HPE that knows it all": {
			map[string]any{"Oem": map[string]any{"Hpe": map[string]any{
				"PostState":               "InPost",
				"DeviceDiscoveryComplete": map[string]any{"DeviceDiscovery": "vMainDeviceDiscoveryComplete"},
			}}},
			v1alpha1.No,
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			f := load(t, "dell-idrac9")
			maps.Copy(f.Resources[dellSystem].(map[string]any), c.members)
			f.Resources[dellSystem+"/Storage"] = map[string]any{"Members": []any{}}
			report, err := examine(t, f, probe.Options{})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(states(report)).To(HaveKeyWithValue(probe.RAID, c.raid))
			g.Expect(states(report)).To(HaveKeyWithValue(probe.VolumeCreation, c.raid))
			g.Expect(states(report)).To(HaveKeyWithValue(probe.Drives, c.raid))
		})
	}
}

// TestALinkWithATitle: a member that says more of what it leads to than its path is a
// link all the same, and what it leads to is read.
func TestALinkWithATitle(t *testing.T) {
	g := NewWithT(t)
	f := load(t, "dell-idrac9")
	for path, body := range f.Resources {
		resource, is := body.(map[string]any)
		if !is {
			continue
		}
		for _, name := range []string{"Members", "Drives"} {
			list, _ := resource[name].([]any)
			for i, one := range list {
				if len(one.(map[string]any)) > 1 {
					continue // it comes whole
				}
				link := one.(map[string]any)["@odata.id"].(string)
				list[i] = map[string]any{"@odata.id": link, "Name": "Number " + link, "Id": link[strings.LastIndex(link, "/")+1:], "title": path}
			}
		}
	}
	report, err := examine(t, f, probe.Options{Requests: 100})
	g.Expect(err).NotTo(HaveOccurred())
	plain, err := examine(t, load(t, "dell-idrac9"), probe.Options{Requests: 100})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(states(report)).To(Equal(states(plain)))
	g.Expect(report.Storage).To(Equal(plain.Storage))
	g.Expect(report.Firmware).To(Equal(plain.Firmware))
}

// TestEveryRowIsJudged: each report has each capability once, in the table's order,
// and a verdict that is not Yes says why.
func TestEveryRowIsJudged(t *testing.T) {
	for _, name := range []string{"dell-idrac9", "hpe-ilo5", "odd-types", "nvidia-bluefield3", "ami-dgx"} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			report, err := examine(t, load(t, name), probe.Options{})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(report.Capabilities).To(HaveLen(len(probe.Capabilities)))
			for i, row := range probe.Capabilities {
				c := report.Capabilities[i]
				g.Expect(c.Name).To(Equal(row.Name))
				g.Expect(c.Proof).NotTo(BeEmpty(), c.Name)
				g.Expect(c.Proof).NotTo(Equal("not looked at"), c.Name)
			}
		})
	}
}

// TestWritesNothing: a probe makes GET requests alone, and the chassis of RAID and
// enclosures of a Dell, or of nobody knows whom, are never read.
func TestWritesNothing(t *testing.T) {
	for vendor, asked := range map[string]bool{"Dell": false, "": false, "Supermicro": true} {
		t.Run("vendor "+vendor, func(t *testing.T) {
			g := NewWithT(t)
			f := load(t, "dell-idrac9")
			root, system := f.Resources["/"].(map[string]any), f.Resources[dellSystem].(map[string]any)
			root["Vendor"], root["Product"], root["Oem"], system["Manufacturer"] = vendor, "", nil, ""
			system["Links"] = map[string]any{"ManagedBy": []any{linkTo(dellManager)}, "Chassis": []any{linkTo("/Chassis/Enclosure.Internal.0-1:RAID.Slot.1-1")}}
			f.Resources[dellRAID].(map[string]any)["Drives"] = []any{linkTo("/Chassis/Enclosure.Internal.0-1:RAID.Slot.1-1/Drives/Disk.Bay.0")}
			report, err := examine(t, f, probe.Options{})
			g.Expect(err).NotTo(HaveOccurred())
			touched := false
			for _, request := range f.requests() {
				g.Expect(request).To(HavePrefix("GET "))
				touched = touched || strings.Contains(request, "/Chassis/")
			}
			g.Expect(touched).To(Equal(asked))
			g.Expect(report.Storage[0].Drives).To(HaveLen(1), "the drive is listed all the same")
		})
	}
}

// TestSkipsPathsOfQuirks: what a quirk forbids is not read.
func TestSkipsPathsOfQuirks(t *testing.T) {
	g := NewWithT(t)
	f := load(t, "hpe-ilo5")
	report, err := examine(t, f, probe.Options{Quirks: func(id probe.Identity) []v1alpha1.AppliedQuirk {
		g.Expect(id).To(Equal(probe.Identity{Vendor: "HPE", Model: "ProLiant DL385 Gen10 Plus v2", ManagerModel: "iLO 5", BMCVersion: "2.72", BIOSVersion: "A42 v2.60 (02/10/2022)"}))
		return []v1alpha1.AppliedQuirk{{ID: "site", Effect: "skip-path", Value: "/redfish/v1/AccountService"}}
	}})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(f.requests()).NotTo(ContainElement(ContainSubstring("AccountService")))
	g.Expect(states(report)).To(HaveKeyWithValue(probe.Accounts, v1alpha1.Unknown))
	g.Expect(report.Quirks).To(HaveLen(1))
}

func TestBudget(t *testing.T) {
	read := func(r *v1alpha1.BMCReport) (ids []string) {
		for _, d := range r.Storage[0].Drives {
			if d.CapacityBytes > 0 {
				ids = append(ids, d.ID)
			}
		}
		return ids
	}
	t.Run("by default a sample is read, and said", func(t *testing.T) {
		g := NewWithT(t)
		f := load(t, "dell-idrac9")
		report, err := examine(t, f, probe.Options{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(report.Storage[0].Drives).To(HaveLen(24))
		g.Expect(read(report)).To(ContainElements("Disk.Bay.0", "Disk.Bay.23"))
		g.Expect(len(f.requests())+1).To(Equal(report.Requests), "one is the logout")
		g.Expect(report.Requests).To(BeNumerically("<=", 30))
		g.Expect(report.Remarks).To(ContainElement(MatchRegexp(`^[0-9]+ of 24 drives were not read`)))
	})
	t.Run("wanted drives first", func(t *testing.T) {
		g := NewWithT(t)
		report, err := examine(t, load(t, "dell-idrac9"), probe.Options{Drives: []string{"Disk.Bay.7", "Disk.Bay.8"}})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(read(report)).To(ContainElements("Disk.Bay.7", "Disk.Bay.8"))
	})
	t.Run("without a bound all are read", func(t *testing.T) {
		g := NewWithT(t)
		report, err := examine(t, load(t, "dell-idrac9"), probe.Options{Requests: -1})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(read(report)).To(HaveLen(24))
		g.Expect(report.Storage[0].Volumes).To(HaveLen(1))
		g.Expect(report.Storage[0].Volumes[0].RAIDType).To(Equal("RAID1"))
		g.Expect(report.Storage[0].Volumes[0].Drives).To(Equal([]string{"Disk.Bay.0", "Disk.Bay.1"}))
		g.Expect(report.Remarks).NotTo(ContainElement(ContainSubstring("spare the BMC")))
	})
	t.Run("a small one still identifies", func(t *testing.T) {
		g := NewWithT(t)
		f := load(t, "dell-idrac9")
		report, err := examine(t, f, probe.Options{Requests: 6})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(f.requests()).To(HaveLen(5))
		g.Expect(report.SerialNumber).To(Equal("TAG0001"))
		g.Expect(states(report)).To(HaveKeyWithValue(probe.SecureBoot, v1alpha1.Unknown))
	})
}

// TestExpand: members come with their list where that is asked for, the BMC offers
// it, and no quirk forbids it.
func TestExpand(t *testing.T) {
	forbid := func(probe.Identity) []v1alpha1.AppliedQuirk {
		return []v1alpha1.AppliedQuirk{{ID: "x", Effect: "no-expand"}}
	}
	for name, c := range map[string]struct {
		options probe.Options
		offered bool
		expands bool
	}{
		"asked for and offered": {probe.Options{Expand: true}, true, true},
		"not asked for":         {probe.Options{}, true, false},
		"not offered":           {probe.Options{Expand: true}, false, false},
		"forbidden by a quirk":  {probe.Options{Expand: true, Quirks: forbid}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			f := load(t, "dell-idrac9")
			f.expand = true
			if !c.offered {
				delete(f.Resources["/"].(map[string]any), "ProtocolFeaturesSupported")
			}
			report, err := examine(t, f, c.options)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(report.Requests).To(BeNumerically("<=", 30))
			full := 0
			for _, d := range report.Storage[0].Drives {
				if d.CapacityBytes > 0 {
					full++
				}
			}
			g.Expect(full == 24).To(Equal(c.expands), "%d drives are known", full)
			g.Expect(strings.Contains(strings.Join(f.requests(), "\n"), "expand")).To(Equal(c.expands))
		})
	}
}
