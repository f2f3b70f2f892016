// Package profile describes simulated BMCs in the shapes of real ones: what six
// makers' machines were seen to offer, to lack and to insist on, as switches of the
// simulator. They are for tests that have to hold for more than one kind.
package profile

import (
	"maps"
	"time"

	"github.com/ironflow/ironflow/test/bmc/simulator"
	"github.com/ironflow/ironflow/test/bmc/simulator/accounts"
)

// Profile is a kind of BMC.
type Profile struct {
	// Name is the maker with the kind, such as "Dell PowerEdge R750".
	Name string
	// System is the machine; its ID is as that maker has it.
	System simulator.System
	// Policy, SessionTimeout and the rest are what the BMC says of itself.
	Policy                                    accounts.Policy
	SessionTimeout                            time.Duration
	MaxSessions, MaxSubscriptions, MaxStreams int
	AccountID                                 string
	RetryInterval                             time.Duration
}

// All are the profiles.
func All() []Profile {
	return []Profile{Dell(), HPE(), Lenovo(), Supermicro(), DGX(), OpenBMC()}
}

// New makes such a BMC. What the options leave empty is the profile's.
func (p Profile) New(o simulator.Options) (*simulator.Server, error) {
	if o.Policy == (accounts.Policy{}) {
		o.Policy = p.Policy
	}
	either(&o.SessionTimeout, p.SessionTimeout)
	either(&o.EventRetryInterval, p.RetryInterval)
	either(&o.MaxSessions, p.MaxSessions)
	either(&o.MaxSubscriptions, p.MaxSubscriptions)
	either(&o.MaxStreams, p.MaxStreams)
	either(&o.AccountID, p.AccountID)
	s := simulator.New(o)
	if err := s.AddSystem(p.System); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func either[T comparable](into *T, value T) {
	var zero T
	if *into == zero {
		*into = value
	}
}

// With returns the profile with more quirks, which are on for ever.
func (p Profile) With(quirks ...simulator.Quirk) Profile {
	p.System.Quirks = maps.Clone(p.System.Quirks)
	maps.Copy(p.System.Quirks, always(quirks...))
	return p
}

// always switches quirks on for ever.
func always(quirks ...simulator.Quirk) map[simulator.Quirk]int {
	m := make(map[simulator.Quirk]int, len(quirks))
	for _, q := range quirks {
		m[q] = simulator.Always
	}
	return m
}

func slots(types []string, ids ...string) []simulator.Slot {
	list := make([]simulator.Slot, 0, len(ids))
	for _, id := range ids {
		list = append(list, simulator.Slot{ID: id, Types: types})
	}
	return list
}

var (
	disc = []string{"CD", "DVD"}
	both = []string{"CD", "DVD", "USBStick"}
)

// disks are the drives of a controller.
func disks(prefix string, n int, bytes int64) []simulator.Drive {
	list := make([]simulator.Drive, 0, n)
	for i := range n {
		id := prefix + string(rune('0'+i))
		list = append(list, simulator.Drive{ID: id, Model: "SIM", SerialNumber: "SER-" + id, CapacityBytes: bytes})
	}
	return list
}
