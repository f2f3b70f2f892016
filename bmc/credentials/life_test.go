package credentials_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/credentials"
	"github.com/ironflow/ironflow/bmc/credentials/reason"
	"github.com/ironflow/ironflow/bmc/credentials/rotation"
)

// give puts a password into the host's Secret, as a user does.
func (w *world) give(password string) {
	w.secret.Password, w.secretVersion = client.Secret(password), w.secretVersion+1
	w.ever = append(w.ever, password)
}

// mayLogin is what others of us are told.
func (w *world) mayLogin() bool {
	r, err := rotation.Decode(w.record)
	w.g.Expect(err).NotTo(gomega.HaveOccurred())
	_, may := rotation.MayLogin(r, w.secret)
	return may
}

// silent holds that time alone makes nobody log in.
func (w *world) silent() {
	w.t.Helper()
	before := w.logins
	for range 30 {
		w.pass(24 * time.Hour)
		w.run()
	}
	w.g.Expect(w.logins).To(gomega.Equal(before))
}

// TestTheFormerPasswordComesBack: a repository or a backup that nobody knew of writes
// the old password over the new one. Nobody logs in with it, the copy that works is
// there, and all is well once it was copied back.
func TestTheFormerPasswordComesBack(t *testing.T) {
	w := newWorld(t, 1)
	old := w.password
	w.run()
	logins := w.logins
	w.give(old)
	wait := w.run()
	w.g.Expect(wait.Condition.Reason).To(gomega.Equal(reason.Reverted))
	w.g.Expect(wait.Condition.Message).To(gomega.And(gomega.ContainSubstring("key current of the Secret host-1-bmc-rotation"), gomega.ContainSubstring("host-1-bmc")))
	w.g.Expect(w.logins).To(gomega.Equal(logins))
	w.g.Expect(w.mayLogin()).To(gomega.BeFalse())
	w.g.Expect(string(w.record["current"])).To(gomega.Equal(w.password))
	w.silent()
	w.give(string(w.record["current"]))
	w.g.Expect(w.run().Condition.Reason).To(gomega.Equal(reason.Current))
	w.g.Expect(w.mayLogin()).To(gomega.BeTrue())
	w.tellsNothing()
}

// TestTheBMCIsSetBackToo: the former password is right again, because somebody has set
// the BMC back as well. The annotation has it found out.
func TestTheBMCIsSetBackToo(t *testing.T) {
	w := newWorld(t, 1)
	old := w.password
	w.run()
	w.outside = true
	w.password = old
	w.give(old)
	w.g.Expect(w.run().Condition.Reason).To(gomega.Equal(reason.Reverted))
	w.observed.Retry = "now"
	w.g.Expect(w.run().Condition.Reason).To(gomega.Equal(reason.Current))
	w.g.Expect(w.stored()).To(gomega.HaveEach(old))
}

// TestAUserChangesThePassword at the BMC and in the Secret, at rest: one login proves
// it, and our copy of the other one is dropped.
func TestAUserChangesThePassword(t *testing.T) {
	w := newWorld(t, 1)
	w.run()
	w.outside = true
	w.password = "Users-own-word"
	w.give(w.password)
	logins := w.logins
	w.g.Expect(w.mayLogin()).To(gomega.BeFalse(), "until it is proven")
	w.g.Expect(w.run().Condition.Reason).To(gomega.Equal(reason.Current))
	w.g.Expect(w.logins).To(gomega.Equal(logins + 1))
	w.g.Expect(w.stored()).To(gomega.HaveEach(w.password))
	w.g.Expect(w.mayLogin()).To(gomega.BeTrue())
}

// TestAUserMistypesThePassword: the copy of the one that works stays, and is named.
func TestAUserMistypesThePassword(t *testing.T) {
	w := newWorld(t, 1)
	w.run()
	w.give("mistyped")
	wait := w.run()
	w.g.Expect(wait.Condition.Reason).To(gomega.Equal(reason.SecretChanged))
	w.g.Expect(wait.Condition.Message).To(gomega.ContainSubstring("key current of the Secret host-1-bmc-rotation"))
	w.g.Expect(w.wrong).To(gomega.Equal(1))
	w.silent()
	w.g.Expect(w.mayLogin()).To(gomega.BeFalse())
	w.give(string(w.record["current"]))
	w.g.Expect(w.run().Condition.Reason).To(gomega.Equal(reason.Current))
	w.g.Expect(w.wrong).To(gomega.Equal(1))
	w.tellsNothing()
}

// TestQuarantineAndTheWaysOut: somebody has changed the password at the BMC alone.
func TestQuarantineAndTheWaysOut(t *testing.T) {
	quarantined := func(t *testing.T) (w *world, old string) {
		w = newWorld(t, 1)
		old, w.outside = w.password, true
		w.password = "somebody-elses"
		w.ever = append(w.ever, w.password)
		wait := w.run()
		w.g.Expect(wait.Condition.Reason).To(gomega.Equal(reason.NeitherHolds))
		w.g.Expect(wait.Condition.Message).To(gomega.And(gomega.ContainSubstring("host-1-bmc"), gomega.ContainSubstring("ironflow.io/retry")))
		w.g.Expect(w.wrong).To(gomega.BeNumerically("<=", 2))
		w.g.Expect(w.mayLogin()).To(gomega.BeFalse())
		w.silent()
		w.g.Expect(w.gate.Inside()).To(gomega.BeZero(), "nobody waits for a host in quarantine")
		w.tellsNothing()
		return w, old
	}
	t.Run("the right password in the Secret", func(t *testing.T) {
		w, _ := quarantined(t)
		w.give(w.password)
		w.g.Expect(w.run().Condition.Reason).To(gomega.Equal(reason.Current))
		w.g.Expect(w.mayLogin()).To(gomega.BeTrue())
	})
	t.Run("another wrong password in the Secret", func(t *testing.T) {
		w, _ := quarantined(t)
		wrong := w.wrong
		w.give("wrong-again")
		w.g.Expect(w.phase()).To(gomega.Equal(rotation.Quarantined))
		w.run()
		w.g.Expect(w.phase()).To(gomega.Equal(rotation.Quarantined))
		w.g.Expect(w.wrong).To(gomega.Equal(wrong+1), "one login for one change")
		w.silent()
	})
	t.Run("the BMC set back to the Secret's, and the annotation", func(t *testing.T) {
		w, old := quarantined(t)
		w.password = old
		w.silent()
		w.observed.Retry = "2026-03-01"
		wait := w.run()
		w.g.Expect(wait.Condition.Reason).To(gomega.Equal(reason.Current), wait.Condition.Message)
		w.g.Expect(string(w.secret.Password)).To(gomega.Equal(w.password))
		w.g.Expect(w.password).NotTo(gomega.Equal(old), "what was asked for is done after all")
	})
}

// TestABMCThatRefusesRightCredentialsNowAndThen: five refusals make a wrong password
// there, not one.
func TestABMCThatRefusesRightCredentialsNowAndThen(t *testing.T) {
	for seed := range uint64(30) {
		w := newWorld(t, seed)
		w.threshold = 1000
		w.observed.Limits.Refusals, w.observed.Limits.Wrong = 5, 12
		w.sporadic = 0.4
		wait := w.run()
		w.g.Expect(wait.Condition.Reason).To(gomega.Equal(reason.Current), "%s %v", wait.Condition.Message, w.done)
		w.g.Expect(string(w.secret.Password)).To(gomega.Equal(w.password))
		w.g.Expect(w.received).To(gomega.HaveLen(1))
	}
}

// TestABMCThatRefusesEveryPassword: three are tried, the old one stays, and the BMC's
// words are told. The next try is a day later, or on request.
func TestABMCThatRefusesEveryPassword(t *testing.T) {
	w := newWorld(t, 1)
	old := w.password
	w.observed.Request, w.observed.Every = "", 30*24*time.Hour
	w.faults, w.chance = 1000, 1
	w.only = refused
	wait := w.run()
	w.g.Expect(wait.Condition.Reason).To(gomega.Equal(reason.Refused))
	w.g.Expect(wait.Condition.Message).To(gomega.ContainSubstring("of a different format"))
	w.g.Expect(wait.For).To(gomega.BeNumerically("~", 24*time.Hour, time.Hour))
	w.g.Expect(w.received).To(gomega.HaveLen(3))
	w.g.Expect(w.password).To(gomega.Equal(old))
	w.g.Expect(w.wrong).To(gomega.BeZero())
	w.tellsNothing()
	w.pass(wait.For)
	w.faults = 0
	w.g.Expect(w.run().Condition.Reason).To(gomega.Equal(reason.Current))
	w.g.Expect(w.received).To(gomega.HaveLen(4))
}

// TestAChangeThatComesTrueAfterItWasGivenUp: nobody can know of it, but the password is
// there. Copied to the host's Secret, it is taken over.
func TestAChangeThatComesTrueAfterItWasGivenUp(t *testing.T) {
	w := newWorld(t, 1)
	old := w.password
	w.faults, w.chance, w.only, w.lateBy = 100, 1, late, 3*time.Hour
	wait := w.run()
	w.g.Expect(wait.Condition.Reason).To(gomega.Equal(reason.NotKept), wait.Condition.Message)
	w.g.Expect(w.password).To(gomega.Equal(old))
	w.faults = 0
	w.pass(4 * time.Hour)
	w.g.Expect(w.password).NotTo(gomega.Equal(old))
	w.g.Expect(string(w.record["earlier-1"])).To(gomega.Equal(w.password))
	w.give(w.password)
	w.g.Expect(w.run().Condition.Reason).To(gomega.Equal(reason.Current))
	w.g.Expect(w.mayLogin()).To(gomega.BeTrue())
}

// TestAnEarlierPasswordComesTrue while the next one is being sent: it is found, at once
// where the lock-out allows for another login, else when a person asks.
func TestAnEarlierPasswordComesTrue(t *testing.T) {
	for wrong, end := range map[int]reason.Reason{4: reason.Current, 2: reason.NeitherHolds} {
		t.Run(fmt.Sprint(wrong, " wrong logins allowed"), func(t *testing.T) {
			w := newWorld(t, 1)
			w.observed.Limits.Wrong = wrong
			w.faults, w.chance, w.only, w.lateBy = 1, 1, late, 160*time.Second
			w.skip = 3
			wait := w.run()
			w.g.Expect(wait.Condition.Reason).To(gomega.Equal(end), "%s %v", wait.Condition.Message, w.done)
			if end == reason.NeitherHolds {
				w.g.Expect(wait.Condition.Message).To(gomega.ContainSubstring("earlier-1"))
				w.silent()
				w.observed.Retry = "1"
				w.g.Expect(w.run().Condition.Reason).To(gomega.Equal(reason.Current))
			}
			w.g.Expect(w.received).To(gomega.HaveLen(1), "the second one was refused with the old password")
			w.g.Expect(w.received).To(gomega.HaveKey(w.password))
			w.g.Expect(string(w.secret.Password)).To(gomega.Equal(w.password))
			w.g.Expect(w.proven).To(gomega.Equal(w.password))
		})
	}
}

// TestNothingIsSentWhileTheHostIsAtWork: a password that was stored waits, and one that
// may have been set is found out about all the same.
func TestNothingIsSentWhileTheHostIsAtWork(t *testing.T) {
	w := newWorld(t, 1)
	w.intrude = func() {
		if w.phase() == rotation.Staged {
			w.observed.AtRest = false
		}
	}
	w.killAt, w.killAfter = 2, true // the note of the new password
	w.observed.AtRest = true
	wait := w.run()
	w.g.Expect(wait.Condition.Reason).To(gomega.Equal(reason.NotAtRest))
	w.g.Expect(w.received).To(gomega.BeEmpty())
	w.intrude = nil
	w.observed.AtRest = true
	w.killAt, w.killAfter = w.effects+2, true // the request itself
	r := w.program()
	_, err := r.Pass(t.Context(), w.observed)
	w.g.Expect(err).To(gomega.HaveOccurred())
	w.observed.AtRest = false
	w.g.Expect(w.run().Condition.Reason).To(gomega.Equal(reason.Current))
	w.g.Expect(string(w.secret.Password)).To(gomega.Equal(w.password))
}

// TestIronicStaysAway: both Secrets have the password that works, and it is told why the
// change is not over. It goes on when Ironic is back.
func TestIronicStaysAway(t *testing.T) {
	w := newWorld(t, 1)
	w.faults, w.chance, w.only = 40, 1, ironicDown
	r := w.program()
	seen := map[reason.Reason]bool{}
	for range 12 {
		wait, err := r.Pass(t.Context(), w.observed)
		w.g.Expect(err).NotTo(gomega.HaveOccurred())
		seen[wait.Condition.Reason] = true
		w.g.Expect(wait.For).To(gomega.BeNumerically("<=", 2*time.Minute), "Ironic may be trying the password before meanwhile")
		w.pass(wait.For)
	}
	w.g.Expect(seen).To(gomega.HaveKey(reason.IronicFails))
	w.g.Expect(string(w.secret.Password)).To(gomega.Equal(w.password))
	w.g.Expect(w.mayLogin()).To(gomega.BeTrue())
	w.faults = 0
	w.g.Expect(w.run().Condition.Reason).To(gomega.Equal(reason.Current))
	w.g.Expect(w.proven).To(gomega.Equal(w.password))
}

// TestAHostWithoutANode has nobody to be told.
func TestAHostWithoutANode(t *testing.T) {
	w := newWorld(t, 1)
	r := w.program()
	r.Node = noNode{}
	for w.received == nil || w.phase() != rotation.Rested || len(w.received) == 0 {
		wait, err := r.Pass(t.Context(), w.observed)
		w.g.Expect(err).NotTo(gomega.HaveOccurred())
		w.pass(wait.For)
	}
	w.g.Expect(string(w.secret.Password)).To(gomega.Equal(w.password))
}

type noNode struct{}

func (noNode) Tell(context.Context, rotation.Login) error { return credentials.ErrNoNode }
func (noNode) Prove(context.Context) (rotation.Verdict, error) {
	return rotation.Unsure, credentials.ErrNoNode
}

// TestAProgramThatIsStoppedDoesNotCutAChangeOff: the request is ended and its answer
// noted, though the pass was cancelled in the middle of it.
func TestAProgramThatIsStoppedDoesNotCutAChangeOff(t *testing.T) {
	w := newWorld(t, 1)
	ctx, stop := context.WithCancel(t.Context())
	w.intrude = func() {
		if w.phase() == rotation.Setting {
			stop()
		}
	}
	_, err := w.program().Pass(ctx, w.observed)
	w.g.Expect(err).To(gomega.MatchError(context.Canceled))
	w.g.Expect(w.phase()).To(gomega.Equal(rotation.Finding))
	w.g.Expect(w.received).To(gomega.HaveLen(1))
	w.g.Expect(w.run().Condition.Reason).To(gomega.Equal(reason.Current))
	w.g.Expect(w.wrong).To(gomega.BeZero())
}

// TestTheGate bounds how many begin, keeps a BMC to one owner, and lets go on what has
// begun.
func TestTheGate(t *testing.T) {
	g := gomega.NewWithT(t)
	gate := &credentials.Gate{Most: 3}
	var wait sync.WaitGroup
	var mu sync.Mutex
	in := 0
	for i := range 50 {
		wait.Go(func() {
			if gate.Enter(fmt.Sprint("bmc-", i), "a", false) {
				mu.Lock()
				in++
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	g.Expect(in).To(gomega.Equal(3))
	g.Expect(gate.Enter("bmc-99", "a", false)).To(gomega.BeFalse())
	g.Expect(gate.Enter("bmc-99", "a", true)).To(gomega.BeTrue(), "it was under way when the program ended")
	g.Expect(gate.Enter("bmc-99", "a", false)).To(gomega.BeTrue(), "it is inside")
	g.Expect(gate.Enter("bmc-99", "b", true)).To(gomega.BeFalse(), "one at a time for a BMC")
	gate.Leave("bmc-99", "b")
	g.Expect(gate.Inside()).To(gomega.Equal(4))
	gate.Leave("bmc-99", "a")
	g.Expect(gate.Inside()).To(gomega.Equal(3))
	g.Expect((&credentials.Gate{}).Enter("bmc", "a", false)).To(gomega.BeFalse())
}

// TestAsManyAtOnceAsMayBe runs a fleet that is asked at once.
func TestAsManyAtOnceAsMayBe(t *testing.T) {
	g := gomega.NewWithT(t)
	gate := &credentials.Gate{Most: 2}
	var fleet []*world
	var programs []*credentials.Rotator
	for i := range 6 {
		w := newWorld(t, uint64(i))
		w.gate = gate
		w.observed.Host = fmt.Sprintf("metal3/host-%d", i)
		r := w.program()
		r.Address = fmt.Sprint("bmc-", i)
		fleet, programs = append(fleet, w), append(programs, r)
	}
	most, rounds := 0, 0
	for done := 0; done < len(fleet); rounds++ {
		g.Expect(rounds).To(gomega.BeNumerically("<", 100))
		done = 0
		for i, w := range fleet {
			wait, err := programs[i].Pass(t.Context(), w.observed)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			under := 0
			for _, other := range fleet {
				if other.phase() != rotation.Rested {
					under++
				}
			}
			most = max(most, under)
			if len(w.received) == 1 && w.phase() == rotation.Rested {
				done++
			}
			w.pass(wait.For)
		}
	}
	g.Expect(most).To(gomega.Equal(2))
}
