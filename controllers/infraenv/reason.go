package infraenv

import (
	"errors"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/controllers/reconcile"
)

// reason is the condition reason of an outcome: only what a person has to mend
// is an image creation error, so that hosts of the environment do not lose their
// images while something is merely waited for.
func reason(err error) string {
	if stalled, ok := errors.AsType[*reconcile.Stalled](err); ok {
		return stalled.Reason
	}
	return agentv1.ReasonWaitingForInfraEnvImageToBeMade
}
