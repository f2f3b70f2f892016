package migrate

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Severity says what a finding means for the hand-over.
type Severity string

const (
	// Note is worth knowing; nothing has to be done.
	Note Severity = "note"
	// Warning is a host that would be written to, or something a person should look at.
	Warning Severity = "warning"
	// Blocker has to be mended before the hand-over.
	Blocker Severity = "blocker"
)

// rank orders findings, the worst first.
var rank = map[Severity]int{Blocker: 0, Warning: 1, Note: 2}

// Finding is one thing that was found.
type Finding struct {
	// Check is the name of the check, as in docs/migrate.md.
	Check string `json:"check"`
	// Severity says what it means.
	Severity Severity `json:"severity"`
	// Object is what it is about: "namespace/name" of a host, or the name of a
	// thing; empty for the whole.
	Object string `json:"object,omitempty"`
	// Text says what was found and what to do, without secrets.
	Text string `json:"text"`
}

// Host is one BareMetalHost and what was found for it.
type Host struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// State is the provisioning state.
	State string `json:"state"`
	// Status is the operational status, with the error type behind it if there is one.
	Status string `json:"status"`
	// Node and NodeState are the node's id and provision state; empty for none.
	Node      string `json:"node,omitempty"`
	NodeState string `json:"nodeState,omitempty"`
	// FoundBy is how the node was found: id, name, plain name, MAC; "none" if it was
	// not, "-" where none is looked for.
	FoundBy string `json:"foundBy"`
	// Writes are the first writes that the take-over would cause, besides status.
	Writes []string `json:"writes,omitempty"`
}

// key is the host's name in findings.
func (h *Host) key() string { return h.Namespace + "/" + h.Name }

// Report is the answer of [Check].
type Report struct {
	// At is when the fleet was looked at.
	At time.Time `json:"at"`
	// Operator is who holds baremetal-operator's lease, empty for nobody.
	Operator string `json:"operator,omitempty"`
	// IronicVersion is the API version that Ironic and Ironflow agree on.
	IronicVersion string `json:"ironicVersion,omitempty"`
	// States counts the hosts by provisioning state.
	States map[string]int `json:"states"`
	// Hosts are all hosts, sorted.
	Hosts []Host `json:"hosts"`
	// Findings are sorted: the worst first.
	Findings []Finding `json:"findings"`
	// Verdict is the worst severity, or "ready".
	Verdict string `json:"verdict"`
}

// Exit codes of the program for a report; 1 is a check that could not be made.
const (
	ExitReady   = 0
	ExitFailed  = 1
	ExitWarning = 2
	ExitBlocker = 3
)

// ready is the verdict of a fleet with nothing in the way.
const ready = "ready"

// ExitCode is the program's exit code for the report.
func (r *Report) ExitCode() int {
	switch r.Verdict {
	case string(Blocker):
		return ExitBlocker
	case string(Warning):
		return ExitWarning
	default:
		return ExitReady
	}
}

// add notes a finding.
func (r *Report) add(check string, severity Severity, object, text string) {
	r.Findings = append(r.Findings, Finding{Check: check, Severity: severity, Object: object, Text: text})
}

// complete sorts the report and comes to its verdict.
func (r *Report) complete() {
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(rank[a.Severity], rank[b.Severity]), strings.Compare(a.Check, b.Check), strings.Compare(a.Object, b.Object))
	})
	r.Verdict = ready
	if len(r.Findings) > 0 && r.Findings[0].Severity != Note {
		r.Verdict = string(r.Findings[0].Severity)
	}
}
