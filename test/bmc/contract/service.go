package contract

import (
	"encoding/json"
	"net/http"
	"time"

	. "github.com/onsi/gomega" //nolint:staticcheck // these are tests: matchers read as sentences
	"github.com/stmcginnis/gofish/schemas"

	"github.com/ironflow/ironflow/test/bmc/simulator"
)

func serviceRoot(w *World) {
	root := w.API.GetService()
	w.Expect(root.RedfishVersion).NotTo(BeEmpty())
	w.Expect(root.UUID).NotTo(BeEmpty())
	w.Expect(w.members("/redfish/v1/Systems")).To(ContainElement(w.systemPath()))
}

func versions(w *World) {
	w.Expect(w.Do(http.MethodGet, "/redfish", nil).body).To(MatchJSON(`{"v1": "/redfish/v1/"}`))
	w.Expect(w.Do(http.MethodGet, "/redfish/v1/odata", nil).body).To(ContainSubstring("/redfish/v1/Systems"))
	metadata := w.Do(http.MethodGet, "/redfish/v1/$metadata", nil)
	w.Expect(metadata.header.Get("Content-Type")).To(Equal("application/xml"))
	w.Expect(metadata.body).To(ContainSubstring("edmx"))
}

func missing(w *World) {
	_, err := schemas.GetComputerSystem(w.API, w.systemPath()+"0")
	w.Refused(err, http.StatusNotFound)
	w.Expect(w.Do(http.MethodGet, "/redfish/v1/Nonsense", nil).status).To(Equal(http.StatusNotFound))
	w.Expect(w.Do(http.MethodDelete, w.systemPath(), nil).status).To(Equal(http.StatusMethodNotAllowed))
}

func wrongPassword(w *World) {
	// The root may be open to everybody; what is below it is not.
	api, err := w.tryConnect(true, "wrong")
	if err == nil {
		_, err = schemas.GetComputerSystem(api, w.systemPath())
	}
	w.Refused(err, http.StatusUnauthorized)
}

func etags(w *World) {
	read := w.Do(http.MethodGet, w.systemPath(), nil)
	w.Expect(read.header.Get("ETag")).NotTo(BeEmpty())
	w.Expect(w.Do(http.MethodGet, w.systemPath(), nil).header.Get("ETag")).To(Equal(read.header.Get("ETag")), "nothing has changed")
	body := map[string]any{"AssetTag": "a"}
	w.Expect(w.Do(http.MethodPatch, w.systemPath(), body, "If-Match", read.header.Get("ETag")).status).To(BeNumerically("<", 300))
	w.Expect(w.Do(http.MethodPatch, w.systemPath(), body, "If-Match", read.header.Get("ETag")).status).To(Equal(http.StatusPreconditionFailed), "it has changed since")
	w.Expect(w.Do(http.MethodPatch, w.systemPath(), body, "If-Match", "*").status).To(BeNumerically("<", 300))
}

// protocolRules are those of DSP0266 that its validator looks at and nothing else
// here does.
func protocolRules(w *World) {
	answer, _, err := w.raw(w.systemPath()) //nolint:bodyclose // it was read and closed
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(answer.Header.Get("Link")).To(MatchRegexp(`^<http.*/ComputerSystem\.v[0-9_]+\.json>; rel=describedby$`))
	same, body, err := w.raw(w.systemPath(), "If-None-Match", answer.Header.Get("ETag")) //nolint:bodyclose // as above
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(same.StatusCode).To(Equal(http.StatusNotModified))
	w.Expect(body).To(BeEmpty())
	w.refusal(http.StatusPreconditionFailed, http.MethodGet, w.systemPath(), nil, "OData-Version", "4.1")
	made := w.accepted(http.MethodPost, accountsPath+"/Members", map[string]any{"UserName": w.ID, "Password": "first-secret"})
	w.Expect(made.header.Get("Location")).To(HavePrefix(accountsPath + "/"))
	network := w.managerPath() + "/NetworkProtocol"
	for _, c := range []struct{ patch, want []any }{
		{[]any{"a.test", "b.test"}, []any{"a.test", "b.test"}},
		{[]any{map[string]any{}, "c.test"}, []any{"a.test", "c.test"}},
		{[]any{nil, map[string]any{}}, []any{"c.test"}},
	} {
		w.accepted(http.MethodPatch, network, map[string]any{"NTP": map[string]any{"NTPServers": c.patch}})
		w.Expect(at(w.get(network), "NTP", "NTPServers")).To(Equal(c.want))
	}
}

func sessions(w *World) {
	api := w.Connect(false, w.Password)
	_, err := schemas.GetComputerSystem(api, w.systemPath())
	w.Expect(err).NotTo(HaveOccurred())
	session, err := api.GetSession()
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(session.Token).NotTo(BeEmpty())
	api.Logout()
	w.Expect(w.Do(http.MethodGet, session.ID, nil).status).To(Equal(http.StatusNotFound))
	answer := w.Do(http.MethodPost, "/redfish/v1/SessionService/Sessions", map[string]any{"UserName": w.User, "Password": "wrong"})
	w.Expect(answer.status).To(Equal(http.StatusUnauthorized))
}

func sessionService(w *World) {
	service, err := w.API.GetService().SessionService()
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(service.ServiceEnabled).To(BeTrue())
	api := w.Connect(false, w.Password)
	w.T.Cleanup(api.Logout)
	session, err := api.GetSession()
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(w.members("/redfish/v1/SessionService/Sessions")).To(ContainElement(session.ID))
	w.Expect(w.Do(http.MethodGet, session.ID, nil).body).To(ContainSubstring(w.User))
	w.Expect(w.Do(http.MethodDelete, session.ID+"0", nil).status).To(Equal(http.StatusNotFound))
}

func system(w *World) {
	s := w.System()
	w.Expect(s.ID).To(Equal(w.ID))
	w.Expect(s.UUID).To(Equal(w.ID))
	w.Expect(s.PowerState).To(Equal(schemas.OffPowerState))
	w.Expect(s.Manufacturer).NotTo(BeEmpty())
	w.Expect(s.Status.Health).To(Equal(schemas.OKHealth))
	types, err := s.GetSupportedResetTypes()
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(types).To(ContainElements(schemas.OnResetType, schemas.ForceOffResetType, schemas.GracefulShutdownResetType, schemas.ForceRestartResetType))
}

func processors(w *World) {
	s := w.System()
	w.Expect(s.MemorySummary.TotalSystemMemoryGiB).To(HaveValue(BeNumerically(">", 0)))
	cpus, err := s.Processors()
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(cpus).To(HaveLen(int(*s.ProcessorSummary.Count)))
	w.Expect(cpus[0].InstructionSet).To(BeEquivalentTo("x86-64"))
	w.Expect(cpus[0].Model).NotTo(BeEmpty())
}

func assetTag(w *World) {
	w.Expect(w.Do(http.MethodPatch, w.systemPath(), map[string]any{"AssetTag": "rack 7"}).status).To(BeNumerically("<", 300))
	w.Expect(w.System().AssetTag).To(Equal("rack 7"))
	w.Expect(w.Do(http.MethodPatch, w.systemPath(), map[string]any{"Model": "better"}).status).To(Equal(http.StatusBadRequest))
}

func interfaces(w *World) {
	nics, err := w.System().EthernetInterfaces()
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(nics).To(HaveLen(1))
	w.Expect(nics[0].MACAddress).To(MatchRegexp(`^([0-9a-f]{2}:){5}[0-9a-f]{2}$`))
}

func manager(w *World) {
	m := w.Manager()
	w.Expect(m.ManagerType).To(BeEquivalentTo("BMC"))
	w.Expect(m.FirmwareVersion).NotTo(BeEmpty())
	w.Expect(w.members("/redfish/v1/Managers")).To(ContainElement(m.ODataID))
}

func restartManager(w *World) {
	w.slowSystem(simulator.Delays{Restart: time.Hour})
	m := w.Manager()
	_, err := m.Reset(schemas.ForceRestartResetType)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(w.Do(http.MethodGet, w.systemPath(), nil).status).To(Equal(http.StatusServiceUnavailable), "while it restarts")
	w.slowSystem(simulator.Delays{Restart: 20 * time.Millisecond})
	_, err = m.Reset(schemas.ForceRestartResetType)
	w.Expect(err).NotTo(HaveOccurred())
	w.Eventually(func() int { return w.Do(http.MethodGet, w.systemPath(), nil).status }, w.Patience, w.Look).Should(Equal(http.StatusOK))
	answer := w.Do(http.MethodPost, m.ODataID+"/Actions/Manager.Reset", map[string]any{"ResetType": "Nmi"})
	w.Expect(answer.status).To(Equal(http.StatusBadRequest))
}

func chassis(w *World) {
	c := w.Chassis()
	w.Expect(c.ChassisType).NotTo(BeEmpty())
	w.Expect(w.members("/redfish/v1/Chassis")).To(ContainElement(c.ODataID))
}

func adapters(w *World) {
	list, err := w.Chassis().NetworkAdapters()
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(list).To(HaveLen(1))
	w.Expect(list[0].Controllers[0].FirmwarePackageVersion).NotTo(BeEmpty())
}

func temperatures(w *World) {
	var thermal struct {
		Temperatures []struct {
			Name           string
			ReadingCelsius *float64
		}
		Fans []struct{ Name string }
	}
	// Not read by gofish, to which the emulator's sensor numbers are no numbers.
	w.Expect(json.Unmarshal(w.Do(http.MethodGet, w.Chassis().ODataID+"/Thermal", nil).body, &thermal)).To(Succeed())
	w.Expect(thermal.Temperatures).To(ContainElement(HaveField("ReadingCelsius", HaveValue(BeNumerically(">", 0)))))
	w.Expect(thermal.Fans).NotTo(BeEmpty())
}

func readings(w *World) {
	read := func() (rpm int, watts float32) {
		c := w.Chassis()
		t, err := c.Thermal()
		w.Expect(err).NotTo(HaveOccurred())
		p, err := c.Power()
		w.Expect(err).NotTo(HaveOccurred())
		return *t.Fans[0].Reading, *p.PowerControl[0].PowerConsumedWatts
	}
	rpm, off := read()
	w.Expect(rpm).To(BeZero())
	w.Boots()
	rpm, on := read()
	w.Expect(rpm).To(BeNumerically(">", 0))
	w.Expect(on).To(BeNumerically(">", off))
}

func sensors(w *World) {
	list, err := w.Chassis().Sensors()
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(list).To(ContainElement(And(HaveField("ReadingUnits", "Cel"), HaveField("Reading", HaveValue(BeNumerically(">", 0))))))
}
