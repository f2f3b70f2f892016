package rest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/validations"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// scene is a cluster with its hosts and what they report. All of it goes to the
// hub over HTTP, and the validations are read back the same way.
type scene struct {
	// cluster is how a user makes it; byController makes it without a user instead.
	cluster      wire.ClusterCreateParams
	byController *service.ClusterSpec
	// change is what the user changes once the hosts have reported.
	change *wire.V2ClusterUpdateParams
	// dayTwo turns the cluster into one that is installed and takes more hosts.
	dayTwo bool
	hosts  []*machine
}

// machine is a host. Its first report decides on nothing by itself; a nil report is not sent.
type machine struct {
	key       store.HostKey
	inventory *wire.Inventory
	// clock is how far its clock is ahead.
	clock        time.Duration
	connectivity *wire.ConnectivityReport
	domains      *wire.DomainResolutionResponse
	ntp          *wire.NTPSynchronizationResponse
	vips         *wire.VerifyVIPsResponse
	tang         *wire.TangConnectivityResponse
	apiVIP       *wire.APIVIPConnectivityResponse
	images       *wire.ContainerImageAvailabilityResponse
	disk         *wire.DiskSpeedCheckResponse
	// failed is the last reply, of a step that went wrong.
	failed wire.StepReply
	update *wire.HostUpdateParams
}

// recorded is a machine that the agent's inventory was recorded on; only its
// sizes, names and addresses are changed.
const recorded = "../../agent/inventory/testdata/machines/vm/inventory.json"

func newMachine(t *testing.T, n int) *machine {
	t.Helper()
	g := NewWithT(t)
	raw, err := os.ReadFile(recorded)
	g.Expect(err).NotTo(HaveOccurred())
	inventory := &wire.Inventory{}
	g.Expect(json.Unmarshal(raw, inventory)).To(Succeed())
	inventory.Hostname = fmt.Sprintf("node-%d", n)
	inventory.CPU.Count, inventory.Memory.PhysicalBytes = 8, 32<<30
	inventory.Interfaces[0].MACAddress, inventory.Interfaces[0].Ipv4Addresses = mac(n), []string{address(n) + "/24"}
	installTo(inventory).SizeBytes = 240e9
	return &machine{
		key: store.HostKey{HostID: uuid.NewString()}, inventory: inventory,
		ntp:     &wire.NTPSynchronizationResponse{NTPSources: []wire.NTPSource{{SourceName: "192.0.2.1", SourceState: wire.SourceStateSynced}}},
		domains: names(map[string]string{"registry.example": "203.0.113.9"}),
		vips:    verified(wire.VIPVerificationSucceeded),
	}
}

// installTo is the disk of the recorded machine that can be installed to.
func installTo(i *wire.Inventory) *wire.Disk { return validations.FindDisk(i, "/dev/vda") }

func mac(n int) string { return fmt.Sprintf("52:54:00:10:00:%02x", n) }

func address(n int) string { return fmt.Sprintf("192.0.2.%d", 10+n) }

const apiAddress, ingressAddress = "192.0.2.100", "192.0.2.101"

func verified(v wire.VIPVerification) *wire.VerifyVIPsResponse {
	return &wire.VerifyVIPsResponse{
		{VIP: apiAddress, VIPType: wire.VIPTypeAPI, Verification: &v}, {VIP: ingressAddress, VIPType: wire.VIPTypeIngress, Verification: &v},
	}
}

// names is a report in which the given names resolve, and the others of the cluster do not.
func names(resolved map[string]string) *wire.DomainResolutionResponse {
	out := &wire.DomainResolutionResponse{}
	for _, name := range []string{
		"api.edge.example", "api-int.edge.example", "console-openshift-console.apps.edge.example", "validateNoWildcardDNS.edge.example", "registry.example",
	} {
		r := wire.DomainResolutionResponseResolutions{DomainName: name}
		if a, ok := resolved[name]; ok {
			r.Ipv4Addresses = []string{a}
		}
		out.Resolutions = append(out.Resolutions, r)
	}
	return out
}

// threeHosts is a cluster on bare metal that is ready to be installed.
func threeHosts(t *testing.T) *scene {
	s := &scene{cluster: wire.ClusterCreateParams{
		Name: "edge", BaseDNSDomain: "example", OpenshiftVersion: "4.20.1", OcpReleaseImage: "registry.example/release:4.20.1", PullSecret: pullSecret,
		APIVIPs: []wire.APIVIP{{IP: apiAddress}}, IngressVIPs: []wire.IngressVIP{{IP: ingressAddress}},
	}}
	for n := range 3 {
		s.hosts = append(s.hosts, newMachine(t, n))
	}
	for i := range s.hosts {
		s.hosts[i].connectivity = s.report(i)
	}
	return s
}

// report is what a host says when it reaches all others.
func (s *scene) report(from int) *wire.ConnectivityReport {
	out := &wire.ConnectivityReport{}
	for to, h := range s.hosts {
		if to != from {
			out.RemoteHosts = append(out.RemoteHosts, wire.ConnectivityRemoteHost{
				HostID:         h.key.HostID,
				L2Connectivity: []wire.L2Connectivity{{OutgoingNIC: "eth0", RemoteIPAddress: address(to), RemoteMAC: mac(to), Successful: true}},
				L3Connectivity: []wire.L3Connectivity{{RemoteIPAddress: address(to), Successful: true, AverageRttMs: 0.4}},
				MTUReport:      []wire.MTUReport{{OutgoingNIC: "eth0", RemoteIPAddress: address(to), MTUSuccessful: true}},
			})
		}
	}
	return out
}

// usersNetwork is a cluster without virtual addresses: its names resolve.
func usersNetwork(t *testing.T) *scene {
	s := threeHosts(t)
	s.cluster.APIVIPs, s.cluster.IngressVIPs, s.cluster.UserManagedNetworking = nil, nil, new(true)
	for _, h := range s.hosts {
		h.domains, h.vips = names(map[string]string{
			"registry.example": "203.0.113.9", "api.edge.example": "203.0.113.1", "api-int.edge.example": "203.0.113.1",
			"console-openshift-console.apps.edge.example": "203.0.113.2",
		}), nil
	}
	return s
}

// singleNode is a cluster of one host.
func singleNode(t *testing.T) *scene {
	s := threeHosts(t)
	s.cluster.APIVIPs, s.cluster.IngressVIPs, s.cluster.ControlPlaneCount = nil, nil, new(int64(1))
	s.hosts = s.hosts[:1]
	s.hosts[0].connectivity = nil
	return s
}

// virtualMachines is a cluster on vSphere.
func virtualMachines(t *testing.T) *scene {
	s := threeHosts(t)
	s.cluster.Platform = &wire.Platform{Type: wire.PlatformTypeVsphere}
	for _, h := range s.hosts {
		h.inventory.SystemVendor.Manufacturer = "VMware, Inc."
		installTo(h.inventory).HasUUID = true
	}
	return s
}

// encrypted is a cluster whose disks are encrypted by Tang servers.
func encrypted(t *testing.T) *scene {
	s := threeHosts(t)
	s.cluster.DiskEncryption = &wire.DiskEncryption{EnableOn: new("all"), Mode: new("tang"), TangServers: `[{"URL":"http://tang.example","Thumbprint":"x"}]`}
	for _, h := range s.hosts {
		h.tang = &wire.TangConnectivityResponse{IsSuccess: true}
	}
	return s
}

// keptDisk keeps a disk of each host as it is.
func keptDisk(t *testing.T) *scene {
	s := threeHosts(t)
	for _, h := range s.hosts {
		h.inventory.Disks = append(h.inventory.Disks, wire.Disk{ID: "/dev/disk/by-id/data", Path: "/dev/vdb", Name: "vdb", DriveType: wire.DriveTypeHdd, SizeBytes: 900e9})
		h.update = &wire.HostUpdateParams{DisksSkipFormatting: []wire.DiskSkipFormattingParams{{DiskID: "/dev/disk/by-id/data", SkipFormatting: true}}}
	}
	return s
}

// joining is a host that is added to an installed cluster.
func joining(t *testing.T) *scene {
	s := singleNode(t)
	s.dayTwo = true
	s.hosts[0].inventory.Hostname = "joining"
	s.hosts[0].apiVIP = &wire.APIVIPConnectivityResponse{IsSuccess: true}
	return s
}

// played is a scene that the hub knows.
type played struct {
	user    *testhub.Caller
	cluster string
	hosts   []store.HostKey
}

// play sends everything to the hub.
func (s *scene) play(t *testing.T, hub *testhub.Hub) *played {
	t.Helper()
	g := NewWithT(t)
	p := &played{user: hub.User()}
	do := func(method, path string, in, out any, want int) {
		t.Helper()
		code, raw := p.user.Do(t, method, path, in, out)
		g.Expect(code).To(Equal(want), "%s %s: %s", method, path, raw)
	}
	var cluster wire.Cluster
	switch {
	case s.byController != nil:
		made, err := hub.EnsureCluster(t.Context(), *s.byController)
		g.Expect(err).NotTo(HaveOccurred())
		cluster = made
	case s.dayTwo:
		cluster = installed(t, hub, s.cluster)
	default:
		do("POST", "/clusters", s.cluster, &cluster, http.StatusCreated)
	}
	p.cluster = cluster.ID
	var env wire.InfraEnv
	do("POST", "/infra-envs", wire.InfraEnvCreateParams{Name: "pool", PullSecret: pullSecret, ClusterID: &cluster.ID}, &env, http.StatusCreated)
	token, err := hub.AgentToken(t.Context(), env.ID)
	g.Expect(err).NotTo(HaveOccurred())
	agent := hub.Agent(token)
	for _, h := range s.hosts {
		h.key.InfraEnvID = env.ID
		p.hosts = append(p.hosts, h.key)
		agent.Register(t, h.key)
	}
	for _, h := range s.hosts {
		h.tell(t, agent)
	}
	for _, h := range s.hosts {
		if h.update != nil {
			do("PATCH", "/infra-envs/"+env.ID+"/hosts/"+h.key.HostID, h.update, nil, http.StatusCreated)
		}
	}
	if s.change != nil {
		do("PATCH", "/clusters/"+cluster.ID, s.change, nil, http.StatusCreated)
	}
	return p
}

// tell polls once and sends all reports of the host.
func (h *machine) tell(t *testing.T, agent *testhub.Caller) {
	t.Helper()
	path := "/infra-envs/" + h.key.InfraEnvID + "/hosts/" + h.key.HostID + "/instructions?timestamp=" + strconv.FormatInt(time.Now().Add(h.clock).Unix(), 10)
	code, raw := agent.Do(t, http.MethodGet, path, nil, nil)
	NewWithT(t).Expect(code).To(Equal(http.StatusOK), raw)
	for _, report := range []struct {
		step  wire.StepType
		value any
		given bool
	}{
		{wire.StepTypeInventory, h.inventory, h.inventory != nil},
		{wire.StepTypeConnectivityCheck, h.connectivity, h.connectivity != nil},
		{wire.StepTypeDomainResolution, h.domains, h.domains != nil},
		{wire.StepTypeNTPSynchronizer, h.ntp, h.ntp != nil},
		{wire.StepTypeVerifyVIPs, h.vips, h.vips != nil},
		{wire.StepTypeTangConnectivityCheck, h.tang, h.tang != nil},
		{wire.StepTypeAPIVIPConnectivityCheck, h.apiVIP, h.apiVIP != nil},
		{wire.StepTypeContainerImageAvailability, h.images, h.images != nil},
		{wire.StepTypeInstallationDiskSpeedCheck, h.disk, h.disk != nil},
	} {
		if report.given {
			output, err := json.Marshal(report.value)
			NewWithT(t).Expect(err).NotTo(HaveOccurred())
			agent.Reply(t, h.key, wire.StepReply{StepType: report.step, StepID: string(report.step) + "-1", Output: string(output)})
		}
	}
	if h.failed.StepType != "" {
		agent.Reply(t, h.key, h.failed)
	}
}

// host reads a host with its validations by id.
func (p *played) host(t *testing.T, n int) (wire.Host, map[string]validations.Result) {
	t.Helper()
	return p.read(t, "/infra-envs/"+p.hosts[n].InfraEnvID+"/hosts/"+p.hosts[n].HostID)
}

// read reads a host by its path.
func (p *played) read(t *testing.T, path string) (wire.Host, map[string]validations.Result) {
	t.Helper()
	var h wire.Host
	code, raw := p.user.Do(t, http.MethodGet, path, nil, &h)
	NewWithT(t).Expect(code).To(Equal(http.StatusOK), raw)
	return h, byID(t, h.ValidationsInfo)
}

func (p *played) readCluster(t *testing.T) (wire.Cluster, map[string]validations.Result) {
	t.Helper()
	var c wire.Cluster
	code, raw := p.user.Do(t, http.MethodGet, "/clusters/"+p.cluster, nil, &c)
	NewWithT(t).Expect(code).To(Equal(http.StatusOK), raw)
	return c, byID(t, c.ValidationsInfo)
}

// byID reads validations_info in the form that existing clients expect.
func byID(t *testing.T, info string) map[string]validations.Result {
	t.Helper()
	var categories map[string][]validations.Result
	NewWithT(t).Expect(json.Unmarshal([]byte(info), &categories)).To(Succeed(), info)
	out := map[string]validations.Result{}
	for _, results := range categories {
		for _, r := range results {
			NewWithT(t).Expect(out).NotTo(HaveKey(r.ID))
			out[r.ID] = r
		}
	}
	return out
}

// installed makes a cluster of one host, installs it with a simulated host, and
// lets it take more hosts.
func installed(t *testing.T, hub *testhub.Hub, params wire.ClusterCreateParams) wire.Cluster {
	t.Helper()
	g := NewWithT(t)
	first := singleNode(t)
	first.cluster = params
	first.hosts[0].disk = &wire.DiskSpeedCheckResponse{Path: "/dev/disk/by-path/pci-0000:00:03.0", IoSyncDuration: 1}
	first.hosts[0].images = &wire.ContainerImageAvailabilityResponse{Images: []wire.ContainerImageAvailability{
		{Name: params.OcpReleaseImage, Result: wire.ContainerImageAvailabilityResultSuccess},
	}}
	p := first.play(t, hub)
	var c wire.Cluster
	code, raw := p.user.Do(t, http.MethodPost, "/clusters/"+p.cluster+"/actions/install", nil, &c)
	g.Expect(code).To(Equal(http.StatusAccepted), raw)
	token, err := hub.AgentToken(t.Context(), p.hosts[0].InfraEnvID)
	g.Expect(err).NotTo(HaveOccurred())
	g.Eventually(func() string { // what the hub prepares beside the calls
		h, _ := p.host(t, 0)
		return h.Status
	}, time.Minute).Should(Equal(wire.HostStatusInstalling))
	for _, stage := range []wire.HostStage{wire.HostStageInstalling, wire.HostStageRebooting, wire.HostStageDone} {
		hub.Agent(token).Progress(t, p.hosts[0], stage, "")
	}
	code, raw = p.user.Do(t, http.MethodPost, "/clusters/"+p.cluster+"/actions/allow-add-hosts", nil, &c)
	g.Expect(code).To(Equal(http.StatusAccepted), raw)
	return c
}
