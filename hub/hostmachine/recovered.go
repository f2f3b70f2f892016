package hostmachine

import "github.com/ironflow/ironflow/hub/rules"

// recovered says what a host is whose record was lost with the hub's store, by the
// status that it had, and what it is told. A host that is not in it has an agent
// that registers again, and a disk that nobody has touched.
var recovered = rules.Recovered{
	installed:   {installed, "Installed. The hub's store was lost since; this record was made anew from the Agent"},
	added:       {added, "Installed. The hub's store was lost since; this record was made anew from the Agent"},
	failed:      {failed, "The installation had failed when the hub's store was lost; reset the cluster to install the host again"},
	cancelled:   {cancelled, "The installation was called off when the hub's store was lost; reset the cluster to install the host again"},
	installing:  {failed, lostMeanwhile},
	inProgress:  {failed, lostMeanwhile},
	pendingUser: {failed, lostMeanwhile},
}

const lostMeanwhile = "The hub's store was lost during the installation, so nobody knows how it ended; reset the cluster to install the host again"

// Recovered returns the status and its text of a host whose record was lost while
// it had that status; ok is false where the host comes back by itself.
func Recovered(lost string) (status, info string, ok bool) {
	r, ok := recovered[lost]
	return r.State, r.Info, ok
}

// Overtaken tells that a host which somebody has seen with one status has gone on since a backup, in whose record it
// has the other.
func Overtaken(record, seen string) bool {
	return recovered.Overtaken(record, seen, Installing)
}
