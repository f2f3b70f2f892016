package main

import (
	"fmt"
	"time"
)

// electionSettings are the times of the lease by which one active replica is elected, in seconds as
// baremetal-operator has them; 0 for the usual.
type electionSettings struct {
	lease, renew, retry int
}

// The usual times, which are those of the Kubernetes client.
const (
	usualLease = 15 * time.Second
	usualRenew = 10 * time.Second
	usualRetry = 2 * time.Second
)

// settings are the rows of the table.
func (e *electionSettings) settings() []setting {
	return []setting{
		{"lease-duration-seconds", "LEASE_DURATION_SECONDS", "0", "seconds after which another replica takes a lease that was not renewed; 0 for 15", number(&e.lease)},
		{"renew-deadline-seconds", "RENEW_DEADLINE_SECONDS", "0", "seconds that the active replica tries to renew its lease before it ends; 0 for 10", number(&e.renew)},
		{"retry-period-seconds", "RETRY_PERIOD_SECONDS", "0", "seconds between two tries to get or renew the lease; 0 for 2", number(&e.retry)},
	}
}

// times are the times to go by.
func (e electionSettings) times() (lease, renew, retry time.Duration, err error) {
	seconds := func(n int, usual time.Duration) time.Duration {
		if n == 0 {
			return usual
		}
		return time.Duration(n) * time.Second
	}
	lease, renew, retry = seconds(e.lease, usualLease), seconds(e.renew, usualRenew), seconds(e.retry, usualRetry)
	if retry <= 0 || renew <= retry*6/5 || lease <= renew {
		return 0, 0, 0, fmt.Errorf("--lease-duration-seconds (%s) must be more than --renew-deadline-seconds (%s), and that more than 1.2 times --retry-period-seconds (%s)", lease, renew, retry)
	}
	return lease, renew, retry, nil
}
