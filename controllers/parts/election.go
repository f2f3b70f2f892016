package parts

import (
	"fmt"
	"time"

	"github.com/ironflow/ironflow/api/config/v1alpha1"
)

// electionSettings are the times of the lease by which one active replica is elected.
type electionSettings v1alpha1.LeaderElection

// The usual times, which are those of the Kubernetes client.
const (
	usualLease = 15 * time.Second
	usualRenew = 10 * time.Second
	usualRetry = 2 * time.Second
)

// times are the times to go by.
func (e electionSettings) times() (lease, renew, retry time.Duration, err error) {
	seconds := func(n int, usual time.Duration) time.Duration {
		if n == 0 {
			return usual
		}
		return time.Duration(n) * time.Second
	}
	lease, renew, retry = seconds(e.LeaseDurationSeconds, usualLease), seconds(e.RenewDeadlineSeconds, usualRenew), seconds(e.RetryPeriodSeconds, usualRetry)
	if retry <= 0 || renew <= retry*6/5 || lease <= renew {
		return 0, 0, 0, fmt.Errorf("--lease-duration-seconds (%s) must be more than --renew-deadline-seconds (%s), and that more than 1.2 times --retry-period-seconds (%s)", lease, renew, retry)
	}
	return lease, renew, retry, nil
}
