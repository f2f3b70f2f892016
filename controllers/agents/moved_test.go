package agents

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/hubid"
	"github.com/ironflow/ironflow/hub/auth"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// boots has the machine boot its live image, and returns what its registration is answered.
func (w *world) boots() (code int, answer string) {
	w.t.Helper()
	token, err := w.hub.AgentToken(w.t.Context(), w.host.InfraEnvID)
	w.Expect(err).NotTo(HaveOccurred())
	params := wire.HostCreateParams{HostID: w.host.HostID, DiscoveryAgentVersion: "agent:1"}
	return w.hub.Agent(token).Do(w.t, http.MethodPost, "/infra-envs/"+w.host.InfraEnvID+"/hosts", params, nil)
}

// installed is a host that was installed, whose machines are approved by themselves and get a
// cluster of their own, so that a new one is installed at once.
func installedHost(t *testing.T) *world {
	w := newWorld(t, service.InfraEnvSpec{SingleHost: true, AutoApprove: true})
	w.register(testhub.Inventory(1))
	w.pass()
	w.lose(wire.HostStatusInstalled, true)
	w.hub.AskMemory(Memory{w.kube})
	return w
}

// TestALostStoreInstallsNothing: the hub serves again before its records are back. A machine that
// boots its live image in between is told to wait, and is refused as soon as they are.
func TestALostStoreInstallsNothing(t *testing.T) {
	w := installedHost(t)
	code, answer := w.boots()
	w.Expect(code).To(Equal(http.StatusServiceUnavailable), answer)
	w.Expect(answer).To(ContainSubstring("it is not installed again. It waits for Agent site/" + w.host.HostID))
	_, _, err := w.hub.View(t.Context(), w.host)
	w.Expect(service.IsNotFound(err)).To(BeTrue(), "it has left nothing behind")
	w.Expect(w.hub.Timeline(t)).To(ContainSubstring("it is not installed again"), "a person learns of it")

	w.pass()
	code, answer = w.boots()
	w.Expect(code).To(Equal(http.StatusConflict), answer)
	_, record := w.view()
	w.Expect(record.Status).To(Equal(wire.HostStatusInstalled))

	w.change(func(a *agentv1.Agent) { a.Finalizers = nil })
	w.Expect(w.kube.Delete(t.Context(), w.agent())).To(Succeed())
	w.Expect(w.hub.DeleteHost(t.Context(), w.host)).To(Succeed())
	code, answer = w.boots()
	w.Expect(code).To(Equal(http.StatusCreated), answer+": somebody has said that it may be installed anew")
}

// TestAHostThatCannotBePutBackIsNotInstalled, whatever keeps it from its record.
func TestAHostThatCannotBePutBackIsNotInstalled(t *testing.T) {
	w := installedHost(t)
	w.change(func(a *agentv1.Agent) {
		a.Spec.ClusterDeploymentName = &agentv1.ClusterReference{Namespace: "site", Name: "gone"}
	})
	w.pass()
	w.Expect(w.condition(agentv1.ConditionSpecSynced)).To(And(HaveField("Reason", agentv1.ReasonInputError), HaveField("Message", ContainSubstring("site/gone does not exist"))))
	code, answer := w.boots()
	w.Expect(code).To(Equal(http.StatusServiceUnavailable), answer)
}

// TestAHostOfNobodyRegisters: the Agents of other hosts, and those of hosts that were not begun, hold up nobody.
func TestAHostOfNobodyRegisters(t *testing.T) {
	w := newWorld(t, service.InfraEnvSpec{})
	w.register(testhub.Inventory(1))
	w.pass()
	w.lose(wire.HostStatusKnownUnbound, false)
	w.hub.AskMemory(Memory{w.kube})
	code, answer := w.boots()
	w.Expect(code).To(Equal(http.StatusCreated), answer)
	w.host.HostID = uuid.NewString()
	code, answer = w.boots()
	w.Expect(code).To(Equal(http.StatusCreated), answer)
}

// moved takes the objects to another cluster with another hub, as a backup or clusterctl do: without
// statuses, under new UIDs, and the InfraEnv some time before the Agent. It returns the Agent as it was.
func (w *world) moved() *agentv1.Agent {
	w.t.Helper()
	was := w.agent()
	w.hub = testhub.Start(w.t, testhub.Options{})
	w.r, w.feed.hub = newReconciler(w.kube, w.hub), w.hub
	w.Expect(w.kube.Delete(w.t.Context(), w.env)).To(Succeed())
	w.env = &agentv1.InfraEnv{ObjectMeta: metav1.ObjectMeta{Namespace: "site", Name: "edge", UID: types.UID(uuid.NewString())}}
	w.Expect(w.kube.Create(w.t.Context(), w.env)).To(Succeed())
	w.host.InfraEnvID = hubid.InfraEnv(w.env)
	_, err := w.hub.EnsureInfraEnv(w.t.Context(), service.InfraEnvSpec{ID: w.host.InfraEnvID, Name: "edge", SingleHost: true, AutoApprove: true})
	w.Expect(err).NotTo(HaveOccurred())
	w.change(func(a *agentv1.Agent) { a.Finalizers = nil })
	w.Expect(w.kube.Delete(w.t.Context(), w.agent())).To(Succeed())
	w.Expect(w.kube.Create(w.t.Context(), &agentv1.Agent{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: was.Namespace, Name: was.Name, Labels: was.Labels, Annotations: was.Annotations, OwnerReferences: was.OwnerReferences,
			CreationTimestamp: metav1.NewTime(time.Now().Add(time.Hour)),
		},
		Spec: was.Spec,
	})).To(Succeed())
	w.hub.AskMemory(Memory{w.kube})
	return was
}

// TestAMovedHostIsKnownAgain to a hub that has never heard of it, from what its Agent brings along.
func TestAMovedHostIsKnownAgain(t *testing.T) {
	w := installedHost(t)
	w.pass()
	w.pass()
	w.Expect(w.agent().Annotations).To(And(HaveKeyWithValue(names.AgentState, wire.HostStatusInstalled), HaveKey(names.AgentInventory), HaveKey(names.SeenIn)))
	version := w.agent().ResourceVersion
	w.pass()
	w.Expect(w.agent().ResourceVersion).To(Equal(version), "nothing is written when nothing has changed")

	for range 2 { // there and back
		was := w.moved()
		code, answer := w.boots()
		w.Expect(code).To(Equal(http.StatusServiceUnavailable), answer)
		for range 3 {
			w.pass()
		}
		code, answer = w.boots()
		w.Expect(code).To(Equal(http.StatusConflict), answer)
		_, record := w.view()
		w.Expect(record.Status).To(Equal(wire.HostStatusInstalled))
		now := w.agent()
		now.Status.Inventory.ReportTime = was.Status.Inventory.ReportTime
		w.Expect(now.Status.Inventory).To(Equal(was.Status.Inventory))
		w.Expect(now.Status.Role).To(Equal(was.Status.Role))
		w.Expect(now.Annotations[names.SeenIn]).NotTo(Equal(was.Annotations[names.SeenIn]))
		w.Expect(now.OwnerReferences).To(ConsistOf(HaveField("UID", w.env.UID)), "or it would be removed as one whose owner is gone")
	}
}

// TestARoleThatWasChosenStays: the cluster that a host comes back to takes more hosts, which are workers there.
func TestARoleThatWasChosenStays(t *testing.T) {
	w := newWorld(t, service.InfraEnvSpec{})
	w.register(testhub.Inventory(1))
	w.change(func(a *agentv1.Agent) {
		a.Spec.ClusterDeploymentName = &agentv1.ClusterReference{Namespace: "site", Name: "prod"}
	})
	w.lose(wire.HostStatusInstalled, false)
	agent := w.agent()
	agent.Status.Role = "master"
	w.Expect(w.kube.Status().Update(t.Context(), agent)).To(Succeed())
	_, err := w.hub.EnsureCluster(t.Context(), service.ClusterSpec{ID: hubid.Cluster(w.cd), Name: "prod", Masters: 1, Was: wire.ClusterStatusAddingHosts})
	w.Expect(err).NotTo(HaveOccurred())
	for range 3 {
		w.pass()
	}
	w.Expect(w.agent().Status.Role).To(Equal("master"))
}

// TestAHostThatWasSeenHereAndIsGoneWasRemoved: no clock tells that, but the records in which it was seen.
func TestAHostThatWasSeenHereAndIsGoneWasRemoved(t *testing.T) {
	w := installedHost(t)
	w.pass()
	w.pass()
	w.Expect(w.agent().CreationTimestamp.Time).To(BeTemporally("<", time.Now().Add(-30*time.Minute)), "older than the records")
	w.Expect(w.hub.DeleteHost(t.Context(), w.host)).To(Succeed())
	w.pass()
	_, _, err := w.hub.View(t.Context(), w.host)
	w.Expect(service.IsNotFound(err)).To(BeTrue())
	code, answer := w.boots()
	w.Expect(code).To(Equal(http.StatusServiceUnavailable), answer+": its Agent says still that it is installed")
}

// TestWhatIsKeptOfAHostGoesWithTheInstallation: one that begins anew comes back by itself.
func TestWhatIsKeptOfAHostGoesWithTheInstallation(t *testing.T) {
	w := newWorld(t, service.InfraEnvSpec{})
	w.register(testhub.Inventory(1))
	w.change(func(a *agentv1.Agent) {
		metav1.SetMetaDataAnnotation(&a.ObjectMeta, names.AgentState, wire.HostStatusError)
		metav1.SetMetaDataAnnotation(&a.ObjectMeta, "mine", "stays")
	})
	w.pass()
	w.pass()
	w.Expect(w.agent().Annotations).To(And(Not(HaveKey(names.AgentState)), HaveKey("mine")))
}

// lostWithItsKeys is a hub in the place of the first one, which has its keys and none of its records.
func (w *world) lostWithItsKeys() {
	w.t.Helper()
	dir := w.t.TempDir()
	for _, name := range []string{"token.key", "cluster.key"} {
		raw, err := os.ReadFile(filepath.Join(w.hub.Dir, name))
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(os.WriteFile(filepath.Join(dir, name), raw, 0o600)).To(Succeed())
	}
	w.hub = testhub.Start(w.t, testhub.Options{Dir: dir})
	w.r, w.feed.hub = newReconciler(w.kube, w.hub), w.hub
	w.hub.AskMemory(Memory{w.kube})
}

// TestALostStoreStrandsNoAgent: existing agents stop for ever when they are told that their token is wrong, or that
// the hub does not know their host. Until the records are back they are asked to come again, and one that has nothing to
// lose is told to register.
func TestALostStoreStrandsNoAgent(t *testing.T) {
	for state, stays := range map[string]bool{wire.HostStatusKnownUnbound: false, wire.HostStatusInsufficient: false, wire.HostStatusInstallingInProgress: true} {
		t.Run(state, func(t *testing.T) {
			w := newWorld(t, service.InfraEnvSpec{})
			w.register(testhub.Inventory(1))
			w.pass()
			agent := w.agent()
			agent.Status.DebugInfo.State = state
			w.Expect(w.kube.Status().Update(t.Context(), agent)).To(Succeed())
			token, err := w.hub.AgentToken(t.Context(), w.host.InfraEnvID)
			w.Expect(err).NotTo(HaveOccurred())
			w.lostWithItsKeys()
			host := "/infra-envs/" + w.host.InfraEnvID + "/hosts/" + w.host.HostID
			poll := func() (int, wire.Steps, string) {
				var steps wire.Steps
				code, raw := w.hub.Agent(token).Do(t, http.MethodGet, host+"/instructions", nil, &steps)
				return code, steps, raw
			}
			code, _, raw := poll()
			w.Expect(code).To(Equal(http.StatusServiceUnavailable), raw)
			params := wire.HostCreateParams{HostID: w.host.HostID, DiscoveryAgentVersion: "agent:1"}
			code, raw = w.hub.Agent(token).Do(t, http.MethodPost, "/infra-envs/"+w.host.InfraEnvID+"/hosts", params, nil)
			w.Expect(code).To(Equal(http.StatusServiceUnavailable), raw)

			_, err = w.hub.EnsureInfraEnv(t.Context(), service.InfraEnvSpec{ID: w.host.InfraEnvID, Name: "edge"})
			w.Expect(err).NotTo(HaveOccurred())
			code, raw = w.hub.Agent(token).Do(t, http.MethodPut, host+"/progress", wire.HostProgress{CurrentStage: wire.HostStageInstalling}, nil)
			w.Expect(code).To(Equal(http.StatusServiceUnavailable), raw)
			code, steps, raw := poll()
			if stays {
				w.Expect(code).To(Equal(http.StatusServiceUnavailable), raw)
				w.Expect(raw).To(ContainSubstring("it is not installed again"))
				return
			}
			w.Expect(code).To(Equal(http.StatusOK), raw)
			w.Expect(steps).To(And(HaveField("PostStepAction", HaveValue(Equal(wire.StepsPostStepActionExit))), HaveField("Instructions", BeEmpty())))
			code, raw = w.hub.Agent(token).Do(t, http.MethodPost, "/infra-envs/"+w.host.InfraEnvID+"/hosts", params, nil)
			w.Expect(code).To(Equal(http.StatusCreated), raw)
			code, steps, raw = poll()
			w.Expect(code).To(Equal(http.StatusOK), raw)
			w.Expect(steps.Instructions).NotTo(BeEmpty())
		})
	}
}

// TestWhatSomebodyHasRemovedIsNotWaitedFor: what has no object any more is not there, and whoever asks is told so.
func TestWhatSomebodyHasRemovedIsNotWaitedFor(t *testing.T) {
	w := newWorld(t, service.InfraEnvSpec{})
	w.register(testhub.Inventory(1))
	token, err := w.hub.AgentToken(t.Context(), w.host.InfraEnvID)
	w.Expect(err).NotTo(HaveOccurred())
	w.lostWithItsKeys()
	host := "/infra-envs/" + w.host.InfraEnvID + "/hosts/" + w.host.HostID
	_, err = w.hub.EnsureInfraEnv(t.Context(), service.InfraEnvSpec{ID: w.host.InfraEnvID, Name: "edge"})
	w.Expect(err).NotTo(HaveOccurred())
	w.change(func(a *agentv1.Agent) { a.Finalizers = nil })
	w.Expect(w.kube.Delete(t.Context(), w.agent())).To(Succeed())
	code, raw := w.hub.Agent(token).Do(t, http.MethodGet, host+"/instructions", nil, nil)
	w.Expect(code).To(Equal(http.StatusNotFound), raw)
	w.Expect(w.hub.DeleteInfraEnv(t.Context(), w.host.InfraEnvID)).To(Succeed())
	code, raw = w.hub.Agent(token).Do(t, http.MethodGet, host+"/instructions", nil, nil)
	w.Expect(code).To(Equal(http.StatusServiceUnavailable), raw+": the InfraEnv is there")
	w.Expect(w.kube.Delete(t.Context(), w.env)).To(Succeed())
	code, raw = w.hub.Agent(token).Do(t, http.MethodGet, host+"/instructions", nil, nil)
	w.Expect(code).To(Equal(http.StatusUnauthorized), raw)
}

// TestTheProgramInsideAClusterOutlivesTheStore: it goes for ever at the first 404.
func TestTheProgramInsideAClusterOutlivesTheStore(t *testing.T) {
	w := newWorld(t, service.InfraEnvSpec{})
	w.ensureCluster()
	key, err := auth.LoadKey(filepath.Join(w.hub.Dir, "token.key"))
	w.Expect(err).NotTo(HaveOccurred())
	token, err := key.ClusterToken(auth.ClusterClaims{ClusterID: hubid.Cluster(w.cd)})
	w.Expect(err).NotTo(HaveOccurred())
	read := func() int {
		code, _ := w.hub.Agent(token).Do(t, http.MethodGet, "/clusters/"+hubid.Cluster(w.cd), nil, nil)
		return code
	}
	w.Expect(read()).To(Equal(http.StatusOK))
	w.lostWithItsKeys()
	w.Expect(read()).To(Equal(http.StatusServiceUnavailable))
	w.ensureCluster()
	w.Expect(read()).To(Equal(http.StatusOK))
	w.Expect(w.hub.DeleteCluster(t.Context(), hubid.Cluster(w.cd))).To(Succeed())
	w.Expect(w.kube.Delete(t.Context(), w.cd)).To(Succeed())
	w.Expect(read()).To(Equal(http.StatusNotFound))
}
