package password

import (
	"strings"
	"time"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
)

// Limits are what a BMC asks of passwords and how it punishes wrong logins.
type Limits struct {
	// Min and Max bound the length. Max is never zero.
	Min, Max int
	// Wrong is how many logins may be wrong one after the other, without a right one
	// between them, before we stop: fewer than lock the account.
	Wrong int
	// Window is how long to wait after a wrong login before the next one.
	Window time.Duration
	// Refusals is how many refused logins prove that a password is wrong: more than
	// one for a BMC that refuses the right one now and then.
	Refusals int
	// Settle is how long a BMC may take until a change that it has accepted holds.
	Settle time.Duration
	// Interval is how long a BMC refuses another change after one.
	Interval time.Duration
	// Attributes says that a change that the BMC demands goes through the vendor's
	// attributes: the account itself refuses it.
	Attributes bool
	// Known says that the bounds of the length come from the BMC or its vendor.
	Known bool
}

// vendor is what is known of a vendor's BMCs.
type vendor struct {
	name string
	// manager is the beginning of the BMC's model; empty for every one.
	manager string
	limits  Limits
	// overrules says that the BMC's own word on lock-out is not believed.
	overrules bool
}

const (
	// strictWrong is for a BMC that does not say what it does: the strictest that we
	// know locks after three.
	strictWrong = 2
	// mostWrong is enough for all that we ever try.
	mostWrong = 4
	// strictWindow is the longest lock-out that we know.
	strictWindow = 10 * time.Minute
	// leastWindow is for every BMC that may lock: some count a minute, whatever they say.
	leastWindow = time.Minute
	// shortWindow is for a BMC that never locks.
	shortWindow = 15 * time.Second
	// longestWindow bounds what a BMC can make us wait.
	longestWindow = time.Hour
	// margin is added to a lock-out, for clocks that differ.
	margin = 5 * time.Second
	// settle is for a BMC that answers before it has done its work.
	settle = 5 * time.Second
	// usualMax is what every BMC that we know takes.
	usualMax = 20
	// unknownMax is for a BMC of which nothing is known: IPMI 1.5 takes no more.
	unknownMax = 16
)

// vendors is the table of vendors: the first row that fits holds.
var vendors = []vendor{
	// iDRAC 8 takes what IPMI 2.0 takes. The lock-out is by the caller's address and
	// not among what AccountService says.
	{name: "Dell", manager: "iDRAC8", overrules: true, limits: Limits{
		Max: 20, Wrong: strictWrong, Window: strictWindow, Refusals: 1, Settle: 2 * settle, Attributes: true,
	}},
	{name: "Dell", overrules: true, limits: Limits{
		Max: 40, Wrong: strictWrong, Window: strictWindow, Refusals: 1, Settle: 2 * settle, Attributes: true,
	}},
	// iLO refuses right credentials now and then, and delays instead of locking.
	{name: "HPE", overrules: true, limits: Limits{
		Min: 8, Max: 39, Wrong: 12, Window: 30 * time.Second, Refusals: 5, Settle: settle,
	}},
	// XCC has a shortest time between two changes, a day unless it is set otherwise.
	{name: "Lenovo", limits: Limits{
		Min: 10, Max: 32, Wrong: strictWrong, Window: strictWindow, Refusals: 1, Settle: settle, Interval: 24 * time.Hour,
	}},
	// Three tries, and the count is kept for longer than the lock-out.
	{name: "Supermicro", limits: Limits{
		Min: 8, Max: 20, Wrong: strictWrong, Window: leastWindow, Refusals: 1, Settle: settle,
	}},
	{name: "OpenBMC", limits: Limits{
		Min: 8, Max: 20, Wrong: strictWrong, Window: strictWindow, Refusals: 1, Settle: settle,
	}},
	{name: "NVIDIA", limits: Limits{
		Min: 13, Max: 20, Wrong: strictWrong, Window: strictWindow, Refusals: 1, Settle: settle,
	}},
	{name: "AMI", limits: Limits{
		Min: 13, Max: 20, Wrong: strictWrong, Window: leastWindow, Refusals: 1, Settle: settle,
	}},
}

// unknown is what is assumed of a BMC whose vendor has no row.
var unknown = Limits{Max: unknownMax, Wrong: strictWrong, Window: strictWindow, Refusals: 1, Settle: 2 * settle}

// LimitsOf joins what a BMC's report says with what is known of its vendor. What the
// report does not say comes from the vendor; for a vendor without a row the strictest
// is assumed. A nil report says nothing.
func LimitsOf(report *v1alpha1.BMCReport) Limits {
	l := unknown
	if report == nil {
		return l
	}
	overrules := false
	for _, row := range vendors {
		if row.name == report.Vendor && strings.HasPrefix(manager(report), row.manager) {
			l, overrules = row.limits, row.overrules
			l.Known = true
			break
		}
	}
	said := report.Accounts
	if said == nil {
		return l
	}
	if said.MinPasswordLength > 0 {
		l.Min = max(l.Min, said.MinPasswordLength)
	}
	switch {
	case said.MaxPasswordLength <= 0:
	case l.Known:
		// A BMC may say more than it takes, and never takes more than it says.
		l.Max = min(l.Max, said.MaxPasswordLength)
	default:
		l.Max, l.Known = min(said.MaxPasswordLength, usualMax), true
	}
	if !overrules {
		l.lockout(said)
	}
	return l
}

// manager is the BMC's model without blanks: "iDRAC 8" is written in both ways.
func manager(report *v1alpha1.BMCReport) string {
	return strings.ReplaceAll(report.ManagerModel, " ", "")
}

// lockout takes over what the BMC says of wrong logins.
func (l *Limits) lockout(said *v1alpha1.AccountPolicy) {
	if said.LockoutThreshold == nil {
		return
	}
	if *said.LockoutThreshold == 0 {
		l.Wrong, l.Window = mostWrong, shortWindow
		return
	}
	l.Wrong = int(min(mostWrong, max(1, *said.LockoutThreshold-1)))
	if said.LockoutSeconds != nil && *said.LockoutSeconds > 0 {
		seconds := min(*said.LockoutSeconds, int64(longestWindow/time.Second))
		l.Window = max(leastWindow, time.Duration(seconds)*time.Second+margin)
	}
}
