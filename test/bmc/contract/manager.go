package contract

import (
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net/http"
	"strings"
	"time"

	. "github.com/onsi/gomega" //nolint:staticcheck // these are tests: matchers read as sentences
	"github.com/stmcginnis/gofish/schemas"

	"github.com/ironflow/ironflow/test/bmc/simulator"
	"github.com/ironflow/ironflow/test/bmc/simulator/certificate"
)

const certificateService = "/redfish/v1/CertificateService"

func (w *World) managerPath() string { return "/redfish/v1/Managers/" + w.ID }

// made replaces the case's system by one of a vendor.
func (w *World) made(by simulator.Vendor, licences ...string) {
	w.T.Helper()
	s := simulator.System{ID: w.ID, Vendor: by}
	for _, name := range licences {
		s.Licences = append(s.Licences, simulator.Licence{Name: name, Type: "Perpetual"})
	}
	w.Expect(w.Simulator.AddSystem(s)).To(Succeed())
}

func managerClock(w *World) {
	w.Expect(w.Simulator.SetClock(w.ID, -time.Hour)).To(Succeed())
	read := w.Do(http.MethodGet, w.managerPath(), nil)
	shown, err := time.Parse(time.RFC3339, w.get(w.managerPath())["DateTime"].(string))
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(time.Until(shown)).To(BeNumerically("~", -time.Hour, 5*time.Second))
	date, err := http.ParseTime(read.header.Get("Date"))
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(time.Until(date)).To(BeNumerically("~", -time.Hour, 5*time.Second), "the header too")
	now := time.Now().UTC().Format(time.RFC3339)
	w.accepted(http.MethodPatch, w.managerPath(), map[string]any{"DateTime": now, "DateTimeLocalOffset": "+02:00"}, "If-Match", read.header.Get("ETag"))
	w.Expect(w.get(w.managerPath())).To(HaveKeyWithValue("DateTimeLocalOffset", "+02:00"))
	shown, err = time.Parse(time.RFC3339, w.get(w.managerPath())["DateTime"].(string))
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(time.Until(shown)).To(BeNumerically("~", 0, 5*time.Second))
	for name, value := range map[string]any{"DateTime": "noon", "DateTimeLocalOffset": 2, "FirmwareVersion": "9"} {
		w.refusal(http.StatusBadRequest, http.MethodPatch, w.managerPath(), map[string]any{name: value})
	}
}

func networkProtocol(w *World) {
	protocol, err := w.Manager().NetworkProtocol()
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(protocol.HTTPS.ProtocolEnabled).To(BeTrue())
	address := w.managerPath() + "/NetworkProtocol"
	w.accepted(http.MethodPatch, address, map[string]any{"HostName": "bmc7", "NTP": map[string]any{"NTPServers": []string{"ntp.test", ""}}, "IPMI": map[string]any{"ProtocolEnabled": true}})
	w.Expect(w.get(address)).To(And(HaveKeyWithValue("HostName", "bmc7"), HaveKeyWithValue("NTP", HaveKeyWithValue("NTPServers", ConsistOf("ntp.test")))))
	w.refusal(http.StatusBadRequest, http.MethodPatch, address, map[string]any{"Carrier": "pigeon"})
	nics, err := w.Manager().EthernetInterfaces()
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(nics).To(ContainElement(HaveField("HostName", "bmc7")))
}

func managerLogs(w *World) {
	w.Expect(w.Simulator.AddLog(w.ID,
		simulator.Entry{Event: simulator.Event{Severity: "Critical", MessageID: "Alert.1.0.X", Message: "of old"}, Created: time.Unix(0, 0), Resolved: true},
		simulator.Entry{Event: simulator.Event{Severity: "Warning", Message: "of today"}},
	)).To(Succeed())
	logs, err := w.Manager().LogServices()
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(logs).To(HaveLen(1))
	entries, err := logs[0].Entries()
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(entries).To(ConsistOf(
		And(HaveField("Severity", schemas.CriticalEventSeverity), HaveField("Created", "1970-01-01T00:00:00Z"), HaveField("Resolved", true)),
		HaveField("Message", "of today"),
	))
	w.get(entries[0].ODataID)
	_, err = logs[0].ClearLog("")
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(w.get(logs[0].ODataID + "/Entries")).To(HaveKeyWithValue("Members", BeEmpty()))
}

// certificates: a request is signed by an issuer, and what it gives is served.
func certificates(w *World) {
	now := time.Now()
	issuer, err := certificate.SelfSigned([]string{"issuer"}, now)
	w.Expect(err).NotTo(HaveOccurred())
	places := at(w.get(certificateService+"/CertificateLocations"), "Links", "Certificates").([]any)
	address := w.managerPath() + "/NetworkProtocol/HTTPS/Certificates/1"
	w.Expect(places).To(ContainElement(HaveKeyWithValue("@odata.id", address)))
	w.Expect(w.get(address)["CertificateString"]).To(ContainSubstring("BEGIN CERTIFICATE"))
	w.Expect(w.get(w.managerPath() + "/NetworkProtocol/HTTPS/Certificates")).To(HaveKeyWithValue("Members", HaveLen(1)))
	w.Expect(w.get(certificateService)).To(HaveKey("Actions"))

	const csr, replace = certificateService + "/Actions/CertificateService.GenerateCSR", certificateService + "/Actions/CertificateService.ReplaceCertificate"
	home := map[string]any{"@odata.id": strings.TrimSuffix(address, "/1")}
	w.refusal(http.StatusBadRequest, http.MethodPost, csr, map[string]any{"CommonName": "x"})
	w.refusal(http.StatusBadRequest, http.MethodPost, csr, map[string]any{"CertificateCollection": home})
	var answer struct{ CSRString string }
	w.decode(w.accepted(http.MethodPost, csr, map[string]any{"CertificateCollection": home, "CommonName": w.ID, "AlternativeNames": []string{"127.0.0.1"}, "Organization": "ACME"}).body, &answer)
	block, _ := pem.Decode([]byte(answer.CSRString))
	request, err := x509.ParseCertificateRequest(block.Bytes)
	w.Expect(err).NotTo(HaveOccurred())
	parent, err := issuer.Leaf()
	w.Expect(err).NotTo(HaveOccurred())
	template := &x509.Certificate{SerialNumber: big.NewInt(4711), Subject: request.Subject, IPAddresses: request.IPAddresses, NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(1, 0, 0)}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, request.PublicKey, issuer.Current().PrivateKey)
	w.Expect(err).NotTo(HaveOccurred())
	text := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	place := map[string]any{"@odata.id": address}
	w.refusal(http.StatusBadRequest, http.MethodPost, replace, map[string]any{"CertificateUri": place, "CertificateString": issuer.PEM(), "CertificateType": "PEM"})
	w.refusal(http.StatusBadRequest, http.MethodPost, replace, map[string]any{"CertificateUri": home, "CertificateString": text, "CertificateType": "PEM"})
	w.accepted(http.MethodPost, replace, map[string]any{"CertificateUri": place, "CertificateString": text, "CertificateType": "PEM"})
	w.Expect(w.get(address)).To(HaveKeyWithValue("SerialNumber", "1267"))
	keys, err := w.Simulator.TLSConfig().GetCertificate(&tls.ClientHelloInfo{})
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(keys.Certificate[0]).To(Equal(der), "it is served")
}

// licences are at other places with each vendor.
func licences(w *World) {
	m := w.managerPath()
	w.made(simulator.HPE, "iLO Advanced")
	w.Expect(w.get(m + "/LicenseService")).To(HaveKeyWithValue("Members", HaveLen(1)))
	w.Expect(w.get(m + "/LicenseService/1")).To(And(HaveKeyWithValue("License", "iLO Advanced"), HaveKeyWithValue("LicenseType", "Perpetual")))
	w.Expect(w.status(http.MethodGet, m+"/LicenseService/2", nil)).To(Equal(http.StatusNotFound))
	w.made(simulator.Dell, "iDRAC9 Enterprise")
	w.Expect(w.get(m + "/Oem/Dell/DellLicenses")).To(HaveKeyWithValue("Members", HaveLen(1)))
	w.Expect(w.get(m + "/Oem/Dell/DellLicenses/iDRAC9_Enterprise")).To(HaveKeyWithValue("LicenseDescription", ConsistOf("iDRAC9 Enterprise")))
	w.Expect(w.get(m + "/Oem/Dell/DellAttributes/" + w.ID)).To(HaveKeyWithValue("Attributes", HaveKeyWithValue("IPMILan.1.AlertEnable", "Enabled")))
	w.made(simulator.Supermicro, "SFT-DCMS-SINGLE")
	w.Expect(w.get(m + "/LicenseManager")).To(HaveKey("QueryLicense"))
	w.Expect(at(w.get(m+"/LicenseManager/QueryLicense"), "Licenses", 0)).To(ContainSubstring(`"LicenseName":"SFT-DCMS-SINGLE"`))
	for _, elsewhere := range []string{m + "/LicenseService", m + "/Oem/Dell/DellLicenses", m + "/LicenseService/1", "/redfish/v1/LicenseService", "/redfish/v1/LicenseService/Licenses", "/redfish/v1/LicenseService/Licenses/x"} {
		w.Expect(w.status(http.MethodGet, elsewhere, nil)).To(Equal(http.StatusNotFound), elsewhere)
	}
}

// jobs are the tasks, at two places.
func jobs(w *World) {
	w.made(simulator.Dell)
	id, err := w.Simulator.AddJob(w.ID, "Somebody's job")
	w.Expect(err).NotTo(HaveOccurred())
	w.get("/redfish/v1/JobService")
	w.Expect(w.members("/redfish/v1/JobService/Jobs")).To(ContainElement("/redfish/v1/JobService/Jobs/" + id))
	w.Expect(w.get("/redfish/v1/JobService/Jobs/" + id)).To(And(HaveKeyWithValue("JobState", "Scheduled"), HaveKeyWithValue("Name", "Somebody's job")))
	dell := w.managerPath() + "/Oem/Dell/Jobs"
	w.Expect(w.members(dell)).To(ContainElement(dell + "/" + id))
	w.accepted(http.MethodDelete, dell+"/"+id, nil)
	w.Expect(w.status(http.MethodGet, dell+"/"+id, nil)).To(Equal(http.StatusNotFound))
	id, err = w.Simulator.AddJob(w.ID, "Another job")
	w.Expect(err).NotTo(HaveOccurred())
	w.Boots()
	w.Expect(w.get("/redfish/v1/JobService/Jobs/"+id)).To(HaveKeyWithValue("JobState", "Completed"), "a reset runs it")
	w.get("/redfish/v1/TaskService/Tasks/" + id + "/Monitor")
	w.accepted(http.MethodDelete, "/redfish/v1/JobService/Jobs/"+id, nil)
}

func noSettingsObject(w *World) {
	for _, address := range []string{"/Settings", "/Bios/SD"} {
		w.Expect(w.status(http.MethodGet, w.systemPath()+address, nil)).To(Equal(http.StatusNotFound))
		w.Expect(w.status(http.MethodPatch, w.systemPath()+address, map[string]any{})).To(Equal(http.StatusNotFound))
	}
}
