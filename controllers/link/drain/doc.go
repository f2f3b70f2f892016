// Package drain takes the Node of a machine out of its cluster before the machine is cleaned:
// its workload is evicted, as the cluster's disruption budgets allow it, and the Node is removed.
//
// [Node] does that once as far as it gets, and never waits; it is asked again until it says that
// it is done. The cluster is another one than the hub's, and may be slow or gone: [Checker] asks it
// beside the controller, for one machine at a time each. What was heard is memory only, and may
// be lost: since when a machine is drained, and until when it may be, is on its host.
package drain
