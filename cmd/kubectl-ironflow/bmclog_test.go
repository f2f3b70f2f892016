package main

import (
	"net/http/httptest"
	"strings"
	"testing"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/bmc/credentials/reason"
	"github.com/ironflow/ironflow/bmc/credentials/rotation"
	"github.com/ironflow/ironflow/test/bmc/simulator"
)

// TestBMCLog: the log comes from the machine itself, by the host's own credentials.
func TestBMCLog(t *testing.T) {
	s := newSite(t)
	sim := simulator.New(simulator.Options{Username: "admin", Password: "pass-word-7"})
	t.Cleanup(sim.Close)
	s.Expect(sim.AddSystem(simulator.System{ID: "1", Power: simulator.On})).To(Succeed())
	s.Expect(sim.AddLog("1", simulator.Entry{Event: simulator.Event{Severity: "Critical", Message: "a fan has stopped"}})).To(Succeed())
	server := httptest.NewTLSServer(sim)
	t.Cleanup(server.Close)
	at := "redfish-virtualmedia" + strings.TrimPrefix(server.URL, "https") + "/redfish/v1/Systems/1"
	for name, password := range map[string]string{"node-1": "pass-word-7", "node-2": "wrong-wrong-1"} {
		s.create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string][]byte{"username": []byte("admin"), "password": []byte(password + "\n")}})
		s.create(&metal3v1.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: metal3v1.BareMetalHostSpec{
			BMC: metal3v1.BMCDetails{Address: at, CredentialsName: name, DisableCertificateVerification: true},
		}})
	}
	s.create(&metal3v1.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Name: "node-3"}, Spec: metal3v1.BareMetalHostSpec{BMC: metal3v1.BMCDetails{Address: "ipmi://192.0.2.1"}}})
	s.create(&metal3v1.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Name: "node-4"}, Spec: metal3v1.BareMetalHostSpec{BMC: metal3v1.BMCDetails{Address: at, CredentialsName: "missing"}}})

	out, _, err := s.run("", "bmc", "log", "node-1")
	s.Expect(err).NotTo(HaveOccurred())
	s.Expect(out).To(MatchRegexp(`CREATED +SEVERITY +ID +MESSAGE\n.* +Critical +\d+ +a fan has stopped\n$`))
	s.Expect(sim.Sessions()).To(BeEmpty(), "our session is ended")
	for host, says := range map[string]string{
		"node-2": "Credentials", "node-3": "not one of Redfish", "node-4": "the Secret of its BMC", "nobody": "host site/nobody is not there",
	} {
		_, _, err := s.run("", "bmc", "log", host)
		s.Expect(err).To(MatchError(ContainSubstring(says)))
		s.Expect(err.Error()).NotTo(ContainSubstring("wrong-wrong-1"))
	}
}

// TestBMCLogDoesNotLogInAmidAChange of the password: a wrong login then might lock the account,
// and the change with it.
func TestBMCLogDoesNotLogInAmidAChange(t *testing.T) {
	s := newSite(t)
	sim := simulator.New(simulator.Options{Username: "admin", Password: "pass-word-7"})
	t.Cleanup(sim.Close)
	s.Expect(sim.AddSystem(simulator.System{ID: "1", Power: simulator.On})).To(Succeed())
	server := httptest.NewTLSServer(sim)
	t.Cleanup(server.Close)
	at := "redfish-virtualmedia" + strings.TrimPrefix(server.URL, "https") + "/redfish/v1/Systems/1"
	login := rotation.Login{Username: "admin", Password: "pass-word-6"}
	for name, record := range map[string]*rotation.Record{
		"node-1": {Phase: rotation.Quarantined, Trouble: reason.NeitherHolds.Trouble("the BMC refuses the passwords that we have")},
		"node-2": {Phase: rotation.Finding},
	} {
		record.Secret, record.Candidates = name, []rotation.Candidate{{Role: rotation.Current, Login: login}}
		data, err := rotation.Encode(record)
		s.Expect(err).NotTo(HaveOccurred())
		s.create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: rotation.RecordName(name)}, Data: data})
		s.create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string][]byte{"username": []byte("admin"), "password": []byte("pass-word-6")}})
		s.create(&metal3v1.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: metal3v1.BareMetalHostSpec{
			BMC: metal3v1.BMCDetails{Address: at, CredentialsName: name, DisableCertificateVerification: true},
		}})
	}
	for host, says := range map[string]string{"node-1": "the BMC refuses the passwords that we have", "node-2": "password is being changed"} {
		_, _, err := s.run("", "bmc", "log", host)
		s.Expect(err).To(MatchError(ContainSubstring(says)))
	}
	s.Expect(sim.Total("")).To(BeZero(), "nobody was asked")
}
