package rest_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// twoOwn are two hosts of one infra-env, each with a token of its own.
func twoOwn(t *testing.T, hub *testhub.Hub) (keys [2]store.HostKey, agents [2]*testhub.Caller) {
	t.Helper()
	env, token := hub.InfraEnv(t, "shared")
	for i := range keys {
		keys[i] = store.HostKey{InfraEnvID: env, HostID: uuid.NewString()}
		agents[i] = hub.Agent(token).Exchange(t, keys[i])
	}
	return keys, agents
}

// replyOf posts the result of a step of a host that has registered.
func replyOf(t *testing.T, agent *testhub.Caller, key store.HostKey, step wire.StepType, output any) (int, string) {
	t.Helper()
	return agent.Do(t, http.MethodPost, "/infra-envs/"+key.InfraEnvID+"/hosts/"+key.HostID+"/instructions", wire.StepReply{StepType: step, StepID: "x", Output: encode(output)}, nil)
}

// TestAnInventoryOfNoMachine is not taken: its texts are part of each event about the host, and of what others are told of it.
func TestAnInventoryOfNoMachine(t *testing.T) {
	hub := testhub.Start(t, testhub.Options{})
	keys, agents := twoOwn(t, hub)
	long := strings.Repeat("x", 300<<10)
	for name, change := range map[string]func(*wire.Inventory){
		"a long hostname":        func(i *wire.Inventory) { i.Hostname = long },
		"a long name of a card":  func(i *wire.Inventory) { i.Interfaces[0].Name = long },
		"a long address of one":  func(i *wire.Inventory) { i.Interfaces[0].MACAddress = long },
		"a long hostname of DNS": func(i *wire.Inventory) { i.Hostname = strings.Repeat("x", 254) },
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			inventory := testhub.Inventory(3)
			change(&inventory)
			code, raw := replyOf(t, agents[0], keys[0], wire.StepTypeInventory, inventory)
			g.Expect(code).To(Equal(http.StatusBadRequest), "%.200s", raw)
			agents[0].Register(t, keys[0])
			g.Expect(len(hub.Timeline(t))).To(BeNumerically("<", 16<<10))
		})
	}
	code, raw := replyOf(t, agents[0], keys[0], wire.StepTypeInventory, testhub.Inventory(3))
	NewWithT(t).Expect(code).To(Equal(http.StatusNoContent), raw)
}

// TestAHostOfManyAddresses is asked for by the others of its cluster at a few of them: they are told of it with every poll.
func TestAHostOfManyAddresses(t *testing.T) {
	g := NewWithT(t)
	hub := testhub.Start(t, testhub.Options{})
	s := threeHosts(t)
	for n := range 10_000 {
		nic := &s.hosts[0].inventory.Interfaces[0]
		nic.Ipv6Addresses = append(nic.Ipv6Addresses, fmt.Sprintf("2001:db8::%x/64", n+1))
	}
	p := s.play(t, hub)
	var asked []string
	for _, step := range p.agentOf(t, hub, 1).Poll(t, p.hosts[1]).Instructions {
		if step.StepType == wire.StepTypeConnectivityCheck {
			asked = step.Args
		}
	}
	g.Expect(asked).To(HaveLen(1))
	g.Expect(asked[0]).To(And(ContainSubstring(s.hosts[0].key.HostID), ContainSubstring(address(0)), ContainSubstring(address(2))))
	g.Expect(len(asked[0])).To(BeNumerically("<", 16<<10))
}

// TestImagesNobodyAskedFor: a host that tells of others than it was asked for does not fill the timeline.
func TestImagesNobodyAskedFor(t *testing.T) {
	g := NewWithT(t)
	hub := testhub.Start(t, testhub.Options{})
	keys, agents := twoOwn(t, hub)
	for n := range 5 {
		answer := wire.ContainerImageAvailabilityResponse{}
		for i := range 30 {
			answer.Images = append(answer.Images, wire.ContainerImageAvailability{Name: fmt.Sprint("unasked/", n, "/", i), Result: wire.ContainerImageAvailabilityResultFailure})
		}
		agents[0].Reply(t, keys[0], wire.StepReply{StepType: wire.StepTypeContainerImageAvailability, StepID: "x", Output: encode(answer)})
	}
	g.Expect(hub.Timeline(t)).NotTo(ContainSubstring("unasked/"))
}

// TestSpeedsOfDisksNobodyKnows are not kept.
func TestSpeedsOfDisksNobodyKnows(t *testing.T) {
	g := NewWithT(t)
	hub := testhub.Start(t, testhub.Options{})
	keys, agents := twoOwn(t, hub)
	for n := range 8 {
		replyOf(t, agents[0], keys[0], wire.StepTypeInstallationDiskSpeedCheck, wire.DiskSpeedCheckResponse{Path: fmt.Sprint(n, strings.Repeat("x", 200<<10)), IoSyncDuration: 1})
	}
	var host wire.Host
	hub.User().Do(t, http.MethodGet, "/infra-envs/"+keys[0].InfraEnvID+"/hosts/"+keys[0].HostID, nil, &host)
	g.Expect(len(host.DisksInfo)).To(BeNumerically("<", 64<<10))
}

// TestAnUpgradeNobodyOrdered fills no timeline.
func TestAnUpgradeNobodyOrdered(t *testing.T) {
	g := NewWithT(t)
	hub := testhub.Start(t, testhub.Options{})
	keys, agents := twoOwn(t, hub)
	for n := range 4 {
		replyOf(t, agents[0], keys[0], wire.StepTypeUpgradeAgent, wire.UpgradeAgentResponse{AgentImage: fmt.Sprint(n, strings.Repeat("x", 200<<10)), Result: wire.UpgradeAgentResultSuccess})
	}
	g.Expect(len(hub.Timeline(t))).To(BeNumerically("<", 64<<10))
}

// TestAVersionOfAnOperatorIsShort: it is part of each answer about the cluster.
func TestAVersionOfAnOperatorIsShort(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	hub := testhub.Start(t, testhub.Options{IgnitionDir: dir, Timers: service.Timers{Monitor: 10 * time.Millisecond}})
	p := singleNode(t).checked().play(t, hub)
	g.Expect(os.Mkdir(filepath.Join(dir, p.cluster), 0o700)).To(Succeed())
	for name, content := range map[string]string{"kubeconfig-noingress": kubeconfig, "master.ign": `{"ignition":{"version":"3.2.0"}}`} {
		g.Expect(os.WriteFile(filepath.Join(dir, p.cluster, name), []byte(content), 0o600)).To(Succeed())
	}
	p.start(t, hub)
	inside, err := clusterCaller(hub, p.cluster)
	g.Expect(err).NotTo(HaveOccurred())
	var all wire.MonitoredOperatorsList
	code, raw := inside.Do(t, http.MethodGet, "/clusters/"+p.cluster+"/monitored-operators", nil, &all)
	g.Expect(code).To(Equal(http.StatusOK), raw)
	g.Expect(all).NotTo(BeEmpty())
	report := wire.OperatorMonitorReport{Name: all[0].Name, Status: wire.OperatorStatusAvailable, Version: strings.Repeat("x", 4<<20)}
	code, raw = inside.Do(t, http.MethodPut, "/clusters/"+p.cluster+"/monitored-operators", report, nil)
	g.Expect(code).To(Equal(http.StatusOK), raw)
	_, raw = p.user.Do(t, http.MethodGet, "/clusters/"+p.cluster+"?exclude-hosts=true", nil, nil)
	g.Expect(len(raw)).To(BeNumerically("<", 64<<10))
}
