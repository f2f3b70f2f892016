package programs

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/agentbased/messages"
	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/api/hostfile"
)

// troubled is a host whose units run below a folder, with one card.
type troubled struct {
	*WithT
	t   *testing.T
	dir hostfile.Dir
}

func newTroubled(t *testing.T) troubled {
	t.Helper()
	h := troubled{NewWithT(t), t, hostfile.Dir{Root: t.TempDir()}}
	t.Setenv(hostfile.RootEnv, h.dir.Root)
	h.write("/sys/class/net/enp1s0/address", "52:54:00:00:00:0b\n")
	return h
}

func (h troubled) write(file, text string) {
	h.t.Helper()
	h.Expect(places.Write(h.dir, file, []byte(text), 0o644)).To(Succeed())
}

// console is what people read in a slot after the program has run; empty for nothing.
func (h troubled) console(slot messages.Slot, argv ...string) string {
	h.t.Helper()
	_, _, _ = call(h.t, argv...)
	raw, err := os.ReadFile(h.dir.Path("/etc/motd.d/" + string(slot)))
	h.Expect(err).To(Or(Not(HaveOccurred()), MatchError(os.ErrNotExist)))
	return string(raw)
}

// What keeps a host from its own name and network is read before it, and by the hub.
func TestTheConsoleSaysWhyAHostIsNotSetUp(t *testing.T) {
	h := newTroubled(t)
	h.write(places.Hostnames+"/52:54:00:00:00:0b", "Edge_1")
	h.Expect(h.console(messages.SlotHostname, "set-hostname")).To(HavePrefix("This host does not get the name that its settings say: " +
		`/etc/assisted/hostnames/52:54:00:00:00:0b: "Edge_1" is no name that a node can have`))
	h.Expect(places.Remove(h.dir, places.Hostnames+"/52:54:00:00:00:0b")).To(Succeed())
	h.Expect(h.console(messages.SlotHostname, "set-hostname")).To(BeEmpty())

	const pick = "pre-network-manager-config"
	h.write(places.Networks+"/host0/mac_interface.ini", "eth0\n")
	broken := "The network of this host is not set up: /etc/assisted/network/host0/mac_interface.ini: line 1: want MAC=NAME, such as 52:54:00:00:00:01=eth0.\n"
	h.Expect(h.console(messages.SlotNetwork, pick)).To(Equal(broken))
	h.write(places.Networks+"/host0/mac_interface.ini", "52:54:00:00:00:b0=eth0\n")
	h.Expect(h.console(messages.SlotNetwork, "network-status")).To(Equal(broken), "it has not been picked again")
	mistyped := "No network description of the image names a card of this host, which has enp1s0 52:54:00:00:00:0b, so it uses DHCP. " +
		"If it should have one, correct the MAC addresses and make the image again.\n"
	h.Expect(h.console(messages.SlotNetwork, pick)).To(Equal(mistyped))
	note, _ := (&messages.Console{Dir: h.dir}).Shows(messages.SlotNetwork)
	h.Expect(note.Severity).To(Equal(messages.Warning), "the hub is told the same")

	h.write(hostfile.NmstateFolder+"/host1.cards", "52:54:00:00:00:0B\n")
	h.Expect(h.console(messages.SlotNetwork, "network-status")).To(BeEmpty(), "nmstatectl has it")
	h.Expect(places.Remove(h.dir, hostfile.NmstateFolder+"/host1.cards")).To(Succeed())
	h.Expect(os.RemoveAll(h.dir.Path(places.Networks))).To(Succeed())
	h.write(hostfile.NmstateFolder+"/host1.cards", "52:54:00:00:00:b0\n")
	h.Expect(h.console(messages.SlotNetwork, "network-status")).To(Equal(mistyped))
	h.Expect(os.RemoveAll(h.dir.Path(hostfile.NmstateFolder))).To(Succeed())
	h.Expect(h.console(messages.SlotNetwork, "network-status")).To(BeEmpty(), "nobody has described a network")
}

// The live system says by itself why nmstatectl has failed; in an agent-based installation, that
// is a message as all others.
func TestWhatNmstatectlSaysIsAMessage(t *testing.T) {
	h := newTroubled(t)
	h.write(hostfile.NmstateIssue, "The network is not set up: nmstatectl refused host0.yml: password: hunter2\n")
	h.Expect(h.console(messages.SlotNmstate, "network-status")).To(Equal("The network of this host is not set up: nmstatectl refused host0.yml: password: ***.\n"))
	h.Expect(places.Exists(h.dir, hostfile.NmstateIssue)).To(BeFalse(), "the console does not say it twice")
	h.Expect(h.console(messages.SlotNmstate, "network-status")).To(BeEmpty(), "the unit has succeeded since")
}

// Why the hub refuses what the client asks for is read on the console of node zero until it does not
// any more; a person who calls the client elsewhere has no such console.
func TestTheConsoleSaysWhyTheClientFails(t *testing.T) {
	h := newTroubled(t)
	const id = "33333333-3333-4333-8333-333333333333"
	refuses := true
	hub := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodGet:
			_, _ = io.WriteString(w, "[]")
		case refuses:
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"reason": "no such name; http://robot:hunter2@proxy.example"}`)
		default:
			w.WriteHeader(http.StatusCreated)
			_, _ = io.WriteString(w, `{"id": "`+id+`", "name": "edge", "openshift_cluster_id": "`+id+`"}`)
		}
	}))
	t.Cleanup(hub.Close)
	for name, value := range map[string]string{
		"SERVICE_BASE_URL": hub.URL, "CLUSTER_ID": id, "CLUSTER_NAME": "edge", "CLUSTER_API_VIP_DNS_NAME": "api.edge.example", "INFRA_ENV_ID": "",
	} {
		t.Setenv(name, value)
	}
	h.write("/clusterconfig/import-cluster-config.json", "{}")
	manifests := filepath.Join("..", "manifests", "testdata", "whole")
	h.Expect(os.CopyFS(h.dir.Path("/manifests"), os.DirFS(filepath.Join(manifests, "manifests")))).To(Succeed())
	h.Expect(h.console(messages.SlotImportCluster, "agent-installer-client", "importCluster")).To(BeEmpty(), "not on a host of an installation")

	h.write(places.NodeZero, "")
	h.Expect(h.console(messages.SlotImportCluster, "agent-installer-client", "importCluster")).To(Equal("Installation cannot proceed: " +
		"the running cluster is not imported into the hub, which is tried again: " +
		"import cluster edge: hub answered 400 Bad Request to POST /clusters/import: " +
		"no such name; http://***@proxy.example.\n"))
	h.Expect(h.console(messages.SlotRegisterInfraEnv, "agent-installer-client", "registerInfraEnv")).To(ContainSubstring("the infra-env " +
		"is not registered at the hub, which is tried again: the hub has no cluster yet"))
	h.Expect(h.console(messages.SlotApplyHostConfig, "agent-installer-client", "configure")).To(BeEmpty(), "the infra-env has said why")
	refuses = false
	h.Expect(h.console(messages.SlotImportCluster, "agent-installer-client", "importCluster")).To(BeEmpty())
	t.Setenv("SERVICE_BASE_URL", "192.0.2.1")
	h.Expect(h.console(messages.SlotRegisterCluster, "agent-installer-client", "registerCluster")).To(ContainSubstring(`SERVICE_BASE_URL: hub URL "192.0.2.1": want http(s)://HOST`))
}
