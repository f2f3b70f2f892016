package quirks

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Row is a line of the table.
type Row struct {
	// ID names the row, as "dell-idrac10-slot-1". A site's row replaces the
	// built-in one with the same ID.
	ID string `json:"id"`
	// Vendor, Model and Manager are patterns, as "iDRAC8|iDRAC9", "X1[12]*" or
	// "/^ThinkSystem SR67/"; empty is every one. They are held against the names
	// that reports have.
	Vendor  string `json:"vendor,omitempty"`
	Model   string `json:"model,omitempty"`
	Manager string `json:"manager,omitempty"`
	// Firmware is a range of the BMC's versions, as ">=6.00 <6.10.30.00".
	Firmware string `json:"firmware,omitempty"`
	Effect   Effect `json:"effect"`
	// Value is the effect's value; [Effects] says which ones have one.
	Value string `json:"value,omitempty"`
	// By is who applies it; empty is whom [Effects] names.
	By Actor `json:"by,omitempty"`
	// Advice says what is seen, and what to do.
	Advice string `json:"advice"`
	// Source says where it is known from.
	Source string `json:"source,omitempty"`
	// Simulator are the switches that make the simulated BMC behave so, with commas;
	// empty for what its version alone tells.
	Simulator string `json:"simulator,omitempty"`

	vendor, model, manager pattern
	firmware               firmwareRange
}

// General reports whether the row is about all BMCs: then it is what everybody does
// always, and no report lists it.
func (r *Row) General() bool {
	return r.Vendor == "" && r.Model == "" && r.Manager == "" && r.Firmware == ""
}

// longestText bounds the members of a site's rows.
const longestText = 1024

// ourMembers are those that Ironflow itself sends: of a subscription to events.
const ourMembers = "EventDestination."

var idForm = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// complete checks the row and prepares its patterns.
func (r *Row) complete() error {
	var problems []error
	wrong := func(member string, err error) {
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", member, err))
		}
	}
	if !idForm.MatchString(r.ID) {
		wrong("id", fmt.Errorf("%q is no name: write small letters, digits and single dashes", r.ID))
	}
	var err error
	r.vendor, err = parsePattern(r.Vendor)
	wrong("vendor", err)
	r.model, err = parsePattern(r.Model)
	wrong("model", err)
	r.manager, err = parsePattern(r.Manager)
	wrong("manager", err)
	r.firmware, err = parseRange(r.Firmware)
	wrong("firmware", err)
	if r.Advice == "" {
		wrong("advice", errors.New("it is empty: say what is seen, and what to do"))
	}
	for _, m := range members {
		if len(*m.of(r)) > longestText {
			wrong(m.name, fmt.Errorf("it is longer than %d bytes", longestText))
		}
	}
	problems = append(problems, r.completeEffect()...)
	return errors.Join(problems...)
}

// completeEffect checks the effect, its value and who applies it.
func (r *Row) completeEffect() []error {
	effect, known := describe(r.Effect)
	if !known {
		return []error{fmt.Errorf("effect: %q is not one: use one of %s", r.Effect, names(Effects))}
	}
	var problems []error
	switch {
	case effect.check == nil && r.Value != "":
		problems = append(problems, fmt.Errorf("value: the effect %s has none", r.Effect))
	case effect.check != nil:
		if err := effect.check(r.Value); err != nil {
			problems = append(problems, fmt.Errorf("value: %w", err))
		}
	}
	by := effect.By
	if r.Effect == LeaveOut && !strings.HasPrefix(r.Value, ourMembers) {
		by = You
	}
	switch {
	case r.By == "":
		r.By = by
	case !slices.Contains([]Actor{Ironflow, Ironic, You}, r.By):
		problems = append(problems, fmt.Errorf("by: %q is none of ironflow, ironic, you", r.By))
	case r.By == Ironflow && by != Ironflow:
		problems = append(problems, fmt.Errorf("by: Ironflow does not apply the effect %s by itself", r.Effect))
	}
	return problems
}
