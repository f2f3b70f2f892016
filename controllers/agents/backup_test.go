package agents

import (
	"bytes"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/hub/backup"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// place is where a hub has its records.
func place(dir string) backup.Options {
	return backup.Options{DataDir: dir, Place: store.Place{SQLite: filepath.Join(dir, "hub.sqlite")}}
}

// TestAnOlderBackupInstallsNothing: a host was installed since the backup, which has a record of when it was not. Nobody orders
// anything by that record before its Agent was heard, and what that says is what the host is.
func TestAnOlderBackupInstallsNothing(t *testing.T) {
	for seen, now := range map[string]string{
		wire.HostStatusInstalled:            wire.HostStatusInstalled,
		wire.HostStatusInstallingInProgress: wire.HostStatusError,
		wire.HostStatusError:                wire.HostStatusError,
		wire.HostStatusInsufficient:         wire.HostStatusPreparingForInstallation, // it goes on from the backup
	} {
		t.Run(seen, func(t *testing.T) {
			w := newWorld(t, service.InfraEnvSpec{SingleHost: true})
			w.register(testhub.Inventory(1))
			w.pass()
			_, record := w.view()
			w.Expect(record.Status).To(Equal(wire.HostStatusKnown), record.StatusInfo)
			var copied bytes.Buffer
			_, err := backup.Write(t.Context(), place(w.hub.Dir), time.Now(), &copied)
			w.Expect(err).NotTo(HaveOccurred())
			agent := w.agent()
			agent.Status.DebugInfo.State = seen
			w.Expect(w.kube.Status().Update(t.Context(), agent)).To(Succeed())
			w.change(func(a *agentv1.Agent) { a.Spec.Approved = true })

			dir := filepath.Join(t.TempDir(), "restored")
			_, err = backup.Restore(t.Context(), place(dir), bytes.NewReader(copied.Bytes()))
			w.Expect(err).NotTo(HaveOccurred())
			w.hub = testhub.Start(t, testhub.Options{Dir: dir})
			w.r, w.feed.hub = newReconciler(w.kube, w.hub), w.hub
			w.hub.AskMemory(Memory{w.kube})
			if seen != wire.HostStatusInsufficient {
				code, answer := w.boots()
				w.Expect(code).To(Equal(http.StatusServiceUnavailable), answer)
			}
			for range 2 {
				w.pass()
			}
			_, record = w.view()
			w.Expect(record.Status).To(Equal(now), record.StatusInfo)
			w.Expect(w.agent().Status.DebugInfo.State).To(Equal(now))
			w.Expect(w.condition(agentv1.ConditionSpecSynced).Reason).To(Equal(agentv1.ReasonSyncOK), w.condition(agentv1.ConditionSpecSynced).Message)
			if now == wire.HostStatusInstalled {
				code, answer := w.boots()
				w.Expect(code).To(Equal(http.StatusConflict), answer)
			}
		})
	}
}

// TestTheAgentOfAnOlderBackupIsStillHeard: since the backup, the host has booted another image, and goes on with the token in
// that. The record of the backup knows the image from before, with which nobody speaks any more.
func TestTheAgentOfAnOlderBackupIsStillHeard(t *testing.T) {
	machine := testhub.Inventory(1).Interfaces[0].MACAddress
	for name, tc := range map[string]struct{ before, since, noted string }{
		"that of its machine": {"", machine, machine},
		"that of all hosts":   {machine, "", names.ImageOfAll},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, service.InfraEnvSpec{})
			agent := func(image string) *testhub.Caller {
				token, err := w.hub.MachineToken(t.Context(), w.host.InfraEnvID, image)
				w.Expect(err).NotTo(HaveOccurred())
				return w.hub.Agent(token)
			}
			agent(tc.before).Register(t, w.host)
			agent(tc.before).Answer(t, w.host, wire.Step{StepType: wire.StepTypeInventory}, testhub.Inventory(1))
			w.feed.host(t.Context(), w.host)
			<-w.woken
			w.pass()
			var copied bytes.Buffer
			_, err := backup.Write(t.Context(), place(w.hub.Dir), time.Now(), &copied)
			w.Expect(err).NotTo(HaveOccurred())
			w.Expect(w.hub.DeleteHost(t.Context(), w.host)).To(Succeed())
			agent(tc.since).Register(t, w.host)
			w.pass()
			object := w.agent()
			object.Status.DebugInfo.State = wire.HostStatusInstallingInProgress
			w.Expect(w.kube.Status().Update(t.Context(), object)).To(Succeed())

			dir := filepath.Join(t.TempDir(), "restored")
			_, err = backup.Restore(t.Context(), place(dir), bytes.NewReader(copied.Bytes()))
			w.Expect(err).NotTo(HaveOccurred())
			w.hub = testhub.Start(t, testhub.Options{Dir: dir})
			w.r = newReconciler(w.kube, w.hub)
			w.pass()
			_, record := w.view()
			w.Expect(record.Status).To(Equal(wire.HostStatusError))
			w.Expect(w.agent().Annotations).To(HaveKeyWithValue(names.ImageOf, tc.noted))
			w.Expect(agent(tc.since).Poll(t, w.host).Instructions).To(ContainElement(HaveField("StepType", wire.StepTypeStopInstallation)))
		})
	}
}
