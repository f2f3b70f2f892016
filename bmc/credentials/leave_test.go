package credentials_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/bmc/credentials"
	"github.com/ironflow/ironflow/bmc/credentials/reason"
	"github.com/ironflow/ironflow/bmc/credentials/rotation"
)

// reach lets a program work until the record has a phase, and ends it there.
func (w *world) reach(phase rotation.Phase) {
	w.t.Helper()
	ctx, stop := context.WithCancel(w.t.Context())
	w.intrude = func() {
		if w.phase() == phase {
			stop()
		}
	}
	r := w.program()
	for range 20 {
		wait, err := r.Pass(ctx, w.observed)
		if err != nil {
			w.g.Expect(err).To(gomega.MatchError(context.Canceled))
			break
		}
		w.pass(wait.For)
	}
	w.intrude = nil
	w.g.Expect(ctx.Err()).To(gomega.HaveOccurred(), "never %s: %v", phase, w.done)
}

// TestAHostIsDeletedInTheMiddle: what was not sent is given up, and what may have been
// is brought to its end, with the host's Secret right in the end. Nothing is begun.
func TestAHostIsDeletedInTheMiddle(t *testing.T) {
	for _, phase := range []rotation.Phase{rotation.Staged, rotation.Setting, rotation.Finding, rotation.Promoting, rotation.Telling, rotation.Checking} {
		t.Run(string(phase), func(t *testing.T) {
			w := newWorld(t, 1)
			old := w.password
			w.reach(phase)
			r, err := rotation.Decode(w.record)
			w.g.Expect(err).NotTo(gomega.HaveOccurred())
			w.g.Expect(r.Needed(rotation.Secret{Found: true, Login: w.secret})).To(gomega.BeTrue(), "the record must not go with the host now")
			w.observed.Leaving, w.observed.AtRest = true, false
			w.run()
			w.g.Expect(w.phase()).To(gomega.Equal(rotation.Rested))
			w.g.Expect(string(w.secret.Password)).To(gomega.Equal(w.password))
			w.g.Expect(w.password == old).To(gomega.Equal(phase == rotation.Staged), "%v", w.done)
			r, err = rotation.Decode(w.record)
			w.g.Expect(err).NotTo(gomega.HaveOccurred())
			w.g.Expect(r.Needed(rotation.Secret{Found: true, Login: w.secret})).To(gomega.BeFalse())
			effects := w.effects
			w.observed.Request = "2"
			w.run()
			w.g.Expect(w.effects).To(gomega.Equal(effects), "nothing is begun")
		})
	}
}

// TestAHostIsGivenAnotherBMCInTheMiddle: nothing reaches the other one, since its
// account at the same path may be somebody else's. With the address put back, or with
// the word of a person that it is the same BMC, the change goes on.
func TestAHostIsGivenAnotherBMCInTheMiddle(t *testing.T) {
	first := rotation.Place{Address: "redfish://192.0.2.1/redfish/v1/Systems/1", Base: "https://192.0.2.1"}
	second := rotation.Place{Address: "redfish://192.0.2.2", Base: "https://192.0.2.2"}
	for _, phase := range []rotation.Phase{rotation.Staged, rotation.Setting, rotation.Finding, rotation.Promoting} {
		for name, mend := range map[string]func(w *world){
			"put back": func(w *world) { w.observed.BMC = first },
			"the same": func(w *world) { w.observed.Retry = "2" },
		} {
			t.Run(fmt.Sprint(phase, " ", name), func(t *testing.T) {
				w := newWorld(t, 1)
				w.observed.BMC, w.observed.Retry = first, "1"
				w.reach(phase)
				w.observed.BMC = second
				if phase == rotation.Staged {
					w.g.Expect(w.run().Condition.Reason).To(gomega.Equal(reason.Current), "nothing was sent: the change is made at the new one")
					return
				}
				logins, sent := w.logins, len(w.received)
				wait := w.run()
				w.g.Expect(wait.Condition.Reason).To(gomega.Equal(reason.AnotherBMC), wait.Condition.Message)
				w.g.Expect(wait.Condition.Message).To(gomega.And(gomega.ContainSubstring(first.Address), gomega.ContainSubstring(names.Retry), gomega.ContainSubstring("host-1-bmc-rotation")))
				w.silent()
				w.g.Expect([]int{w.logins, len(w.received)}).To(gomega.Equal([]int{logins, sent}))
				mend(w)
				wait = w.run()
				w.g.Expect(wait.Condition.Reason).To(gomega.Equal(reason.Current), wait.Condition.Message)
				w.g.Expect(string(w.secret.Password)).To(gomega.Equal(w.password))
			})
		}
	}
}

// TestASecretIsSharedInTheMiddle: another host has come to use it, so that it may hold
// the only copy of that host's password. It is not written over, and ours is named.
func TestASecretIsSharedInTheMiddle(t *testing.T) {
	for name, c := range map[string]struct {
		change, mend func(w *world)
		reason       reason.Reason
	}{
		"shared": {func(w *world) { w.observed.Sharers = []string{"host-2"} }, func(w *world) { w.observed.Sharers = nil }, reason.SharedSecret},
		"immutable": {
			func(w *world) { w.immutable = true }, func(w *world) { w.immutable = false }, reason.ImmutableSecret,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 1)
			w.reach(rotation.Promoting)
			before := w.secret
			c.change(w)
			wait := w.run()
			w.g.Expect(wait.Condition.Reason).To(gomega.Equal(c.reason), wait.Condition.Message)
			w.g.Expect(wait.Condition.Message).To(gomega.And(gomega.ContainSubstring("key next"), gomega.ContainSubstring("host-1-bmc-rotation")))
			w.g.Expect(w.secret).To(gomega.Equal(before))
			w.tellsNothing()
			c.mend(w)
			w.g.Expect(w.run().Condition.Reason).To(gomega.Equal(reason.Current))
			w.g.Expect(string(w.secret.Password)).To(gomega.Equal(w.password))
		})
	}
}

// TestAChangeThatWaitsLetsOthersIn: a BMC that has gone away in the middle of a change,
// and a host that is at work, hold no place among those that run at once.
func TestAChangeThatWaitsLetsOthersIn(t *testing.T) {
	for name, stuck := range map[string]func(w *world){
		"a BMC that is away": func(w *world) { w.faults, w.chance, w.only = 1000, 1, cutBefore },
		"a host at work":     func(w *world) { w.observed.AtRest = false },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 1)
			w.reach(rotation.Staged)
			stuck(w)
			r := w.program()
			for range 12 {
				wait, err := r.Pass(t.Context(), w.observed)
				w.g.Expect(err).NotTo(gomega.HaveOccurred())
				w.pass(wait.For)
			}
			w.g.Expect(w.phase()).NotTo(gomega.Equal(rotation.Rested))
			w.g.Expect(w.gate.Inside()).To(gomega.BeZero())
			w.faults, w.observed.AtRest = 0, true
			w.g.Expect(w.run().Condition.Reason).To(gomega.Equal(reason.Current))
			w.g.Expect(w.gate.Inside()).To(gomega.BeZero())
		})
	}
}

// echo is a cluster whose refusals show what was to be written, as admission webhooks do.
type echo struct{ credentials.Store }

func (e echo) WriteRecord(_ context.Context, _ string, data map[string][]byte) (string, error) {
	var all []string
	for key, value := range data {
		all = append(all, key+"="+string(value))
	}
	return "", errors.New("admission webhook denied the request: " + strings.Join(all, " "))
}

// TestAPasswordThatCannotBeStoredIsNotTold: it was never used, and yet.
func TestAPasswordThatCannotBeStoredIsNotTold(t *testing.T) {
	w := newWorld(t, 1)
	r := w.program()
	r.Store = echo{r.Store}
	_, err := r.Pass(t.Context(), w.observed)
	w.g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("next=[redacted]")))
	w.said = append(w.said, err.Error())
	w.tellsNothing()
	w.g.Expect(w.received).To(gomega.BeEmpty())
}
