package rest_test

import (
	"maps"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/validations"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// agentVersion is what testhub's agents say that they are.
const agentVersion = "ironflow-agent:test"

// TestEveryValidationPasses plays scenes in which all is well: the host is known,
// the cluster ready, and every id of the protocol is seen to succeed.
func TestEveryValidationPasses(t *testing.T) {
	hub := testhub.Start(t, testhub.Options{IgnitionDir: testhub.RoleFiles(t), Checks: service.Checks{AgentImage: agentVersion}})
	seen, seenOfCluster := map[string]bool{}, map[string]bool{}
	for name, begin := range map[string]func(*testing.T) *scene{
		"three hosts": threeHosts, "network of the user's": usersNetwork, "single node": singleNode, "vSphere": virtualMachines,
		"encrypted disks": encrypted, "disk that is kept": keptDisk, "joining host": joining,
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s := begin(t)
			p := s.play(t, hub)
			for n := range s.hosts {
				h, results := p.host(t, n)
				for id, r := range results {
					g.Expect(r.Status).To(Equal(validations.Success), "%s: %s", id, r.Message)
					g.Expect(r.Message).NotTo(BeEmpty())
					seen[id] = true
				}
				g.Expect(h.Status).To(Equal(wire.HostStatusKnown), h.StatusInfo)
			}
			c, results := p.readCluster(t)
			for id, r := range results {
				g.Expect(r.Status).To(Equal(validations.Success), "%s: %s", id, r.Message)
				seenOfCluster[id] = true
			}
			g.Expect(results).To(HaveLen(49))
			g.Expect(c.Status).To(BeElementOf(wire.ClusterStatusReady, wire.ClusterStatusAddingHosts), c.StatusInfo)
		})
	}
	g := NewWithT(t)
	g.Expect(seen).To(HaveLen(68))
	g.Expect(seenOfCluster).To(HaveLen(49))
	for _, row := range validations.HostRows {
		g.Expect(seen).To(HaveKey(string(row.ID)))
	}
	for _, row := range validations.ClusterRows {
		g.Expect(seenOfCluster).To(HaveKey(string(row.ID)))
	}
}

// failure is a scene with something wrong, and what the hub says of the first
// host or of the cluster.
type failure struct {
	scene func(*testing.T) *scene
	spoil func(*scene)
	// status is failure unless set; text is part of the message.
	status, text string
}

// TestHostValidations has a failing case for each id of a host.
func TestHostValidations(t *testing.T) {
	cases := map[string]failure{
		"connected":       {singleNode, nil, "", "does not answer"},
		"media-connected": {singleNode, func(s *scene) { s.hosts[0].failed = wire.StepReply{StepType: wire.StepTypeInventory, ExitCode: 256} }, "", "attach it"},
		"has-inventory":   {singleNode, func(s *scene) { s.hosts[0].inventory = nil }, "", "not sent its inventory"},
		"inventory-not-fully-truncated": {singleNode, func(s *scene) {
			s.hosts[0].inventory.Truncation = &wire.InventoryTruncation{Type: wire.InventoryTruncationTypeFull}
		}, "", "too large"},
		"inventory-not-partially-truncated": {singleNode, func(s *scene) {
			s.hosts[0].inventory.Truncation = &wire.InventoryTruncation{Type: wire.InventoryTruncationTypePartial}
		}, "", "left out"},
		"has-min-cpu-cores":                      {threeHosts, func(s *scene) { s.hosts[0].inventory.CPU.Count = 1 }, "", "has 1 CPUs, 2 are needed"},
		"has-min-memory":                         {threeHosts, func(s *scene) { s.hosts[0].inventory.Memory.PhysicalBytes = 4 << 30 }, "", "4096 MiB of memory, 8192"},
		"has-cpu-cores-for-role":                 {threeHosts, asMaster(func(i *wire.Inventory) { i.CPU.Count = 2 }), "", "2 CPUs, 4 are needed as master"},
		"has-memory-for-role":                    {threeHosts, asMaster(func(i *wire.Inventory) { i.Memory.PhysicalBytes = 8 << 30 }), "", "16384 MiB are needed as master"},
		"hostname-valid":                         {threeHosts, func(s *scene) { s.hosts[0].inventory.Hostname = "localhost" }, "", "set one of"},
		"hostname-unique":                        {threeHosts, func(s *scene) { s.hosts[0].inventory.Hostname = "node-1" }, "", "node-1 is used"},
		"compatible-with-cluster-platform":       {virtualMachines, func(s *scene) { s.hosts[0].inventory.SystemVendor.Manufacturer = "Example" }, "", "use a machine of VMware"},
		"disk-encryption-requirements-satisfied": {encrypted, func(s *scene) { s.hosts[0].tang.IsSuccess = false }, "", "Tang server"},
		"compatible-agent":                       {singleNode, nil, "", "wait for its upgrade"},
		"has-min-valid-disks":                    {threeHosts, func(s *scene) { installTo(s.hosts[0].inventory).SizeBytes = 20e9 }, "", "add one of at least"},
		"sufficient-installation-disk-speed": {threeHosts, func(s *scene) {
			s.hosts[0].disk = &wire.DiskSpeedCheckResponse{Path: "/dev/disk/by-path/pci-0000:00:03.0", IoSyncDuration: 42}
		}, "", "42 ms to sync, at most 10 ms"},
		"vsphere-disk-uuid-enabled": {virtualMachines, func(s *scene) { installTo(s.hosts[0].inventory).HasUUID = false }, "", "disk.EnableUUID"},
		"no-skip-installation-disk": {keptDisk, func(s *scene) { s.hosts[0].update.DisksSkipFormatting[0].DiskID = "/dev/vda" }, "", "choose another installation disk"},
		"no-skip-missing-disk":      {keptDisk, func(s *scene) { s.hosts[0].update.DisksSkipFormatting[0].DiskID = "/dev/disk/by-id/gone" }, "", "do not exist (/dev/disk/by-id/gone)"},

		"machine-cidr-defined":    {threeHosts, func(s *scene) { s.cluster.APIVIPs, s.cluster.IngressVIPs = nil, nil }, "", "set machine_networks"},
		"belongs-to-machine-cidr": {threeHosts, func(s *scene) { s.hosts[0].inventory.Interfaces[0].Ipv4Addresses = []string{"198.51.100.7/24"} }, "", "no address in machine network 192.0.2.0/24"},
		"no-iscsi-nic-belongs-to-machine-cidr": {threeHosts, func(s *scene) {
			i := s.hosts[0].inventory
			disk := installTo(i)
			disk.DriveType, disk.Iscsi = wire.DriveTypeISCSI, &wire.Iscsi{HostIPAddress: address(0)}
			i.Interfaces = append(i.Interfaces, wire.Interface{Name: "eth1", Ipv4Addresses: []string{"198.51.100.7/24"}})
			i.Routes = []wire.Route{{Destination: "0.0.0.0", Gateway: "198.51.100.1", Interface: "eth1"}}
		}, "", "a network of its own for iSCSI"},
		"non-overlapping-subnets": {threeHosts, func(s *scene) {
			i := s.hosts[0].inventory
			i.Interfaces = append(i.Interfaces, wire.Interface{Name: "eth1", Ipv4Addresses: []string{"192.0.2.200/25"}})
		}, "", "192.0.2.0/24 (eth0) and 192.0.2.128/25 (eth1)"},
		"has-default-route":                    {threeHosts, func(s *scene) { s.hosts[0].inventory.Routes = nil }, "", "no default route"},
		"ntp-synced":                           {threeHosts, func(s *scene) { s.hosts[0].ntp.NTPSources[0].SourceState = wire.SourceStateUnreachable }, "", "not in step"},
		"time-synced-between-host-and-service": {threeHosts, func(s *scene) { s.hosts[0].clock = -time.Hour }, "", "from the hub's"},
		"container-images-available": {threeHosts, func(s *scene) {
			s.hosts[0].images = &wire.ContainerImageAvailabilityResponse{Images: []wire.ContainerImageAvailability{
				{Name: "registry.example/release:4.20.1", Result: wire.ContainerImageAvailabilityResultFailure},
			}}
		}, "", "cannot be pulled: registry.example/release:4.20.1"},
		"ignition-downloadable": {joining, func(s *scene) {
			s.hosts[0].apiVIP = &wire.APIVIPConnectivityResponse{DownloadError: "connection refused"}
		}, "", "connection refused"},
		"valid-platform-network-settings": {threeHosts, func(s *scene) { s.hosts[0].inventory.SystemVendor.ProductName = "OpenStack Compute" }, "", "user_managed_networking"},

		"belongs-to-majority-group":                       {threeHosts, func(s *scene) { s.cutOff(0) }, "", "not among those"},
		"sufficient-network-latency-requirement-for-role": {threeHosts, func(s *scene) { s.between(0, 1).L3Connectivity[0].AverageRttMs = 250 }, "", "node-1 (250.0 ms)"},
		"sufficient-packet-loss-requirement-for-role":     {threeHosts, func(s *scene) { s.between(0, 1).L3Connectivity[0].PacketLossPercentage = 5 }, "", "node-1 (5 %)"},
		"mtu-valid": {threeHosts, func(s *scene) { s.between(0, 1).MTUReport[0].MTUSuccessful = false }, "", "same MTU"},
		"no-ip-collisions-in-network": {threeHosts, func(s *scene) {
			r := s.between(1, 0)
			r.L2Connectivity = append(r.L2Connectivity, wire.L2Connectivity{RemoteIPAddress: address(0), RemoteMAC: "52:54:00:FF:00:01"})
		}, "", "52:54:00:ff:00:01"},

		"api-domain-name-resolved-correctly":     {usersNetwork, func(s *scene) { s.resolve("api.edge.example", "") }, "", "cannot resolve api.edge.example"},
		"api-int-domain-name-resolved-correctly": {usersNetwork, func(s *scene) { s.resolve("api-int.edge.example", "") }, "", "cannot resolve api-int.edge.example"},
		"apps-domain-name-resolved-correctly":    {usersNetwork, func(s *scene) { s.resolve("console-openshift-console.apps.edge.example", "") }, "", "apps.edge.example"},
		"release-domain-name-resolved-correctly": {threeHosts, func(s *scene) { s.resolve("registry.example", "") }, "", "where the release image is"},
		"dns-wildcard-not-configured":            {threeHosts, func(s *scene) { s.resolve("validateNoWildcardDNS.edge.example", "203.0.113.7") }, "", "remove the wildcard record *.edge.example"},
	}
	var wanted []string
	gates := map[string]bool{}
	for _, row := range validations.HostRows {
		if row.Category != "operators" {
			wanted = append(wanted, string(row.ID))
		}
		gates[string(row.ID)] = row.Group != validations.Warning
	}
	NewWithT(t).Expect(slices.Collect(maps.Keys(cases))).To(ConsistOf(wanted))
	hub := testhub.Start(t, testhub.Options{IgnitionDir: testhub.RoleFiles(t)})
	for id, tc := range cases {
		t.Run(id, func(t *testing.T) {
			g := NewWithT(t)
			on := hub
			switch id {
			case "connected":
				on = testhub.Start(t, testhub.Options{Timers: service.Timers{Monitor: 20 * time.Millisecond, Disconnected: time.Millisecond}})
			case "compatible-agent":
				on = testhub.Start(t, testhub.Options{Checks: service.Checks{AgentImage: "ironflow-agent:newer"}})
			}
			p := tc.play(t, on)
			read := func() validations.Result { _, results := p.host(t, 0); return results[id] }
			if id == "connected" {
				g.Eventually(read, "20s", "20ms").Should(HaveField("Status", validations.Failure))
			}
			g.Expect(read()).To(And(HaveField("Status", validations.Failure), HaveField("Message", ContainSubstring(tc.text))))
			if h, _ := p.host(t, 0); gates[id] {
				g.Expect(h.Status).NotTo(Equal(wire.HostStatusKnown))
			} else {
				g.Expect(h.Status).To(Equal(wire.HostStatusKnown), "it only warns: %s", h.StatusInfo)
			}
		})
	}
}

func (f failure) play(t *testing.T, hub *testhub.Hub) *played {
	t.Helper()
	s := f.scene(t)
	if f.spoil != nil {
		f.spoil(s)
	}
	return s.play(t, hub)
}

// asMaster makes the first host a master that is too small for it.
func asMaster(shrink func(*wire.Inventory)) func(*scene) {
	return func(s *scene) {
		shrink(s.hosts[0].inventory)
		s.hosts[0].update = &wire.HostUpdateParams{HostRole: new("master")}
	}
}

// cutOff makes a host reach nobody.
func (s *scene) cutOff(n int) {
	for i := range s.hosts[n].connectivity.RemoteHosts {
		r := &s.hosts[n].connectivity.RemoteHosts[i]
		r.L2Connectivity, r.L3Connectivity = nil, nil
	}
}

// between is what a host says of another one.
func (s *scene) between(from, to int) *wire.ConnectivityRemoteHost {
	remotes := s.hosts[from].connectivity.RemoteHosts
	return &remotes[slices.IndexFunc(remotes, func(r wire.ConnectivityRemoteHost) bool { return r.HostID == s.hosts[to].key.HostID })]
}

// resolve makes a name resolve to the address on the first host; none makes it unknown.
func (s *scene) resolve(name, to string) {
	for i := range s.hosts[0].domains.Resolutions {
		if r := &s.hosts[0].domains.Resolutions[i]; r.DomainName == name {
			if r.Ipv4Addresses = nil; to != "" {
				r.Ipv4Addresses = []string{to}
			}
		}
	}
}

// TestClusterValidations has a failing case for each id of a cluster.
func TestClusterValidations(t *testing.T) {
	pending := validations.Pending
	cases := map[string]failure{
		"machine-cidr-defined":                   {threeHosts, func(s *scene) { s.cluster.APIVIPs = nil }, "", "Set machine_networks"},
		"cluster-cidr-defined":                   {threeHosts, func(s *scene) { s.change = &wire.V2ClusterUpdateParams{ClusterNetworks: []wire.ClusterNetwork{}} }, "", "Set cluster_networks"},
		"service-cidr-defined":                   {threeHosts, func(s *scene) { s.change = &wire.V2ClusterUpdateParams{ServiceNetworks: []wire.ServiceNetwork{}} }, "", "Set service_networks"},
		"machine-cidr-equals-to-calculated-cidr": {threeHosts, func(s *scene) { s.cluster.MachineNetworks = []wire.MachineNetwork{{CIDR: "192.0.2.0/25"}} }, "", "192.0.2.0/24 of the hosts"},
		"no-cidrs-overlapping":                   {threeHosts, func(s *scene) { s.cluster.ServiceNetworks = []wire.ServiceNetwork{{CIDR: "192.0.2.128/25"}} }, "", "overlap"},
		"network-prefix-valid": {threeHosts, func(s *scene) {
			s.cluster.ClusterNetworks = []wire.ClusterNetwork{{CIDR: "10.128.0.0/23", HostPrefix: 24}}
		}, "", "has room for 2 hosts"},
		"networks-same-address-families":          {threeHosts, func(s *scene) { s.cluster.ServiceNetworks = []wire.ServiceNetwork{{CIDR: "fd02::/112"}} }, "", "the service networks of IPv6"},
		"network-type-valid":                      {threeHosts, func(s *scene) { s.cluster.NetworkType = new(wire.ClusterNetworkTypeOpenShiftSDN) }, "", "use OVNKubernetes"},
		"api-vips-defined":                        {threeHosts, func(s *scene) { s.cluster.APIVIPs = nil }, "", "Set api_vips"},
		"api-vips-valid":                          {threeHosts, func(s *scene) { s.hosts[2].vips = verified(wire.VIPVerificationFailed) }, "", apiAddress + " is used by somebody"},
		"ingress-vips-defined":                    {threeHosts, func(s *scene) { s.cluster.IngressVIPs = nil }, "", "Set ingress_vips"},
		"ingress-vips-valid":                      {threeHosts, func(s *scene) { s.cluster.IngressVIPs[0].IP = "203.0.113.50" }, "", "203.0.113.50 is in no machine network"},
		"dns-domain-defined":                      {threeHosts, func(s *scene) { s.cluster.BaseDNSDomain = "" }, "", "Set base_dns_domain"},
		"ntp-server-configured":                   {threeHosts, func(s *scene) { s.hosts[1].clock = 10 * time.Minute }, "", "differ by"},
		"custom-manifests-requirements-satisfied": {threeHosts, func(s *scene) { s.cluster.NetworkType = new(wire.ClusterNetworkTypeCalico) }, "", "network type Calico"},
		"all-hosts-are-ready-to-install":          {threeHosts, func(s *scene) { s.hosts[1].inventory.CPU.Count = 1 }, "", "node-1 is insufficient"},
		"sufficient-masters-count":                {threeHosts, func(s *scene) { s.hosts[1].update = &wire.HostUpdateParams{HostRole: new("worker")} }, "", "2 hosts are masters, 3 are needed"},
		"pull-secret-set": {singleNode, func(s *scene) {
			// The REST API takes no cluster without one; a controller's cluster may wait for its Secret.
			s.byController = &service.ClusterSpec{ID: uuid.NewString(), Name: "edge", BaseDomain: "example", Masters: 1, Version: "4.20.1"}
		}, "", "Set pull_secret"},
		"platform-requirements-satisfied": {usersNetwork, func(s *scene) { s.cluster.Platform = &wire.Platform{Type: wire.PlatformTypeExternal} }, "", "set external.platform_name"},
	}
	var wanted []string
	input := map[string]bool{}
	for _, row := range validations.ClusterRows {
		if row.Category != "operators" {
			wanted = append(wanted, string(row.ID))
		}
		input[string(row.ID)] = row.Input
	}
	NewWithT(t).Expect(slices.Collect(maps.Keys(cases))).To(ConsistOf(wanted))
	hub := testhub.Start(t, testhub.Options{IgnitionDir: testhub.RoleFiles(t)})
	for id, tc := range cases {
		t.Run(id, func(t *testing.T) {
			g := NewWithT(t)
			c, results := tc.play(t, hub).readCluster(t)
			g.Expect(results[id]).To(And(HaveField("Status", validations.Failure), HaveField("Message", ContainSubstring(tc.text))))
			want := wire.ClusterStatusInsufficient
			if input[id] {
				want = wire.ClusterStatusPendingForInput
			}
			g.Expect(c.Status).To(Equal(want), c.StatusInfo)
			g.Expect(c.StatusInfo).To(ContainSubstring(tc.text))
		})
	}
	for name, tc := range map[string]struct {
		id string
		failure
	}{
		"no host has looked for the address yet": {"api-vips-valid", failure{threeHosts, func(s *scene) {
			for _, h := range s.hosts {
				h.vips = nil
			}
		}, pending, "Waiting for a host to see whether " + apiAddress + " is free"}},
		"broadcast address": {"api-vips-valid", failure{threeHosts, func(s *scene) { s.cluster.APIVIPs[0].IP = "192.0.2.255" }, "", "broadcast"}},
		"a host is missing": {"sufficient-masters-count", failure{threeHosts, func(s *scene) { s.hosts = s.hosts[:2] }, "", "2 of 3 hosts are there"}},
		"clients do not verify": {"api-vips-valid", failure{threeHosts, func(s *scene) {
			s.cluster.APIVIPs[0].Verification = new(wire.VIPVerificationSucceeded)
			for _, h := range s.hosts {
				h.vips = nil
			}
		}, pending, "Waiting for a host"}},
	} {
		t.Run(name, func(t *testing.T) {
			status := tc.status
			if status == "" {
				status = validations.Failure
			}
			_, results := tc.play(t, hub).readCluster(t)
			NewWithT(t).Expect(results[tc.id]).To(And(HaveField("Status", status), HaveField("Message", ContainSubstring(tc.text))))
		})
	}
}

func TestValidationsAreIgnoredDisabledAndTold(t *testing.T) {
	g := NewWithT(t)
	hub := testhub.Start(t, testhub.Options{Checks: service.Checks{DisabledHost: []string{"has-default-route"}, DisabledCluster: []string{"ntp-server-configured"}}})
	s := threeHosts(t)
	s.hosts[0].inventory.Routes = nil
	s.hosts[1].clock = 10 * time.Minute
	s.hosts[2].domains = names(map[string]string{"validateNoWildcardDNS.edge.example": "203.0.113.7"})
	p := s.play(t, hub)
	_, results := p.host(t, 0)
	g.Expect(results["has-default-route"].Status).To(Equal(validations.Disabled))
	c, ofCluster := p.readCluster(t)
	g.Expect(ofCluster["ntp-server-configured"].Status).To(Equal(validations.Disabled))
	g.Expect(c.Status).To(Equal(wire.ClusterStatusInsufficient))
	put := func(hosts, clusters string) int {
		code, _ := p.user.Do(t, http.MethodPut, "/clusters/"+p.cluster+"/ignored-validations",
			wire.IgnoredValidations{HostValidationIDs: hosts, ClusterValidationIDs: clusters}, nil)
		return code
	}
	g.Expect(put(`["hostname-valid"]`, "")).To(Equal(http.StatusBadRequest))
	g.Expect(put(`["no-such-check"]`, "")).To(Equal(http.StatusBadRequest))
	g.Expect(put("", `["pull-secret-set"]`)).To(Equal(http.StatusBadRequest))
	g.Expect(put(`["dns-wildcard-not-configured"]`, `["all"]`)).To(Equal(http.StatusCreated))
	h, results := p.host(t, 2)
	g.Expect(results["dns-wildcard-not-configured"].Status).To(Equal(validations.Failure), "it is still shown")
	g.Expect(h.Status).To(Equal(wire.HostStatusKnown), h.StatusInfo)
	c, _ = p.readCluster(t)
	g.Expect(c.Status).To(Equal(wire.ClusterStatusReady), c.StatusInfo)

	s.hosts[1].inventory.Hostname = "node-0"
	token, err := hub.AgentToken(t.Context(), p.hosts[1].InfraEnvID)
	g.Expect(err).NotTo(HaveOccurred())
	s.hosts[1].tell(t, hub.Agent(token))
	s.hosts[1].inventory.Hostname = "node-1"
	s.hosts[1].tell(t, hub.Agent(token))
	var events wire.EventList
	code, raw := p.user.Do(t, http.MethodGet, "/events?host_id="+p.hosts[1].HostID, nil, &events)
	g.Expect(code).To(Equal(http.StatusOK), raw)
	var told []string
	for _, e := range events {
		told = append(told, e.Name)
	}
	g.Expect(told).To(ContainElements("host_validation_failed", "host_validation_fixed"))
}

// TestClusterKnowsItsNetwork: what follows from the hosts' reports is the cluster's to read.
func TestClusterKnowsItsNetwork(t *testing.T) {
	g := NewWithT(t)
	s := threeHosts(t)
	s.cutOff(0)
	s.between(1, 2).L2Connectivity[0].RemoteMAC, s.between(1, 2).L2Connectivity[0].Successful = "52:54:00:ff:00:09", false
	p := s.play(t, testhub.Start(t, testhub.Options{IgnitionDir: testhub.RoleFiles(t)}))
	c, _ := p.readCluster(t)
	g.Expect(c.MachineNetworks).To(ConsistOf(HaveField("CIDR", wire.Subnet("192.0.2.0/24"))), "it follows from the virtual addresses")
	g.Expect(c.ConnectivityMajorityGroups).To(MatchJSON(`{"192.0.2.0/24":[],"IPv4":[],"IPv6":[]}`), "two hosts are no group of three")
	g.Expect(c.IPCollisions).To(MatchJSON(`{"192.0.2.12":["52:54:00:ff:00:09"]}`))
	h, _ := p.host(t, 0)
	g.Expect(h.SuggestedRole).To(Equal(wire.HostRoleMaster))
	g.Expect(h.Role).To(Equal(wire.HostRoleAutoAssign))
}
