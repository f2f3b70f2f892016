package validations

import (
	"encoding/json"
	"slices"

	"github.com/ironflow/ironflow/hub/wire"
)

// ClusterInput is all that the checks of a cluster may know.
type ClusterInput struct {
	*ClusterFacts
	// Statuses are the hosts' statuses by id.
	Statuses map[string]string
	// Manifests counts the manifests that the user added.
	Manifests int
}

// ClusterRow is one check of a cluster.
type ClusterRow struct {
	ID       wire.ClusterValidationID
	Category string
	// Input tells that a person has to give something: a failure makes the cluster
	// pending-for-input. Other failures make it insufficient.
	Input bool
	// When tells which clusters the check applies to; the others pass.
	When Condition[ClusterInput]
	// Essential checks cannot be ignored.
	Essential bool
	// Checks and Do are for the documentation.
	Checks, Do string

	check func(ClusterInput) verdict
}

// ClusterOutcome is what all checks of a cluster come to.
type ClusterOutcome struct {
	// Results by category, in the table's order.
	Results map[string][]Result
	// InputMissing and Pass sum the groups up.
	InputMissing, Pass bool
	// Failures are the messages of checks that the cluster waits for, those of
	// missing input first.
	Failures []string
}

// JSON is the outcome as the cluster's validations_info.
func (o ClusterOutcome) JSON() (string, error) {
	raw, err := json.Marshal(o.Results)
	return string(raw), err
}

// Cluster runs the table.
func Cluster(in ClusterInput, lists Lists) ClusterOutcome {
	out := ClusterOutcome{Results: map[string][]Result{}, Pass: true}
	var missing, others []string
	rows := ClusterRows
	for _, id := range in.ownOperators() {
		rows = append(rows[:len(rows):len(rows)], clusterOperatorRow(id))
	}
	for _, row := range rows {
		result := row.run(in, lists)
		out.Results[row.Category] = append(out.Results[row.Category], result)
		if result.Status == Success || result.Status == Disabled || lists.ignores(result.ID, row.Essential) {
			continue
		}
		out.Pass = false
		if row.Input && !in.asksDHCP() || row.Input && row.ID != wire.ClusterValidationIDAPIVIPsDefined && row.ID != wire.ClusterValidationIDIngressVIPsDefined {
			out.InputMissing = true
			missing = append(missing, result.Message)
			continue
		}
		others = append(others, result.Message)
	}
	out.Failures = slices.Concat(missing, others)
	return out
}

func (row ClusterRow) run(in ClusterInput, lists Lists) Result {
	var v verdict
	switch {
	case slices.Contains(lists.Disabled, string(row.ID)):
		v = verdict{Disabled, "The hub was told not to check this"}
	case !row.When.holds(in):
		v = pass("Asked for only of a cluster %s", row.When.Name)
	default:
		v = row.check(in)
	}
	return v.result(string(row.ID))
}
