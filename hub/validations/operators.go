package validations

import (
	"strings"

	"github.com/ironflow/ironflow/hub/wire"
)

// operatorSuffix ends the ids of all checks of operators.
const operatorSuffix = "-requirements-satisfied"

// hostOperators are what may be installed into a cluster.
// The hub installs none of them, so that none asks for anything; clients expect
// the ids.
var hostOperators = []wire.HostValidationID{
	wire.HostValidationIDLsoRequirementsSatisfied, wire.HostValidationIDOcsRequirementsSatisfied, wire.HostValidationIDOdfRequirementsSatisfied,
	wire.HostValidationIDLvmRequirementsSatisfied, wire.HostValidationIDMceRequirementsSatisfied, wire.HostValidationIDMtvRequirementsSatisfied,
	wire.HostValidationIDOscRequirementsSatisfied, wire.HostValidationIDCnvRequirementsSatisfied,
	wire.HostValidationIDNodeFeatureDiscoveryRequirementsSatisfied, wire.HostValidationIDNvidiaGpuRequirementsSatisfied,
	wire.HostValidationIDPipelinesRequirementsSatisfied, wire.HostValidationIDServicemeshRequirementsSatisfied,
	wire.HostValidationIDServerlessRequirementsSatisfied, wire.HostValidationIDOpenshiftAiRequirementsSatisfied,
	wire.HostValidationIDAuthorinoRequirementsSatisfied, wire.HostValidationIDNmstateRequirementsSatisfied,
	wire.HostValidationIDAmdGpuRequirementsSatisfied, wire.HostValidationIDKmmRequirementsSatisfied,
	wire.HostValidationIDNodeHealthcheckRequirementsSatisfied, wire.HostValidationIDSelfNodeRemediationRequirementsSatisfied,
	wire.HostValidationIDFenceAgentsRemediationRequirementsSatisfied, wire.HostValidationIDNodeMaintenanceRequirementsSatisfied,
	wire.HostValidationIDKubeDeschedulerRequirementsSatisfied, wire.HostValidationIDClusterObservabilityRequirementsSatisfied,
	wire.HostValidationIDNumaResourcesRequirementsSatisfied, wire.HostValidationIDOadpRequirementsSatisfied,
	wire.HostValidationIDMetallbRequirementsSatisfied, wire.HostValidationIDLokiRequirementsSatisfied,
	wire.HostValidationIDOpenshiftLoggingRequirementsSatisfied,
}

// gpuID is the one check of operators that clusters have and hosts have not.
const gpuID = wire.ClusterValidationIDOpenshiftAiGpuRequirementsSatisfied

func operatorOf(id string) string { return strings.TrimSuffix(id, operatorSuffix) }

func notSelected(id string) verdict {
	return pass("Operator %s is not installed by this hub and asks for nothing", operatorOf(id))
}

func hostOperatorRows() []HostRow {
	var rows []HostRow
	for _, id := range hostOperators {
		rows = append(rows, HostRow{
			ID: id, Category: operators, Group: Warning, When: withRelease, check: func(HostInput) verdict { return notSelected(string(id)) },
			Checks: "nothing: the operator is not selected", Do: "nothing",
		})
	}
	return rows
}
