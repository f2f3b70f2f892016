package profile_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/bmc/simulator"
	"github.com/ironflow/ironflow/test/bmc/simulator/profile"
)

// world asks a BMC.
type world struct {
	*WithT
	http http.Client
}

func start(t *testing.T, p profile.Profile) *world {
	t.Helper()
	w := &world{WithT: NewWithT(t)}
	s, err := p.New(simulator.Options{Username: "admin", Password: "a password of old"})
	w.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(s.Close)
	w.http = http.Client{Transport: s.Transport()}
	return w
}

func (w *world) get(t *testing.T, path string) map[string]any {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://10.0.0.1"+path, http.NoBody)
	w.Expect(err).NotTo(HaveOccurred())
	request.SetBasicAuth("admin", "a password of old")
	answer, err := w.http.Do(request)
	w.Expect(err).NotTo(HaveOccurred())
	defer answer.Body.Close()
	w.Expect(answer.StatusCode).To(Equal(http.StatusOK), path)
	var body map[string]any
	w.Expect(json.NewDecoder(answer.Body).Decode(&body)).To(Succeed(), path)
	return body
}

// absent are links that lead nowhere on purpose: an empty log, adapters before POST.
func absent(vendor simulator.Vendor, address string) bool {
	return vendor == simulator.Lenovo && strings.HasSuffix(address, "/SEL/Entries") || vendor == simulator.HPE && strings.Contains(address, "NetworkAdapters")
}

// TestLinksLead: what a profile's resources link to is there, from the root down.
func TestLinksLead(t *testing.T) {
	for _, p := range profile.All() {
		t.Run(p.Name, func(t *testing.T) {
			w := start(t, p)
			seen := map[string]bool{}
			var walk func(value any)
			walk = func(value any) {
				switch value := value.(type) {
				case map[string]any:
					if address, ok := value["@odata.id"].(string); ok && len(value) == 1 && !seen[address] && !strings.Contains(address, "#") &&
						!absent(p.System.Vendor, address) {
						seen[address] = true
						walk(w.get(t, address))
					}
					for _, inner := range value {
						walk(inner)
					}
				case []any:
					for _, inner := range value {
						walk(inner)
					}
				}
			}
			walk(w.get(t, "/redfish/v1"))
			w.Expect(len(seen)).To(BeNumerically(">", 40))
		})
	}
}

// TestShapes: what tells the makers apart, as their machines were seen to have it.
func TestShapes(t *testing.T) {
	type want struct {
		vendor, version string
		enabled, stream bool // of the event service
		media           []string
		lockout         float64
	}
	for name, c := range map[string]struct {
		profile profile.Profile
		want    want
	}{
		"Dell":       {profile.Dell(), want{"Dell", "6.00.30.00", false, true, []string{"1", "2"}, 0}},
		"HPE":        {profile.HPE(), want{"HPE", "iLO 5 v2.72", true, false, []string{"1", "2"}, 0}},
		"Supermicro": {profile.Supermicro(), want{"", "01.01.01", true, false, []string{"VirtualMedia1", "VirtualMedia2", "VirtualMedia3"}, 3}},
		"DGX":        {profile.DGX(), want{"AMI", "23.11.20", true, true, []string{}, 5}},
		"OpenBMC":    {profile.OpenBMC(), want{"NVIDIA", "GB200Nvl-24.12-8", true, true, []string{"USB1", "USB2"}, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t, c.profile)
			var got want
			got.vendor, _ = w.get(t, "/redfish/v1")["Vendor"].(string)
			manager := c.profile.System.ManagerID
			if manager == "" {
				manager = c.profile.System.ID
			}
			got.version, _ = w.get(t, "/redfish/v1/Managers/"+manager)["FirmwareVersion"].(string)
			events := w.get(t, "/redfish/v1/EventService")
			got.enabled, _ = events["ServiceEnabled"].(bool)
			_, got.stream = events["ServerSentEventUri"]
			got.media = []string{}
			for _, member := range w.get(t, "/redfish/v1/Managers/"+manager+"/VirtualMedia")["Members"].([]any) {
				address := member.(map[string]any)["@odata.id"].(string)
				got.media = append(got.media, address[strings.LastIndex(address, "/")+1:])
			}
			if c.profile.System.Quirks[simulator.Paged] == 0 {
				w.Expect(got.media).To(Equal(c.want.media))
			}
			got.media = c.want.media
			got.lockout, _ = w.get(t, "/redfish/v1/AccountService")["AccountLockoutThreshold"].(float64)
			w.Expect(got).To(Equal(c.want))
		})
	}
}

func TestWith(t *testing.T) {
	g := NewWithT(t)
	p := profile.HPE()
	more := p.With(simulator.Unavailable)
	g.Expect(more.System.Quirks).To(HaveKey(simulator.Unavailable))
	g.Expect(p.System.Quirks).NotTo(HaveKey(simulator.Unavailable))
}
