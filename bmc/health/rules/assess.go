package rules

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
)

// Verdict is how a part is.
type Verdict struct {
	State v1alpha1.HealthState
	// Shows is what makes it so, as "reads 96 Cel, its upper critical limit is 95";
	// empty when OK.
	Shows string
}

const (
	// littleLife and noLife are percentages of a drive's life at which it is Warning
	// and Critical.
	littleLife = 10
	noLife     = 0
)

// Assess says how a part is. Counts is false for one that is not there, is switched
// off, or shows nothing at all.
func Assess(p Part) (v Verdict, counts bool) {
	switch strings.ToLower(p.State) {
	// An empty slot is no fault, nor is what somebody has switched off (Cisco lists both).
	case "absent", "disabled":
		return v, false
	}
	for _, rule := range []func(Part) (Verdict, bool){byHealth, byVendor, byPrediction, byLife, byLimits} {
		if found, says := rule(p); says {
			counts = true
			if worse(found.State, v.State) {
				v = found
			}
		}
	}
	return v, counts
}

// words are what BMCs write for health besides OK, Warning and Critical.
var words = map[string]v1alpha1.HealthState{
	"ok": v1alpha1.HealthOK, "normal": v1alpha1.HealthOK, "good": v1alpha1.HealthOK, "informational": v1alpha1.HealthOK, "repaired": v1alpha1.HealthOK,
	"warning": v1alpha1.HealthWarning, "caution": v1alpha1.HealthWarning, "degraded": v1alpha1.HealthWarning, "minor": v1alpha1.HealthWarning,
	"critical": v1alpha1.HealthCritical, "failed": v1alpha1.HealthCritical, "major": v1alpha1.HealthCritical, "fatal": v1alpha1.HealthCritical, "nonrecoverable": v1alpha1.HealthCritical,
}

// State reads a word for health or severity; empty where it says nothing.
func State(text string) v1alpha1.HealthState {
	return words[strings.ToLower(strings.TrimSpace(text))]
}

// byHealth takes what the BMC says itself. The rollup counts for what sums up other
// parts; where it is missing (Fujitsu) the health alone does.
func byHealth(p Part) (Verdict, bool) {
	state := State(p.Health)
	if p.Kind == Group || p.Kind == Whole {
		if rollup := State(p.Rollup); state == "" || worse(rollup, state) {
			state = rollup
		}
	}
	if state == "" && p.Kind == Supply {
		// AMI says nothing of the health of supplies: one that is there is well.
		switch strings.ToLower(p.State) {
		case "enabled", "present":
			state = v1alpha1.HealthOK
		}
	}
	if state == "" {
		return Verdict{}, false
	}
	if state == v1alpha1.HealthOK {
		return Verdict{State: state}, true
	}
	return Verdict{State: state, Shows: "reports " + string(state)}, true
}

// byVendor: a supply whose status an iLO calls Unknown has failed.
func byVendor(p Part) (Verdict, bool) {
	if p.Kind != Supply || !strings.EqualFold(p.VendorState, "Unknown") {
		return Verdict{}, false
	}
	return Verdict{State: v1alpha1.HealthCritical, Shows: "has a status that the BMC calls Unknown"}, true
}

func byPrediction(p Part) (Verdict, bool) {
	return Verdict{State: v1alpha1.HealthWarning, Shows: "predicts its failure"}, p.FailurePredicted
}

// byLife: an iLO4 shows values below zero for drives that are well.
func byLife(p Part) (Verdict, bool) {
	if p.LifeLeft == nil || *p.LifeLeft < 0 || *p.LifeLeft > littleLife {
		return Verdict{}, false
	}
	v := Verdict{State: v1alpha1.HealthWarning, Shows: "has " + number(*p.LifeLeft) + " % of its life left"}
	if *p.LifeLeft <= noLife {
		v = Verdict{State: v1alpha1.HealthCritical, Shows: "has no life left"}
	}
	return v, true
}

// byLimits holds a reading against its limits, while the sensor is in use. A limit
// of zero or less is one that was not set.
func byLimits(p Part) (Verdict, bool) {
	if p.Value == nil || !strings.EqualFold(p.State, "Enabled") {
		return Verdict{}, false
	}
	for _, limit := range []struct {
		name  string
		at    *float64
		upper bool
		state v1alpha1.HealthState
	}{
		{"upper critical", p.UpperCritical, true, v1alpha1.HealthCritical},
		{"lower critical", p.LowerCritical, false, v1alpha1.HealthCritical},
		{"upper warning", p.UpperCaution, true, v1alpha1.HealthWarning},
		{"lower warning", p.LowerCaution, false, v1alpha1.HealthWarning},
	} {
		if limit.at == nil || *limit.at <= 0 {
			continue
		}
		if limit.upper && *p.Value >= *limit.at || !limit.upper && *p.Value <= *limit.at {
			return Verdict{State: limit.state, Shows: fmt.Sprintf("reads %s, its %s limit is %s", withUnit(*p.Value, p.Unit), limit.name, number(*limit.at))}, true
		}
	}
	return Verdict{State: v1alpha1.HealthOK}, true
}

// Shown is a sensor's reading with its unit; empty where there is none.
func Shown(p Part) string {
	if p.Value == nil {
		return ""
	}
	return withUnit(*p.Value, p.Unit)
}

func withUnit(value float64, unit string) string {
	return strings.TrimSpace(number(value) + " " + unit)
}

func number(value float64) string { return strconv.FormatFloat(value, 'g', 6, 64) }

// rank orders states from good to bad; what says nothing is lowest.
func rank(s v1alpha1.HealthState) int {
	switch s {
	case v1alpha1.HealthOK:
		return 1
	case v1alpha1.HealthWarning:
		return 2
	case v1alpha1.HealthCritical:
		return 3
	default:
		return 0
	}
}

func worse(a, b v1alpha1.HealthState) bool { return rank(a) > rank(b) }

func bad(s v1alpha1.HealthState) bool { return rank(s) > rank(v1alpha1.HealthOK) }
