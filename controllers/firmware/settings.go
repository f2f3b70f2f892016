package firmware

import (
	"fmt"
	"slices"
	"strings"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/ironflow/ironflow/controllers/reconcile"
)

// Reasons of the conditions ChangeDetected and Valid, as users of the existing
// operator know them.
const (
	reasonSuccess          = "Success"
	reasonConfiguration    = "ConfigurationError"
	reasonComponent        = "OK"
	reasonInvalidComponent = "InvalidComponent"
	reasonTakenAsMade      = "TakenAsMade"
)

// reasonValidation is the reason of the event about each wish that is refused.
const reasonValidation = "ValidationFailed"

// SettingsWish returns the valid settings of the spec that differ from the
// machine's, as values for Ironic: numbers as numbers, all else as text. seen is
// false while the present spec has not been judged, or nothing was read from the
// machine yet: then there is no telling, and "no change" would be wrong.
func SettingsWish(s *metal3.HostFirmwareSettings) (wish map[string]any, seen bool) {
	if s == nil || len(s.Spec.Settings) == 0 {
		return nil, true
	}
	if len(s.Status.Settings) == 0 || !judged(s.Status.Conditions, s.Generation, string(metal3.FirmwareSettingsChangeDetected)) {
		return nil, false
	}
	if !both(s.Status.Conditions, string(metal3.FirmwareSettingsChangeDetected), string(metal3.FirmwareSettingsValid)) {
		return nil, true
	}
	wish = map[string]any{}
	for name, value := range s.Spec.Settings {
		if s.Status.Settings[name] != value.String() {
			wish[name] = plain(value)
		}
	}
	return wish, true
}

// judged reports whether a condition speaks of this generation.
func judged(conditions []metav1.Condition, generation int64, kind string) bool {
	c := meta.FindStatusCondition(conditions, kind)
	return c != nil && c.ObservedGeneration == generation
}

// both reports whether two conditions are True.
func both(conditions []metav1.Condition, first, second string) bool {
	return meta.IsStatusConditionTrue(conditions, first) && meta.IsStatusConditionTrue(conditions, second)
}

// plain is a desired value as Ironic takes it.
func plain(v intstr.IntOrString) any {
	if v.Type == intstr.Int {
		return v.IntValue()
	}
	return v.StrVal
}

// settingsConditioned lets conditions be set on HostFirmwareSettings.
type settingsConditioned struct{ *metal3.HostFirmwareSettings }

// GetConditions implements reconcile.Conditioned.
func (s settingsConditioned) GetConditions() []metav1.Condition { return s.Status.Conditions }

// SetConditions implements reconcile.Conditioned.
func (s settingsConditioned) SetConditions(c []metav1.Condition) { s.Status.Conditions = c }

// judgeSettings sets the conditions for the present spec and returns an event
// for each setting that is refused, once per spec.
func judgeSettings(s *metal3.HostFirmwareSettings, schema map[string]metal3.SettingSchema) []reconcile.Event {
	again := judged(s.Status.Conditions, s.Generation, string(metal3.FirmwareSettingsValid)) &&
		!meta.IsStatusConditionTrue(s.Status.Conditions, string(metal3.FirmwareSettingsValid))
	changed, problems := false, []string{}
	for name, value := range s.Spec.Settings {
		have, there := s.Status.Settings[name]
		if there && have == value.String() {
			continue
		}
		changed = true
		if problem := settingProblem(name, value, there, schema); problem != "" {
			problems = append(problems, problem)
		}
	}
	slices.Sort(problems)
	set := func(kind metal3.SettingsConditionType, status bool, reason, message string) {
		value := metav1.ConditionFalse
		if status {
			value = metav1.ConditionTrue
		}
		reconcile.SetCondition(settingsConditioned{s}, string(kind), value, reason, message)
	}
	set(metal3.FirmwareSettingsChangeDetected, changed, reasonSuccess, "")
	switch {
	case len(problems) == 0:
		set(metal3.FirmwareSettingsValid, true, reasonSuccess, "")
	case len(s.Status.Settings) == 0:
		set(metal3.FirmwareSettingsValid, false, reasonConfiguration, "Ironic has read no BIOS settings from this machine")
		return nil
	default:
		set(metal3.FirmwareSettingsValid, false, reasonConfiguration, "Invalid BIOS setting: "+strings.Join(problems, "; "))
	}
	if again {
		return nil
	}
	var events []reconcile.Event
	for _, problem := range problems {
		events = append(events, reconcile.Event{Warning: true, Reason: reasonValidation, Message: "Invalid BIOS setting: " + problem})
	}
	return events
}

// settingProblem says why a setting cannot be set; empty when it can.
func settingProblem(name string, value intstr.IntOrString, there bool, schema map[string]metal3.SettingSchema) string {
	rule, described := schema[name]
	switch {
	case !there:
		return fmt.Sprintf("setting %s is not one of this machine's", name)
	case !described:
		return fmt.Sprintf("setting %s is not in the machine's FirmwareSchema", name)
	}
	if err := rule.Validate(name, value); err != nil {
		return err.Error()
	}
	return ""
}
