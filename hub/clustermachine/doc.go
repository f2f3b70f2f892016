// Package clustermachine is the life of a cluster in the hub, as one table, in
// the same form as hostmachine: pure, with the statuses of the
// assisted-service v2 protocol.
//
// A cluster is what is installed together: a single node, or the hosts that
// were given to it. Its status follows from its hosts' statuses and from its
// own preparation.
package clustermachine
