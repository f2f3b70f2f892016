// Package secretcache lets controllers read and follow Secrets without a copy of every
// Secret of the cluster in memory. The cache ([New]) holds those with the label
// environment.metal3.io=baremetal, as baremetal-operator's does; of all others it
// holds the names and versions, so that a change of one still wakes whoever refers
// to it ([Unlabelled]). A [Reader] reads the ones from the cache and the others from
// the API server, and marks those that are read again and again.
package secretcache
