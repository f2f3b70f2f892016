package parts

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func TestElectionTimes(t *testing.T) {
	g := NewWithT(t)
	lease, renew, retry, err := electionSettings{}.times()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect([]time.Duration{lease, renew, retry}).To(Equal([]time.Duration{15 * time.Second, 10 * time.Second, 2 * time.Second}))
	lease, renew, retry, err = electionSettings{LeaseDurationSeconds: 60, RenewDeadlineSeconds: 40, RetryPeriodSeconds: 5}.times()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect([]time.Duration{lease, renew, retry}).To(Equal([]time.Duration{time.Minute, 40 * time.Second, 5 * time.Second}))
	for _, wrong := range []electionSettings{{LeaseDurationSeconds: 5}, {RenewDeadlineSeconds: 15}, {RetryPeriodSeconds: 9}, {RetryPeriodSeconds: -1}} {
		_, _, _, err = wrong.times()
		g.Expect(err).To(MatchError(ContainSubstring("--lease-duration-seconds")))
	}
}
