package probe_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"fmt"
	"math/big"
	"net"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/uuid"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/probe"
	"github.com/ironflow/ironflow/test/bmc/simulator"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/emulator"
	"github.com/ironflow/ironflow/test/lab/labtest"
)

const (
	user     = "admin"
	password = "simulated"
)

// simulated starts a BMC with 24 drives behind a RAID controller.
func simulated(t *testing.T, quirks map[simulator.Quirk]int) *simulator.Server {
	t.Helper()
	s := simulator.New(simulator.Options{Username: user, Password: password})
	t.Cleanup(s.Close)
	raid := simulator.Storage{ID: "RAID.1", Name: "RAID controller", RAIDTypes: []string{"RAID0", "RAID1", "RAID5"}}
	for i := range 24 {
		raid.Drives = append(raid.Drives, simulator.Drive{ID: fmt.Sprintf("Disk.%d", i), CapacityBytes: 960e9})
	}
	NewWithT(t).Expect(s.AddSystem(simulator.System{
		ID: "1", Manufacturer: "Dell Inc.", Model: "PowerEdge R750", SerialNumber: "S1", Power: simulator.On, Storage: []simulator.Storage{raid},
		Firmware: simulator.Firmware{BIOS: "2.0.1", BMC: "7.10.50.00", NICs: map[string]string{"NIC1": "20.0.0"}}, Quirks: quirks,
	})).To(Succeed())
	return s
}

// TestSimulator probes the simulator: what is there is found with at most 30 requests,
// login and logout among them, and our session does not stay.
func TestSimulator(t *testing.T) {
	g := NewWithT(t)
	s := simulated(t, nil)
	c := connect(t, s, user, password)
	report, err := probe.Probe(t.Context(), c, probe.Options{Username: user})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.Close(t.Context())).To(Succeed())
	g.Expect(s.Total("")).To(Equal(report.Requests))
	g.Expect(report.Requests).To(BeNumerically("<=", 30))
	g.Expect(s.Total("POST ")).To(Equal(1), "the login")
	g.Expect(s.Total("DELETE ")).To(Equal(1), "the logout")
	g.Expect(s.Total("PATCH ")).To(BeZero())

	g.Expect(report.Model).To(Equal("PowerEdge R750"))
	g.Expect(report.BMCVersion).To(Equal("7.10.50.00"))
	g.Expect(report.BIOSVersion).To(Equal("2.0.1"))
	g.Expect(report.Sessions.Open).To(Equal(1))
	g.Expect(*report.ClockSkewSeconds).To(BeNumerically("~", 0, 2))
	g.Expect(report.BIOS.Attributes).To(BeNumerically(">", 3))
	g.Expect(report.BIOS.RegistryPath).NotTo(BeEmpty())
	g.Expect(report.Storage).To(HaveLen(1))
	g.Expect(report.Storage[0].Drives).To(HaveLen(24))
	g.Expect(*report.Storage[0].RAIDTypes).To(ConsistOf("RAID0", "RAID1", "RAID5"))
	for _, name := range []string{
		probe.VirtualMedia, probe.VirtualMediaCD, probe.BootOnce, probe.HTTPBoot, probe.SecureBoot, probe.BIOSSettings, probe.BIOSRegistry, probe.RAID,
		probe.VolumeCreation, probe.Drives, probe.SimpleUpdate, probe.FirmwareInventory, probe.Events, probe.Tasks, probe.Sessions, probe.Clock, probe.IronicNeeds,
	} {
		g.Expect(states(report)).To(HaveKeyWithValue(name, v1alpha1.Yes), name)
	}
}

// TestSimulatedShapes: each quirk of the simulator that changes what is shown changes
// the verdict.
func TestSimulatedShapes(t *testing.T) {
	for quirk, want := range map[simulator.Quirk]map[string]v1alpha1.CapabilityState{
		simulator.NoHTTPBoot:         {probe.HTTPBoot: v1alpha1.No, probe.BootOnce: v1alpha1.Yes},
		simulator.MediaOnManager:     {probe.VirtualMediaCD: v1alpha1.Yes},
		simulator.MediaByPatch:       {probe.VirtualMediaCD: v1alpha1.Yes},
		simulator.NoBIOS:             {probe.BIOSSettings: v1alpha1.No, probe.BIOSRegistry: v1alpha1.No},
		simulator.NoBIOSRegistry:     {probe.BIOSSettings: v1alpha1.Yes, probe.BIOSRegistry: v1alpha1.No},
		simulator.NoSecureBoot:       {probe.SecureBoot: v1alpha1.No},
		simulator.NoStorage:          {probe.RAID: v1alpha1.No, probe.VolumeCreation: v1alpha1.No, probe.Drives: v1alpha1.No},
		simulator.NoRAIDType:         {probe.RAID: v1alpha1.Unknown, probe.Drives: v1alpha1.Yes},
		simulator.NoEventService:     {probe.Events: v1alpha1.No, probe.EventStream: v1alpha1.No},
		simulator.NoUpdateService:    {probe.SimpleUpdate: v1alpha1.No, probe.FirmwareInventory: v1alpha1.No},
		simulator.NoBootProgress:     {probe.BootProgress: v1alpha1.No},
		simulator.NoSessions:         {probe.Sessions: v1alpha1.Yes, probe.SecureBoot: v1alpha1.Yes},
		simulator.NoPowerState:       {probe.StorageDiscovered: v1alpha1.Unknown},
		simulator.MediaNeedsTransfer: {probe.VirtualMediaCD: v1alpha1.Yes},
	} {
		t.Run(string(quirk), func(t *testing.T) {
			g := NewWithT(t)
			s := simulated(t, map[simulator.Quirk]int{quirk: simulator.Always})
			report, err := probe.Probe(t.Context(), connect(t, s, user, password), probe.Options{})
			g.Expect(err).NotTo(HaveOccurred())
			for name, state := range want {
				g.Expect(states(report)).To(HaveKeyWithValue(name, state), name)
			}
		})
	}
}

// TestWrongPassword: one login is tried, and no more.
func TestWrongPassword(t *testing.T) {
	g := NewWithT(t)
	s := simulated(t, nil)
	_, err := probe.Probe(t.Context(), connect(t, s, user, "guess-7261"), probe.Options{})
	g.Expect(client.KindOf(err)).To(Equal(client.Credentials))
	g.Expect(s.Total("POST ")).To(Equal(1))
	g.Expect(err.Error()).NotTo(ContainSubstring("guess-7261"))
}

// TestAccount: the account that we use is found when the budget allows.
func TestAccount(t *testing.T) {
	g := NewWithT(t)
	f := load(t, "dell-idrac9")
	f.Resources["/AccountService/Accounts"] = written("/AccountService/Accounts", []any{"1", "2"})
	f.Resources["/AccountService/Accounts/1"] = map[string]any{"UserName": ""}
	f.Resources["/AccountService/Accounts/2"] = map[string]any{"UserName": "root", "PasswordChangeRequired": true}
	report, err := examine(t, f, probe.Options{Username: "root", Requests: -1})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(report.Accounts.Account).To(Equal("/redfish/v1/AccountService/Accounts/2"))
	g.Expect(report.Accounts.PasswordChangeRequired).To(BeTrue())
}

// TestCertificate: the report shows what the web server showed, also when nobody
// vouches for it.
func TestCertificate(t *testing.T) {
	g := NewWithT(t)
	key, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	g.Expect(err).NotTo(HaveOccurred())
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "idrac-TAG0001"}, DNSNames: []string{"bmc1.example"}, IPAddresses: []net.IP{net.IPv4(192, 0, 2, 7)},
		NotBefore: time.Date(2024, 1, 2, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(2034, 1, 2, 0, 0, 0, 0, time.UTC),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	g.Expect(err).NotTo(HaveOccurred())
	server := httptest.NewUnstartedServer(load(t, "openbmc"))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, MinVersion: tls.VersionTLS12}
	server.StartTLS()
	t.Cleanup(server.Close)
	c, err := client.New(client.Target{URL: server.URL, TLS: client.Trust{Insecure: true}}, fast)
	g.Expect(err).NotTo(HaveOccurred())
	report, err := probe.Probe(t.Context(), c, probe.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	got := report.Certificate
	digest := sha256.Sum256(der)
	g.Expect(got.SHA256).To(Equal(hex.EncodeToString(digest[:])))
	g.Expect(got.Subject).To(Equal("CN=idrac-TAG0001"))
	g.Expect(got.SelfSigned).To(BeTrue())
	g.Expect(got.Names).To(Equal([]string{"bmc1.example", "192.0.2.7"}))
	g.Expect(got.Key).To(Equal("ECDSA 384"))
	g.Expect(got.TLS).To(Equal("TLS 1.3"))
	g.Expect(got.NotAfter.Time).To(Equal(template.NotAfter))
}

// TestEmulator probes the real sushy-tools emulator.
func TestEmulator(t *testing.T) {
	g := NewWithT(t)
	e, err := labtest.New(t).StartEmulator(t.Context(), lab.EmulatorOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	id := uuid.NewString()
	g.Expect(e.Add(t.Context(), emulator.System{UUID: id, Name: id, NICs: []emulator.NIC{{MAC: "52:54:00:e0:00:01"}}})).To(Succeed())
	c, err := client.New(client.Target{
		URL: e.URL, Username: e.User, Password: client.Secret(e.Password), TLS: client.Trust{Insecure: true},
		Basic: true, // it has no sessions, and answers an attempt to open one as if the password were wrong
	}, fast)
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = c.Close(t.Context()) })
	report, err := probe.Probe(t.Context(), c, probe.Options{System: "/redfish/v1/Systems/" + id})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(report.Requests).To(BeNumerically("<=", 30))
	for name, state := range map[string]v1alpha1.CapabilityState{
		probe.System: v1alpha1.Yes, probe.Manager: v1alpha1.Yes, probe.VirtualMediaCD: v1alpha1.Yes, probe.BootOnce: v1alpha1.Yes,
		probe.HTTPBoot: v1alpha1.Yes, probe.SecureBoot: v1alpha1.Yes, probe.SimpleUpdate: v1alpha1.Yes, probe.IronicNeeds: v1alpha1.Yes,
		probe.BIOSSettings: v1alpha1.No, probe.Events: v1alpha1.No, probe.Accounts: v1alpha1.No, probe.Sessions: v1alpha1.No,
		probe.RAID:              v1alpha1.Unknown, // it answers 500 for the storage of a system without any
		probe.FirmwareInventory: v1alpha1.Unknown, // it has a link, and answers 404
	} {
		g.Expect(states(report)).To(HaveKeyWithValue(name, state), name)
	}
}
