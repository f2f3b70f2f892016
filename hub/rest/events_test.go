package rest_test

import (
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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

// timelineEvents are all events of the hub. That each comes in its test is checked at
// the end of the program, see [TestMain]; that none is missing, by [TestNoEventIsForgotten].
var timelineEvents = []struct{ name, severity, when, test string }{
	{"api_ingress_vip_updated", "info", "a DHCP server gave the cluster its virtual addresses", "TestAddressesOfADHCPServer"},
	{"cancel_installation_failed", "error", "an installation cannot be cancelled", "TestRefusalsAreToldOf"},
	{"cluster_degraded_OLM_operators_failed", "warning", "the cluster is installed, but some of its operators are not", "TestFinalizing"},
	{"cluster_deregister_failed", "error", "a cluster cannot be removed", "TestRefusalsAreToldOf"},
	{"cluster_deregistered", "info", "the cluster was removed", "TestLifeOverHTTP"},
	{"cluster_finalizing_stage_updated", "info", "the cluster reached a stage of its finalizing", "TestFinalizing"},
	{"cluster_hub_resumed", "warning", "the host that the hub runs on was restarted, and the hub goes on from the copy of its state on that host's disk", "TestEventsOfTrouble"},
	{"cluster_installation_canceled", "info", "the installation was cancelled", "TestLifeOverHTTP"},
	{"cluster_installation_completed", "info", "the cluster is installed", "TestFinalizing"},
	{"cluster_installation_failed", "critical", "the installation failed, with the reason of a host", "TestEventsOfTrouble"},
	{"cluster_installation_reset", "info", "the cluster was reset, so that it can be installed again", "TestLifeOverHTTP"},
	{"cluster_logs_uploaded", "info", "the controller of the cluster sent logs", "TestLogs"},
	{"cluster_operator_status", "info", "an operator of the cluster reported another status", "TestFinalizing"},
	{"cluster_prepare_installation_started", "info", "the preparation of an installation began", "TestLifeOverHTTP"},
	{"cluster_recovered", "warning", "the record of the cluster was made again from its resource, after the store was lost", "TestEventsOfTrouble"},
	{"cluster_registration_succeeded", "info", "the cluster was created", "TestLifeOverHTTP"},
	{"cluster_reports_too_much", "warning", "the program inside the cluster, or its bootstrap host, sends more reports than allowed; the rest is refused", "TestAClusterHasOneBudget"},
	{"cluster_status_updated", "info, error", "the cluster has another status", "TestLifeOverHTTP"},
	{"cluster_token_revoked", "warning", "somebody revoked the token of the program inside the cluster", "TestTheTokenOfAClusterIsRevokedAlone"},
	{"cluster_validation_failed", "warning", "a validation of the cluster that passed before fails now", "TestClusterValidations"},
	{"cluster_validation_fixed", "info", "a validation of the cluster that failed before passes now", "TestClusterValidations"},
	{"disk_speed_slower_than_supported", "warning", "the installation disk is slower (sync) than its role allows", "TestResetOfAValidation"},
	{"finalizing_stage_timed_out", "warning", "a stage of finalizing takes longer than its limit", "TestFinalizing"},
	{"generate_image_fetch_failed", "error", "the live image of an infra-env cannot be made", "TestEventsOfTrouble"},
	{"host_approved_updated", "info", "the host was approved, or is no longer", "TestEventsOfTrouble"},
	{"host_bind_failed", "error", "a host cannot be bound to a cluster", "TestRefusalsAreToldOf"},
	{"host_bind_succeeded", "info", "the host was bound to a cluster", "TestLifeOverHTTP"},
	{"host_bootstrap_set", "info", "the host was chosen to bootstrap its cluster", "TestLifeOverHTTP"},
	{"host_deregistered", "info", "the host was removed", "TestLifeOverHTTP"},
	{"host_discovery_ignition_config_applied", "info", "the Ignition of one host was overridden", "TestLifeOverHTTP"},
	{"host_id_not_unique", "error", "two machines have the host's id: neither is installed", "TestOneID"},
	{"host_install_progress_updated", "info", "the host reached a stage of its installation", "TestLifeOverHTTP"},
	{"host_installation_cancelled", "info", "the installation of the host was cancelled", "TestLifeOverHTTP"},
	{"host_installation_reset", "info", "the installation of the host begins again", "TestEveryOperationOfTheProtocolIsAnswered"},
	{"host_installation_reset_failed", "error", "a host cannot be reset", "TestRefusalsAreToldOf"},
	{"host_installation_started", "info", "the installation of a host that joins a running cluster begins", "TestTheRest"},
	{"host_installer_args_applied", "info", "the arguments of one host's installer were changed", "TestLifeOverHTTP"},
	{"host_logs_uploaded", "info", "the host sent logs", "TestLogs"},
	{"host_media_disconnected", "error", "the host cannot read its boot medium any more", "TestHostValidations"},
	{"host_recovered", "warning", "the record of the host was made again from its Agent, after the store was lost", "TestEventsOfTrouble"},
	{"host_registration_failed", "error", "a host was refused", "TestEventsOfTrouble"},
	{
		"host_registration_put_off", "warning",
		"the registration of a host is delayed, because its cluster accepts no hosts at the moment, " +
			"or it is not known to be the machine of this host, or it was installed before and the hub has lost its record; once per host",
		"TestARegistrationThatIsPutOffIsSaid",
	},
	{"host_registration_succeeded", "info", "an agent registered its host", "TestLifeOverHTTP"},
	{"host_reports_too_much", "warning", "the host sends more reports than allowed; the rest is refused", "TestAHostHasOneBudget"},
	{"host_role_updated", "info", "the hub chose the role of the host", "TestEventsOfTrouble"},
	{"host_signing_request_approved", "info", "ironflow-cluster approved a certificate signing request of the host's kubelet", "TestTheProgramTellsOfSigningRequests"},
	{"host_signing_request_failed", "warning", "ironflow-cluster could not approve a certificate signing request of the host's kubelet", "TestTheProgramTellsOfSigningRequests"},
	{"host_stage_timed_out", "warning", "a stage takes longer than its limit", "TestEventsOfTrouble"},
	{"host_status_updated", "info, warning, error", "the host has another status", "TestLifeOverHTTP"},
	{"host_unbind_failed", "error", "a host cannot be unbound from its cluster", "TestRefusalsAreToldOf"},
	{"host_unbind_succeeded", "info", "the host was unbound from its cluster", "TestLifeOverHTTP"},
	{"host_validation_failed", "warning", "a validation of the host that passed before fails now", "TestHostValidations"},
	{"host_validation_fixed", "info", "a validation of the host that failed before passes now", "TestHostValidations"},
	{"ignition_config_image_generated", "info", "the live image of the infra-env has another Ignition", "TestChangesAreToldOf"},
	{"image_info_updated", "info", "the live image of the infra-env is another one", "TestChangesAreToldOf"},
	{"image_status_updated", "info, warning", "the host tried to pull an image", "TestEveryValidationPasses"},
	{"infra_env_deregister_failed", "error", "an infra-env cannot be removed", "TestRefusalsAreToldOf"},
	{"infra_env_deregistered", "info", "the infra-env was removed", "TestLifeOverHTTP"},
	{"infra_env_networks_left_out", "warning", "the live image of an infra-env has no static networks for some hosts, because these cannot be configured", "TestEventsOfTrouble"},
	{"infra_env_registered", "info", "the infra-env was created", "TestLifeOverHTTP"},
	{"infra_env_tokens_revoked", "warning", "somebody revoked the tokens of the infra-env's agents", "TestRevokedTokenOpensNothing"},
	{"install_config_applied", "info", "the install-config of the cluster was overridden", "TestInstallConfig"},
	{"installation_preparing_timed_out", "warning", "an installation could not be prepared in time", inTime},
	{"prepare_installation_failed", "warning", "an installation cannot be prepared", "TestEventsOfTrouble"},
	{"proxy_settings_changed", "info", "the cluster has another proxy", "TestChangesAreToldOf"},
	{"quick_disk_format_performed", "info", "a disk that the host could start from is wiped", "TestWhatAHostIsInstalledWith"},
	{"quick_disk_format_skipped", "info", "such a disk is kept, because a user has asked for that", "TestWhatAHostIsInstalledWith"},
	{"reset_installation_failed", "error", "a cluster cannot be reset", "TestRefusalsAreToldOf"},
	{"upgrade_agent_failed", "error", "the host cannot get the agent that the hub wants", "TestAnAgentThatIsNotTheWantedOne"},
	{"upgrade_agent_finished", "info", "the host has the agent that the hub wants", "TestAnAgentThatIsNotTheWantedOne"},
	{"upgrade_agent_started", "info", "the agent is told to replace itself by the one that the hub wants", "TestAnAgentThatIsNotTheWantedOne"},
	{"user_required_complete_installation_reset", "info", "a host that was reset has to be booted from the live image", "TestLifeOverHTTP"},
	{"validations_ignored", "info", "the checks that are ignored were changed", "TestTheRest"},
}

// inTime is a test of another package, where time goes by as it likes.
const inTime = "hub/service.TestChecksBeforeAnInstallationThatFail"

func eventsTable() string {
	var b strings.Builder
	b.WriteString("| event | severity | when | test |\n|---|---|---|---|\n")
	for _, e := range timelineEvents {
		test := e.test
		if test != inTime {
			test = "hub/rest." + test
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | `%s` |\n", e.name, e.severity, e.when, test)
	}
	return b.String()
}

// made finds the names of events where they are made; validation events have their
// kind before the name.
var made = regexp.MustCompile(
	`(?:(?:Host|Cluster|Env)Event\([^"{]*|tell\(|wire\.Event\{\s*Name: +)` +
		`"((?:host|cluster|infra_env|image|install|installation|prepare|finalizing|validations?|` +
		`api|cancel|disk|generate|ignition|proxy|quick|reset|upgrade|user)_[a-zA-Z_]+)"`,
)

// TestNoEventIsForgotten: the table has exactly the events that the hub makes.
func TestNoEventIsForgotten(t *testing.T) {
	g := NewWithT(t)
	found := map[string]bool{}
	g.Expect(filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, match := range made.FindAllStringSubmatch(string(text), -1) {
			name := match[1]
			if name, isCheck := strings.CutPrefix(name, "validation_"); isCheck {
				found["host_validation_"+name], found["cluster_validation_"+name] = true, true
				continue
			}
			found[name] = true
		}
		return err
	})).To(Succeed())
	var listed []string
	for _, e := range timelineEvents {
		listed = append(listed, e.name)
	}
	g.Expect(slices.Collect(maps.Keys(found))).To(ConsistOf(listed))
}

// TestEventsOfTrouble are those that an installation without trouble has not.
func TestEventsOfTrouble(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	hub := testhub.Start(t, testhub.Options{IgnitionDir: dir, Timers: service.Timers{
		Monitor: 10 * time.Millisecond, Soft: true, Stages: map[wire.HostStage]time.Duration{wire.HostStageWritingImageToDisk: time.Millisecond},
	}})
	told := func(name string) func() []string {
		return func() (all []string) {
			events, _, err := hub.Events(t.Context(), store.EventFilter{})
			g.Expect(err).NotTo(HaveOccurred())
			for _, e := range events {
				if e.Name == name {
					all = append(all, e.Message)
				}
			}
			return all
		}
	}
	expect := func(name, text string) {
		t.Helper()
		g.Eventually(told(name), "20s", "10ms").Should(ContainElement(ContainSubstring(text)), name)
	}

	env, token := hub.InfraEnv(t, "edge")
	key := store.HostKey{InfraEnvID: env, HostID: uuid.NewString()}
	agent := hub.Agent(token)
	broken := filepath.Join(dir, "master.ign")
	g.Expect(os.WriteFile(broken, []byte("no Ignition"), 0o600)).To(Succeed())
	agent.Register(t, key)
	g.Expect(hub.ApproveHost(t.Context(), key, false)).To(Succeed())
	expect("host_approved_updated", "approved: no")
	g.Expect(hub.ApproveHost(t.Context(), key, true)).To(Succeed())
	for len(told("prepare_installation_failed")()) == 0 {
		for _, step := range agent.Poll(t, key).Instructions {
			agent.Answer(t, key, step, testhub.Inventory(1))
		}
	}
	expect("prepare_installation_failed", "master.ign")
	g.Expect(os.Remove(broken)).To(Succeed())

	other := store.HostKey{InfraEnvID: env, HostID: uuid.NewString()}
	agent.Register(t, other)
	agent.UntilInstall(t, other, testhub.Inventory(2))
	agent.Progress(t, other, wire.HostStageStartingInstallation, "")
	agent.Progress(t, other, wire.HostStageWritingImageToDisk, "1%")
	expect("host_stage_timed_out", "Writing image to disk takes longer than usual")
	agent.Progress(t, other, wire.HostStageFailed, "the disk is gone")
	expect("cluster_installation_failed", "the disk is gone")

	g.Expect(hub.ImageFailed(t.Context(), env, "no base medium")).To(Succeed())
	expect("generate_image_fetch_failed", "no base medium")
	g.Expect(hub.NetworksLeftOut(t.Context(), env, "1 of 2 static networks are left out")).To(Succeed())
	expect("infra_env_networks_left_out", "the live image is made, but 1 of 2")
	_, err := hub.EnsureCluster(t.Context(), service.ClusterSpec{ID: uuid.NewString(), Name: "lost", Masters: 1, Was: wire.ClusterStatusInstalled})
	g.Expect(err).NotTo(HaveOccurred())
	expect("cluster_recovered", "store was lost")
	g.Expect(hub.Resumed(t.Context(), "/dev/sda")).To(Succeed())
	expect("cluster_hub_resumed", "the copy of the hub's state on /dev/sda")
	lost := store.HostKey{InfraEnvID: env, HostID: uuid.NewString()}
	g.Expect(hub.RecoverHost(t.Context(), lost, service.LostHost{Known: wire.Host{Status: wire.HostStatusInstalled}, Since: time.Now().Add(-time.Hour)})).To(BeTrue())
	expect("host_recovered", "store was lost")
	code, _ := agent.Do(t, http.MethodPost, "/infra-envs/"+env+"/hosts", wire.HostCreateParams{HostID: lost.HostID}, nil)
	g.Expect(code).To(Equal(http.StatusConflict))
	expect("host_registration_failed", "registration refused")

	three := threeHosts(t).play(t, hub)
	g.Eventually(func() string {
		cluster, _ := three.readCluster(t)
		return cluster.Status
	}, "20s", "10ms").Should(Equal(wire.ClusterStatusReady))
	code, raw := three.user.Do(t, http.MethodPost, "/clusters/"+three.cluster+"/actions/install", nil, nil)
	g.Expect(code).To(Equal(http.StatusAccepted), raw)
	expect("host_role_updated", "its role is master")
}

// TestRefusalsAreToldOf: what a user wanted and did not get is on the timeline, with the reason.
func TestRefusalsAreToldOf(t *testing.T) {
	g := NewWithT(t)
	f := newFixture(t)
	user := newClient(t, f.User())
	host := "/infra-envs/" + f.env + "/hosts/" + f.host.HostID
	joining, late := user.newCluster(), singleNode(t).play(t, f.Hub)
	user.do("POST", host+"/actions/bind", `{"cluster_id":"`+strings.TrimPrefix(joining, "/clusters/")+`"}`, 409)
	user.do("POST", host+"/actions/unbind", "", 409)
	user.do("POST", "/infra-envs/"+late.hosts[0].InfraEnvID+"/hosts/"+late.hosts[0].HostID+"/actions/reset", "", 409)
	user.do("POST", joining+"/actions/cancel", "", 409)
	user.do("POST", joining+"/actions/reset", "", 409)
	user.do("DELETE", "/clusters/"+f.cluster, "", 409)
	user.do("DELETE", "/infra-envs/"+f.env, "", 400)
	for name, key := range map[string]string{
		"host_bind_failed": "message", "host_unbind_failed": "message", "host_installation_reset_failed": "error", "cancel_installation_failed": "error",
		"reset_installation_failed": "error", "cluster_deregister_failed": "error", "infra_env_deregister_failed": "error",
	} {
		g.Expect(aboutIt(t, f.User(), name)).To(HaveKeyWithValue(key, Not(BeEmpty())), name)
	}
	user.do("POST", "/clusters/"+uuid.NewString()+"/actions/cancel", "", 404)
	g.Expect(told(t, f.User(), "cancel_installation_failed")).To(HaveLen(1), "what does not exist is nothing to tell of")
}

func TestChangesAreToldOf(t *testing.T) {
	g := NewWithT(t)
	hub := testhub.Start(t, testhub.Options{})
	user := newClient(t, hub.User())
	cluster := user.newCluster()
	user.do("PATCH", cluster, `{"http_proxy":"http://user:hunter2@proxy.example:3128"}`, 201)
	user.do("PATCH", cluster, `{"name":"other"}`, 201)
	env := user.read("POST", "/infra-envs", `{"name":"pool","pull_secret":"{\"auths\":{}}"}`, 201)["id"].(string)
	user.do("PATCH", "/infra-envs/"+env, `{"ssh_authorized_key":"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f me"}`, 201)
	user.do("PATCH", "/infra-envs/"+env, `{"ssh_authorized_key":"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f me"}`, 201)
	user.do("PATCH", "/infra-envs/"+env, `{"ignition_config_override":"{\"ignition\":{\"version\":\"3.2.0\"}}"}`, 201)
	for _, name := range []string{"proxy_settings_changed", "image_info_updated", "ignition_config_image_generated"} {
		g.Expect(told(t, hub.User(), name)).To(HaveLen(1), name)
	}
	g.Expect(hub.Timeline(t)).NotTo(ContainSubstring("hunter2"))
}
