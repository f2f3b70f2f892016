// Package finalize decides how an installation ends: through which stages, what each
// waits for, what is sent to the hub, and when this program has nothing more to do.
// [Next] is a pure function. Its only memory is the stage that the hub has, so that a
// program that dies anywhere goes on where it was.
package finalize

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/cluster/facts"
	"github.com/ironflow/ironflow/cluster/operators"
	"github.com/ironflow/ironflow/hub/wire"
)

// Observed is all that the end depends on.
type Observed struct {
	Cluster facts.Cluster
	State   operators.State
	// IngressCA is the certificate authority of the cluster's routes, PEM; empty while
	// it is not there.
	IngressCA string
}

// End is why this program has nothing more to do.
type End string

// The ends.
const (
	Installed End = "installed"
	Cancelled End = "cancelled"
	Failed    End = "error"
)

// Act is one call of the hub. Just one of its fields is set.
type Act struct {
	Stage     wire.FinalizingStage
	IngressCA string
	Complete  *wire.CompletionParams
}

// Step is what comes next.
type Step struct {
	// Acts are to be done in order; the first that fails ends the pass.
	Acts []Act
	// Waits says what the stage waits for, for people.
	Waits string
	// End is set when the installation is over.
	End End
}

// Next decides.
func Next(o Observed) Step {
	switch o.Cluster.Status {
	case wire.ClusterStatusInstalled, wire.ClusterStatusAddingHosts:
		return Step{End: Installed}
	case wire.ClusterStatusCancelled:
		return Step{End: Cancelled}
	case wire.ClusterStatusError:
		return Step{End: Failed}
	case wire.ClusterStatusFinalizing:
	default:
		return Step{Waits: fmt.Sprintf("the cluster is %s", o.Cluster.Status)}
	}
	if operators.OpenShift(o.State, o.Cluster.Operators) {
		return openShift(o)
	}
	return plain(o)
}

// plain has one thing to wait for.
func plain(o Observed) Step {
	switch o.Cluster.Stage {
	case wire.FinalizingStageWaitingForClusterOperators:
		if waits := operators.Waits(o.State); waits != "" {
			return Step{Waits: waits}
		}
		return done("")
	case wire.FinalizingStageDone:
		return again()
	default:
		return stage(wire.FinalizingStageWaitingForClusterOperators)
	}
}

// openShift goes through the stages of the protocol that have something to do here.
// Nothing is applied by this program, and no setup jobs are its own.
func openShift(o Observed) Step {
	c := o.Cluster
	olm := of(c, wire.OperatorTypeOlm)
	switch c.Stage {
	case wire.FinalizingStageWaitingForClusterOperators:
		if names := without(of(c, wire.OperatorTypeBuiltin), wire.OperatorStatusAvailable); len(names) > 0 {
			return Step{Waits: "operators that are not available: " + strings.Join(names, ", ")}
		}
		return stage(wire.FinalizingStageAddingRouterCa)
	case wire.FinalizingStageAddingRouterCa:
		if o.IngressCA == "" {
			return Step{Waits: "the config map default-ingress-cert of openshift-config-managed has no ca-bundle.crt"}
		}
		upload := Act{IngressCA: o.IngressCA}
		if len(olm) == 0 {
			end := done("")
			end.Acts = append([]Act{upload}, end.Acts...)
			return end
		}
		return Step{Acts: []Act{upload, {Stage: wire.FinalizingStageWaitingForOlmOperatorsCsvInitialization}}}
	case wire.FinalizingStageApplyingOlmManifests:
		return stage(wire.FinalizingStageWaitingForOlmOperatorsCsvInitialization)
	case wire.FinalizingStageWaitingForOlmOperatorsCsvInitialization:
		if names := uninstalled(o, olm); len(names) > 0 {
			return Step{Waits: "operators whose subscription has installed nothing yet: " + strings.Join(names, ", ")}
		}
		return stage(wire.FinalizingStageWaitingForOlmOperatorsCsv)
	case wire.FinalizingStageWaitingForOlmOperatorsCsv, wire.FinalizingStageWaitingForOlmOperatorSetupJobs:
		if names := without(olm, wire.OperatorStatusAvailable, wire.OperatorStatusFailed); len(names) > 0 {
			return Step{Waits: "operators that are still being installed: " + strings.Join(names, ", ")}
		}
		failed := without(olm, wire.OperatorStatusAvailable)
		return done(strings.Join(failed, ", "))
	case wire.FinalizingStageDone:
		return again()
	default:
		return stage(wire.FinalizingStageWaitingForClusterOperators)
	}
}

func stage(s wire.FinalizingStage) Step { return Step{Acts: []Act{{Stage: s}}} }

// done is the end of the stages. A failure is told with the step into the last stage
// only: who dies in between does not tell it twice.
func done(failed string) Step {
	complete := &wire.CompletionParams{IsSuccess: failed == ""}
	if failed != "" {
		complete.ErrorInfo = "operators that failed: " + failed
	}
	return Step{Acts: []Act{{Stage: wire.FinalizingStageDone}, {Complete: complete}}, Waits: "the hub says that the cluster is installed"}
}

// again says that it is complete to a hub that may not have heard it.
func again() Step {
	return Step{Acts: []Act{{Complete: &wire.CompletionParams{IsSuccess: true}}}, Waits: "the hub says that the cluster is installed"}
}

func of(c facts.Cluster, kind wire.OperatorType) []facts.Monitored {
	var out []facts.Monitored
	for _, m := range c.Operators {
		if m.Type == kind {
			out = append(out, m)
		}
	}
	return out
}

func without(list []facts.Monitored, good ...wire.OperatorStatus) []string {
	var out []string
	for _, m := range list {
		if !slices.Contains(good, m.Status) {
			out = append(out, m.Name)
		}
	}
	return out
}

func uninstalled(o Observed, olm []facts.Monitored) []string {
	var out []string
	for _, m := range olm {
		if _, ok := operators.Service(o.State, m); !ok && m.Status != wire.OperatorStatusFailed {
			out = append(out, m.Name)
		}
	}
	return out
}
