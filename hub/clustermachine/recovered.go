package clustermachine

import "github.com/ironflow/ironflow/hub/rules"

// recovered says what a cluster is whose record was lost with the hub's store, by
// the status that it had, and what it is told. One that is not in it was not
// begun to be installed: it begins anew.
var recovered = rules.Recovered{
	installed:   {installed, "Installed. The hub's store was lost since; this record was made anew from the AgentClusterInstall"},
	addingHosts: {addingHosts, "Hosts can be added. The hub's store was lost since; this record was made anew from the AgentClusterInstall"},
	failed:      {failed, "The installation had failed when the hub's store was lost; reset the cluster to install it again"},
	cancelled:   {cancelled, "The installation was called off when the hub's store was lost; reset the cluster to install it again"},
	installing:  {failed, lostMeanwhile},
	pendingUser: {failed, lostMeanwhile},
	finalizing:  {failed, lostMeanwhile},
}

const lostMeanwhile = "The hub's store was lost during the installation, so nobody knows how it ended; reset the cluster to install it again"

// Recovered returns the status and its text of a cluster whose record was lost
// while it had that status; ok is false where it begins anew.
func Recovered(lost string) (status, info string, ok bool) {
	r, ok := recovered[lost]
	return r.State, r.Info, ok
}

// Overtaken tells that a cluster which somebody has seen with one status has gone on since a backup, in whose record it
// has the other.
func Overtaken(record, seen string) bool {
	return recovered.Overtaken(record, seen, []string{installing, pendingUser, finalizing})
}
