package credentials_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/credentials/reason"
	"github.com/ironflow/ironflow/bmc/credentials/rotation"
)

// TestAChange is the way without trouble: what happens in which order.
func TestAChange(t *testing.T) {
	w := newWorld(t, 1)
	old := w.password
	wait := w.run()
	w.g.Expect(wait.Condition.Reason).To(gomega.Equal(reason.Current), wait.Condition.Message)
	w.g.Expect(w.password).NotTo(gomega.Equal(old))
	w.g.Expect(w.stored()).To(gomega.HaveEach(w.password), "the old one is dropped")
	w.g.Expect([]string{string(w.secret.Password), w.told, w.proven}).To(gomega.HaveEach(w.password))
	w.g.Expect(w.wrong).To(gomega.BeZero())
	w.g.Expect(w.done).To(gomega.Equal([]string{
		"account", "record", "record", "set", "record", "record", "login", "record", "record", "promote", "record", "tell", "record", "prove", "record",
	}), "stored before it is sent, proven before it is promoted, promoted before Ironic is told")
	w.tellsNothing()

	w.g.Expect(w.run().Condition.Reason).To(gomega.Equal(reason.Current))
	w.g.Expect(w.received).To(gomega.HaveLen(1), "the same request is served once")
	w.observed.Request = "2"
	w.run()
	w.g.Expect(w.received).To(gomega.HaveLen(2), "another value is another request")
}

// effectsOfAChange is how many things a program does for one.
func effectsOfAChange(t *testing.T) int {
	w := newWorld(t, 1)
	w.run()
	return w.effects
}

// TestKilledAtEachStep kills the program before and after each thing that it does: the
// next one always brings the change to its end.
func TestKilledAtEachStep(t *testing.T) {
	for at := 1; at <= effectsOfAChange(t); at++ {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("effect %d after %t", at, after), func(t *testing.T) {
				w := newWorld(t, 1)
				old := w.password
				w.killAt, w.killAfter = at, after
				wait := w.run()
				w.g.Expect(wait.Condition.Reason).To(gomega.Equal(reason.Current), "%s: %v", wait.Condition.Message, w.done)
				w.g.Expect(w.password).NotTo(gomega.Equal(old))
				w.g.Expect(w.stored()).To(gomega.HaveEach(w.password))
				w.g.Expect(w.proven).To(gomega.Equal(w.password))
				w.g.Expect(w.wrong).To(gomega.BeNumerically("<=", 1), "%v", w.done)
				w.tellsNothing()
			})
		}
	}
}

// TestKilledAtEachStepWhileThingsGoWrong does it 50 times each with random failures of
// the BMC, of the cluster's writes and of Ironic. The promises of [world.check] are
// held at every moment; in the end there is no quarantine, since nobody else has
// changed anything, and the host's Secret has what the BMC has.
func TestKilledAtEachStepWhileThingsGoWrong(t *testing.T) {
	rounds := 50
	if testing.Short() {
		rounds = 10
	}
	outcomes := map[reason.Reason]int{}
	worst := 0
	for at := 1; at <= effectsOfAChange(t)+6; at++ {
		for round := range rounds {
			w := newWorld(t, uint64(at*1000+round))
			w.killAt, w.killAfter = at, round%2 == 0
			w.faults, w.chance = 1+round%6, 0.4
			wait := w.run()
			why := fmt.Sprintf("killed at %d, round %d, %s: %s: %v", at, round, wait.Condition.Reason, wait.Condition.Message, w.done)
			w.g.Expect(w.phase()).To(gomega.Equal(rotation.Rested), why)
			w.g.Expect(string(w.secret.Password)).To(gomega.Equal(w.password), why)
			w.g.Expect(w.told).To(gomega.Equal(w.password), why)
			w.tellsNothing()
			outcomes[wait.Condition.Reason]++
			worst = max(worst, w.wrong)
		}
	}
	t.Logf("outcomes: %v; most wrong logins in a round: %d", outcomes, worst)
	gomega.NewWithT(t).Expect(outcomes[reason.Current]).To(gomega.BeNumerically(">", outcomes[reason.Refused]+outcomes[reason.NotKept]),
		"most come to their end in spite of all")
}

// TestSomebodyChangesThingsMeanwhile changes the BMC's password, the Secret, or both, at
// a random moment of a change with a kill and failures. Either the Secret works in the
// end, or the host is in quarantine, where nobody logs in any more; and once somebody
// puts the right password into the Secret, the host is well again.
func TestSomebodyChangesThingsMeanwhile(t *testing.T) {
	const rounds = 400
	quarantined := 0
	for round := range rounds {
		w := newWorld(t, uint64(round))
		w.killAt, w.killAfter = 1+round%23, round%2 == 0
		w.faults, w.chance = round%4, 0.3
		moment, foreign := 1+w.random.IntN(15), fmt.Sprintf("Foreign-%d-word", round)
		w.ever = append(w.ever, foreign)
		w.outside = true
		midway := false // the Secret was changed while a change of ours was under way
		w.intrude = func() {
			if w.effects != moment {
				return
			}
			if round%3 != 0 {
				w.password, w.pending = foreign, ""
			}
			if round%3 != 1 {
				midway = w.phase() != rotation.Rested
				w.secret.Password, w.secretVersion = client.Secret(foreign), w.secretVersion+1
			}
		}
		wait := w.run()
		why := fmt.Sprintf("round %d: %s: %s: %v", round, wait.Condition.Reason, wait.Condition.Message, w.done)
		w.tellsNothing()
		if midway {
			w.g.Expect(string(w.secret.Password)).To(gomega.Equal(foreign), "what a user writes is never written over; %s", why)
		}
		if w.phase() == rotation.Rested && wait.Condition.Reason != reason.Reverted {
			w.g.Expect(string(w.secret.Password) == w.password || wait.Condition.Reason == reason.Current).To(gomega.BeTrue(), why)
			continue
		}
		quarantined++
		w.g.Expect(w.phase()).To(gomega.Equal(rotation.Quarantined), why)
		w.g.Expect(wait.Condition.Reason).To(gomega.BeElementOf(reason.NeitherHolds, reason.SecretChanged), why)
		w.g.Expect(wait.For).To(gomega.BeZero(), "it waits for somebody")
		before := w.logins
		for range 20 {
			w.pass(24 * time.Hour)
			w.run()
		}
		w.g.Expect(w.logins).To(gomega.Equal(before), "nobody logs in; %s", why)
		w.faults = 0
		w.secret.Password, w.secretVersion = client.Secret(w.password), w.secretVersion+1
		wait = w.run()
		w.g.Expect(w.phase()).To(gomega.Equal(rotation.Rested), "%s; then %s", why, wait.Condition.Message)
		w.g.Expect(string(w.secret.Password)).To(gomega.Equal(w.password), why)
	}
	t.Logf("%d of %d rounds ended in quarantine", quarantined, rounds)
	gomega.NewWithT(t).Expect(quarantined).To(gomega.BeNumerically(">", rounds/10))
}
