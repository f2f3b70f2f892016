package rest_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// agentOf is the agent of one of the hosts.
func (p *played) agentOf(t *testing.T, hub *testhub.Hub, n int) *testhub.Caller {
	t.Helper()
	token, err := hub.AgentToken(t.Context(), p.hosts[n].InfraEnvID)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return hub.Agent(token)
}

// argument is the only argument of a step that the agent is told; nothing without the step.
func argument(t *testing.T, agent *testhub.Caller, key store.HostKey, step wire.StepType) string {
	t.Helper()
	for _, s := range agent.Poll(t, key).Instructions {
		if s.StepType == step {
			NewWithT(t).Expect(s.Args).NotTo(BeEmpty())
			return s.Args[0]
		}
	}
	return ""
}

// told are the events of a name, each with its details.
func told(t *testing.T, user *testhub.Caller, name string) (all []wire.Event) {
	t.Helper()
	var events wire.EventList
	code, raw := user.Do(t, http.MethodGet, "/events", nil, &events)
	NewWithT(t).Expect(code).To(Equal(http.StatusOK), raw)
	for _, e := range events {
		if e.Name == name {
			all = append(all, e)
		}
	}
	return all
}

// aboutIt are the details of the only event of a name.
func aboutIt(t *testing.T, user *testhub.Caller, name string) (props map[string]any) {
	t.Helper()
	g := NewWithT(t)
	all := told(t, user, name)
	g.Expect(all).To(HaveLen(1), name)
	g.Expect(json.Unmarshal([]byte(all[0].Props), &props)).To(Succeed())
	return props
}

// TestWhatAHostIsInstalledWith: the order has what the disks and the network of the
// host ask for, and the timeline says what it loses.
func TestWhatAHostIsInstalledWith(t *testing.T) {
	g := NewWithT(t)
	hub := testhub.Start(t, testhub.Options{IgnitionDir: testhub.RoleFiles(t)})
	scene := singleNode(t)
	h := scene.hosts[0]
	scene.cluster.MachineNetworks = []wire.MachineNetwork{{CIDR: "192.0.2.0/24"}}
	h.inventory.Disks = append(
		h.inventory.Disks,
		wire.Disk{ID: "/dev/disk/by-id/old", Path: "/dev/vdb", Name: "vdb", DriveType: wire.DriveTypeHdd, SizeBytes: 900e9, Bootable: true},
		wire.Disk{ID: "/dev/disk/by-id/data", Path: "/dev/vdc", Name: "vdc", DriveType: wire.DriveTypeHdd, SizeBytes: 900e9, Bootable: true},
	)
	h.update = &wire.HostUpdateParams{
		DisksSkipFormatting: []wire.DiskSkipFormattingParams{{DiskID: "/dev/disk/by-id/data", SkipFormatting: true}},
		DisksSelectedConfig: []wire.DiskConfigParams{{ID: "/dev/disk/by-path/pci-0000:00:03.0", Role: wire.DiskRoleInstall}},
	}
	h.disk = &wire.DiskSpeedCheckResponse{Path: "/dev/disk/by-path/pci-0000:00:03.0", IoSyncDuration: 1}
	h.images = &wire.ContainerImageAvailabilityResponse{Images: []wire.ContainerImageAvailability{
		{Name: scene.cluster.OcpReleaseImage, Result: wire.ContainerImageAvailabilityResultSuccess},
	}}
	p := scene.play(t, hub)
	at, agent := "/infra-envs/"+p.hosts[0].InfraEnvID+"/hosts/"+p.hosts[0].HostID, p.agentOf(t, hub, 0)
	code, raw := p.user.Do(t, http.MethodPatch, at+"/installer-args", wire.InstallerArgsParams{Args: []string{"--append-karg", "a=b"}}, nil)
	g.Expect(code).To(Equal(http.StatusCreated), raw)
	code, raw = p.user.Do(t, http.MethodPost, "/clusters/"+p.cluster+"/actions/install", nil, nil)
	g.Expect(code).To(Equal(http.StatusAccepted), raw)
	var order string
	g.Eventually(func() string {
		order = argument(t, agent, p.hosts[0], wire.StepTypeInstall)
		return order
	}, time.Minute, "20ms").ShouldNot(BeEmpty())
	var got wire.InstallCmdRequest
	g.Expect(json.Unmarshal([]byte(order), &got)).To(Succeed())
	g.Expect(got.InstallerArgs).To(MatchJSON(`["--append-karg","ip=52-54-00-10-00-00:dhcp","--append-karg","a=b"]`))
	g.Expect(got.DisksToFormat).To(Equal([]string{"/dev/disk/by-id/old"}))
	g.Expect(got.NotifyNumReboots).To(BeTrue())
	g.Expect(aboutIt(t, p.user, "quick_disk_format_performed")).To(And(HaveKeyWithValue("disk_id", "/dev/disk/by-id/old"), HaveKeyWithValue("disk_name", "vdb")))
	g.Expect(aboutIt(t, p.user, "quick_disk_format_skipped")).To(HaveKeyWithValue("disk_id", "/dev/disk/by-id/data"))
}

// TestWhereAHostThatJoinsGetsItsIgnition: the check before, and the Ignition that it is
// installed with, both use what the user gave; the token is shown to nobody.
func TestWhereAHostThatJoinsGetsItsIgnition(t *testing.T) {
	g := NewWithT(t)
	roles := testhub.RoleFiles(t)
	g.Expect(os.Remove(filepath.Join(roles, "worker.ign"))).To(Succeed())
	hub := testhub.Start(t, testhub.Options{IgnitionDir: roles})
	p := joining(t).play(t, hub)
	at, agent, user := "/infra-envs/"+p.hosts[0].InfraEnvID+"/hosts/"+p.hosts[0].HostID, p.agentOf(t, hub, 0), newClient(t, p.user)
	g.Expect(argument(t, agent, p.hosts[0], wire.StepTypeAPIVIPConnectivityCheck)).To(MatchJSON(`{"url":"https://api.edge.example:22623/config/worker"}`))

	user.do("PATCH", "/clusters/"+p.cluster, `{"api_vip_dns_name":"api.edge.example/x"}`, 400)
	user.do("PATCH", "/clusters/"+p.cluster, `{"api_vip_dns_name":"192.0.2.100"}`, 201)
	g.Expect(argument(t, agent, p.hosts[0], wire.StepTypeAPIVIPConnectivityCheck)).To(MatchJSON(`{"url":"https://192.0.2.100:22623/config/worker"}`))

	authority := encoded(certificateAuthority)
	user.do("PATCH", "/clusters/"+p.cluster, `{"ignition_endpoint":{"url":"somewhere"}}`, 400)
	user.do("PATCH", "/clusters/"+p.cluster, `{"ignition_endpoint":{"url":"https://ign.example/config","ca_certificate":"`+encoded("no certificate")+`"}}`, 400)
	user.do("PATCH", "/clusters/"+p.cluster, `{"ignition_endpoint":{"url":"https://ign.example/config","ca_certificate":"`+authority+`"}}`, 201)
	user.do("PATCH", at, `{"ignition_endpoint_http_headers":[{"key":"X Pool","value":"p"}]}`, 400)
	user.do("PATCH", at, `{"fencing_credentials":{}}`, 400)
	shown := user.do("PATCH", at, `{"ignition_endpoint_token":"s3cret","machine_config_pool_name":"infra","ignition_endpoint_http_headers":[{"key":"X-Pool","value":"p"}]}`, 201)
	g.Expect(shown).To(And(ContainSubstring(`"ignition_endpoint_token_set":true`), Not(ContainSubstring("s3cret"))))
	g.Expect(argument(t, agent, p.hosts[0], wire.StepTypeAPIVIPConnectivityCheck)).To(MatchJSON(
		`{"url":"https://ign.example/config/infra","ca_certificate":"` + authority + `","ignition_endpoint_token":"s3cret","request_headers":[{"key":"X-Pool","value":"p"}]}`))

	user.do("PATCH", at, `{"ignition_endpoint_token":"","ignition_endpoint_http_headers":[]}`, 201)
	g.Expect(argument(t, agent, p.hosts[0], wire.StepTypeAPIVIPConnectivityCheck)).To(MatchJSON(`{"url":"https://ign.example/config/infra","ca_certificate":"` + authority + `"}`))
	user.do("PATCH", at, `{"ignition_endpoint_token":"s3cret","ignition_endpoint_http_headers":[{"key":"X-Pool","value":"p"}]}`, 201)
	g.Expect(user.do("GET", strings.Replace(at, "/infra-envs/", "/infra-env/", 1)+"/downloads/ignition", "", 409)).To(ContainSubstring("install the host"))
	user.do("POST", at+"/actions/install", "", 202)
	ignition := user.do("GET", strings.Replace(at, "/infra-envs/", "/infra-env/", 1)+"/downloads/ignition", "", 200)
	g.Expect(ignition).To(And(
		ContainSubstring(`"merge":[{"httpHeaders":[{"name":"Authorization","value":"Bearer s3cret"},{"name":"X-Pool","value":"p"}],"source":"https://ign.example/config/infra"`),
		ContainSubstring(`"certificateAuthorities":[{"source":"data:text/plain;charset=utf-8;base64,`+authority+`"`), ContainSubstring("/etc/hostname")))
	g.Expect(hub.Timeline(t)).NotTo(ContainSubstring("s3cret"))
}

// TestAHostThatJoinsIsConfiguredForItsRole: whoever orders one more host of the control plane does not get a worker, in
// the check before and in the Ignition. A pool that somebody has named stays.
func TestAHostThatJoinsIsConfiguredForItsRole(t *testing.T) {
	g := NewWithT(t)
	roles := testhub.RoleFiles(t)
	hub := testhub.Start(t, testhub.Options{IgnitionDir: roles})
	p := joining(t).play(t, hub)
	for _, name := range []string{"worker.ign", "master.ign"} { // they were for the installation alone
		g.Expect(os.Remove(filepath.Join(roles, name))).To(Succeed())
	}
	at, agent, user := "/infra-envs/"+p.hosts[0].InfraEnvID+"/hosts/"+p.hosts[0].HostID, p.agentOf(t, hub, 0), newClient(t, p.user)
	from := func() string {
		var asked wire.APIVIPConnectivityRequest
		g.Expect(json.Unmarshal([]byte(argument(t, agent, p.hosts[0], wire.StepTypeAPIVIPConnectivityCheck)), &asked)).To(Succeed())
		return asked.URL
	}
	g.Expect(from()).To(HaveSuffix("/config/worker"))
	user.do("PATCH", at, `{"machine_config_pool_name":"infra"}`, 201)
	user.do("PATCH", at, `{"host_role":"master"}`, 201)
	g.Expect(from()).To(HaveSuffix("/config/infra"), "a pool of its own")
	user.do("PATCH", at, `{"machine_config_pool_name":"worker","host_role":"worker"}`, 201)
	user.do("PATCH", at, `{"host_role":"master"}`, 201)
	user.do("PATCH", at, `{"host_role":"auto-assign"}`, 201)
	g.Expect(from()).To(HaveSuffix("/config/worker"), "the role was taken back")
	user.do("PATCH", at, `{"host_role":"master"}`, 201)
	g.Expect(from()).To(HaveSuffix("/config/master"))
	g.Expect(user.do("GET", at, "", 200)).To(ContainSubstring(`"machine_config_pool_name":"master"`))
	user.do("POST", at+"/actions/install", "", 202)
	ignition := user.do("GET", strings.Replace(at, "/infra-envs/", "/infra-env/", 1)+"/downloads/ignition", "", 200)
	g.Expect(ignition).To(ContainSubstring(`:22623/config/master"`))
}

// TestAddressesOfADHCPServer: the hosts ask it for the cluster's addresses, which the
// cluster then has as if somebody had set them.
func TestAddressesOfADHCPServer(t *testing.T) {
	g := NewWithT(t)
	hub := testhub.Start(t, testhub.Options{IgnitionDir: testhub.RoleFiles(t)})
	scene := threeHosts(t)
	scene.cluster.APIVIPs, scene.cluster.IngressVIPs, scene.cluster.VIPDHCPAllocation = nil, nil, new(true)
	scene.cluster.MachineNetworks = []wire.MachineNetwork{{CIDR: "192.0.2.0/24"}}
	p := scene.play(t, hub)
	user, agent, cluster := newClient(t, p.user), p.agentOf(t, hub, 0), "/clusters/"+p.cluster
	_, found := p.readCluster(t)
	g.Expect(found["api-vips-defined"].Status).NotTo(Equal("success"))
	var request, other wire.DHCPAllocationRequest
	g.Expect(json.Unmarshal([]byte(argument(t, agent, p.hosts[0], wire.StepTypeDHCPLeaseAllocate)), &request)).To(Succeed())
	g.Expect(json.Unmarshal([]byte(argument(t, agent, p.hosts[1], wire.StepTypeDHCPLeaseAllocate)), &other)).To(Succeed())
	g.Expect(request.Interface).To(Equal("eth0"))
	g.Expect(request.APIVIPMAC).To(MatchRegexp("^02(:[0-9a-f]{2}){5}$"))
	g.Expect(request.APIVIPMAC).NotTo(Equal(request.IngressVIPMAC))
	g.Expect(other).To(Equal(request), "all hosts ask for the same")

	reply := func(api, ingress, lease string) int {
		output, err := json.Marshal(wire.DHCPAllocationResponse{APIVIPAddress: api, IngressVIPAddress: ingress, APIVIPLease: lease, IngressVIPLease: lease})
		g.Expect(err).NotTo(HaveOccurred())
		code, _ := agent.Do(t, http.MethodPost, "/infra-envs/"+p.hosts[0].InfraEnvID+"/hosts/"+p.hosts[0].HostID+"/instructions",
			wire.StepReply{StepType: wire.StepTypeDHCPLeaseAllocate, StepID: "dhcp-lease-allocate-1", Output: string(output)}, nil)
		return code
	}
	g.Expect(reply("203.0.113.7", ingressAddress, "l")).To(Equal(http.StatusBadRequest), "no address of the machine network")
	g.Expect(reply(apiAddress, ingressAddress, "first")).To(Equal(http.StatusNoContent))
	g.Expect(reply(apiAddress, ingressAddress, "second")).To(Equal(http.StatusNoContent))
	g.Expect(aboutIt(t, p.user, "api_ingress_vip_updated")).To(And(HaveKeyWithValue("api_vip", apiAddress), HaveKeyWithValue("ingress_vip", ingressAddress)))
	got, found := p.readCluster(t)
	g.Expect(got.APIVIPs).To(HaveExactElements(HaveField("IP", wire.IP(apiAddress))))
	g.Expect(found["api-vips-defined"].Status).To(Equal("success"))
	g.Expect(json.Unmarshal([]byte(argument(t, agent, p.hosts[1], wire.StepTypeDHCPLeaseAllocate)), &request)).To(Succeed())
	g.Expect(request.APIVIPLease).To(Equal("first"), "the lease goes to whoever renews it")

	g.Expect(user.do("PATCH", cluster, `{"api_vips":[{"ip":"192.0.2.99"}]}`, 400)).To(ContainSubstring("vip_dhcp_allocation"))
	user.do("PATCH", cluster, `{"vip_dhcp_allocation":false}`, 201)
	got, _ = p.readCluster(t)
	g.Expect(got.APIVIPs).To(BeEmpty())
	g.Expect(argument(t, agent, p.hosts[0], wire.StepTypeDHCPLeaseAllocate)).To(BeEmpty())
	user.do("PATCH", cluster, `{"vip_dhcp_allocation":true,"user_managed_networking":true}`, 400)
	user.do("POST", "/clusters", `{"name":"alone","pull_secret":"{\"auths\":{}}","vip_dhcp_allocation":true,"api_vips":[{"ip":"192.0.2.9"}]}`, 400)
}

// TestAnAgentThatIsNotTheWantedOne is told to make way for it, and the timeline says
// what became of that.
func TestAnAgentThatIsNotTheWantedOne(t *testing.T) {
	g := NewWithT(t)
	const wanted = "quay.example/agent:2"
	hub := testhub.Start(t, testhub.Options{Checks: service.Checks{AgentImage: wanted}})
	p := singleNode(t).play(t, hub)
	agent := p.agentOf(t, hub, 0)
	g.Expect(argument(t, agent, p.hosts[0], wire.StepTypeUpgradeAgent)).To(MatchJSON(`{"agent_image":"` + wanted + `"}`))
	g.Expect(aboutIt(t, p.user, "upgrade_agent_started")).To(HaveKeyWithValue("agent_image", wanted))
	for _, result := range []string{`"failure"`, `"failure"`, `"success"`} {
		agent.Reply(t, p.hosts[0], wire.StepReply{StepType: wire.StepTypeUpgradeAgent, StepID: "upgrade-agent-1", Output: `{"agent_image":"` + wanted + `","result":` + result + `}`})
	}
	agent.Reply(t, p.hosts[0], wire.StepReply{StepType: wire.StepTypeUpgradeAgent, StepID: "upgrade-agent-1", Output: `{"agent_image":"` + wanted + `"}`})
	g.Expect(aboutIt(t, p.user, "upgrade_agent_failed")).To(HaveKeyWithValue("agent_image", wanted))
	g.Expect(aboutIt(t, p.user, "upgrade_agent_finished")).To(HaveKeyWithValue("agent_image", wanted))
	code, _ := agent.Do(t, http.MethodPost, "/infra-envs/"+p.hosts[0].InfraEnvID+"/hosts/"+p.hosts[0].HostID+"/instructions",
		wire.StepReply{StepType: wire.StepTypeUpgradeAgent, StepID: "upgrade-agent-1", Output: `{"result":"perhaps"}`}, nil)
	g.Expect(code).To(Equal(http.StatusBadRequest))
}

// certificateAuthority signs the certificate of a server inside the cluster.
const certificateAuthority = `-----BEGIN CERTIFICATE-----
MIIBBjCBuaADAgECAgEBMAUGAytlcDASMRAwDgYDVQQDEwdjbHVzdGVyMCAXDTIz
MTExNDIyMTMyMFoYDzIwOTYxMDAyMDcwNjQwWjASMRAwDgYDVQQDEwdjbHVzdGVy
MCowBQYDK2VwAyEAu2XA+f8fJyzj0n6bHHpyU2wU47EzGR6MOtL0yjeKmrmjMjAw
MA8GA1UdEwEB/wQFMAMBAf8wHQYDVR0OBBYEFOTuPDQe8UCf7eAkz8d0G+IlV+xg
MAUGAytlcANBAJsyIpqSNfamlLWO5BOqNoesoD/Z5u2VF6h76nHVVuynpCBM/UNv
vXaZFVAhbjyxitKMCFQJiC3+VQ03rxXX+AY=
-----END CERTIFICATE-----
`
