package rules_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/health/rules"
)

// stateOf is a domain's row after a reading.
func stateOf(now rules.Reading, past *rules.Past) (v1alpha1.HealthState, string) {
	rows, next, _ := rules.Judge(now, *past)
	*past = next
	for _, row := range rows {
		if row.Domain == string(rules.Storage) {
			return row.State, row.Message
		}
	}
	return "", ""
}

func drive(id, health string) rules.Part {
	return rules.Part{Domain: rules.Storage, Kind: rules.Drive, ID: id, Name: id, State: "Enabled", Health: health}
}

// TestOneReadProvesNothing: a part that was bad once decides when it is read again, and not
// by a pass that had no request left for it.
func TestOneReadProvesNothing(t *testing.T) {
	g := NewWithT(t)
	var past rules.Past
	partly := map[rules.Domain]bool{rules.Storage: false}
	state := func(parts ...rules.Part) v1alpha1.HealthState {
		s, _ := stateOf(rules.Reading{Whole: partly, Parts: parts}, &past)
		return s
	}
	g.Expect(state(drive("a", "OK"))).To(Equal(v1alpha1.HealthOK))
	g.Expect(state(drive("b", "Critical"))).To(Equal(v1alpha1.HealthOK))
	g.Expect(past.Pending()).To(BeTrue())
	g.Expect(state(drive("a", "OK"))).To(Equal(v1alpha1.HealthOK), "b was not read")
	g.Expect(past.Pending()).To(BeTrue(), "it is still to be confirmed")
	g.Expect(state(drive("b", "Critical"))).To(Equal(v1alpha1.HealthCritical))
	g.Expect(state(drive("a", "OK"))).To(Equal(v1alpha1.HealthCritical), "it stays what it was found to be twice")
	g.Expect(state(drive("b", "OK"))).To(Equal(v1alpha1.HealthCritical))
	g.Expect(state(drive("b", "OK"))).To(Equal(v1alpha1.HealthOK))
}

// TestWhatAListDoesNotHoldIsGone also where the domain was not read whole.
func TestWhatAListDoesNotHoldIsGone(t *testing.T) {
	g := NewWithT(t)
	var past rules.Past
	for range 2 {
		stateOf(rules.Reading{Lists: []string{"/s "}, Parts: []rules.Part{drive("/s 1", "Critical"), drive("/s 2", "OK")}}, &past)
	}
	state, _ := stateOf(rules.Reading{Parts: []rules.Part{drive("/t 1", "OK")}}, &past)
	g.Expect(state).To(Equal(v1alpha1.HealthCritical), "the list was not read")
	for range 2 {
		state, _ = stateOf(rules.Reading{Lists: []string{"/s "}, Parts: []rules.Part{drive("/s 2", "OK")}}, &past)
	}
	g.Expect(state).To(Equal(v1alpha1.HealthOK))
}

// TestUnreadGroups: a group of which nothing is known speaks against OK, and against
// nothing that was found.
func TestUnreadGroups(t *testing.T) {
	for name, c := range map[string]struct {
		parts []rules.Part
		why   string
		state v1alpha1.HealthState
		says  string
	}{
		"others are well":                   {[]rules.Part{drive("a", "OK")}, rules.NotYet, v1alpha1.HealthUnknown, rules.NotYet},
		"others are well, this one refuses": {[]rules.Part{drive("a", "OK")}, "status 403", v1alpha1.HealthUnknown, "status 403"},
		"nothing was read":                  {nil, rules.NotYet, v1alpha1.HealthUnknown, "not read yet"},
		"one is bad":                        {[]rules.Part{drive("a", "Critical")}, rules.NotYet, v1alpha1.HealthCritical, "a reports Critical"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var past rules.Past
			var state v1alpha1.HealthState
			var says string
			for range 3 {
				state, says = stateOf(rules.Reading{Parts: c.parts, Unread: map[rules.Domain]string{rules.Storage: c.why}}, &past)
			}
			g.Expect(state).To(Equal(c.state))
			g.Expect(says).To(Equal(c.says))
			g.Expect(past.Touring).To(BeTrue())
		})
	}
}
