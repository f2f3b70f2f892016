// Package snapshots keeps in memory what the polls of hosts are answered from:
// per host the instructions as they are, and what its peers ask it for. A
// snapshot is made of the records once and dropped when they change; see
// [Cache], which also remembers what each host has said last. It is not a second place for state: all of it can be made again.
package snapshots
