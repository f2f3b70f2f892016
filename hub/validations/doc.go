// Package validations checks whether a host and its cluster may be installed,
// and says what to do when not.
//
// There are two tables, one row for each id of the v2 protocol: [HostRows] and
// [ClusterRows]. A row says which category the id belongs to, when it applies,
// what its failure means, and has a pure check. Checks look at facts only:
// [HostFacts] is one host with its reports decoded, [ClusterFacts] is what the
// hosts have in common, computed once for all of them. [Host] and [Cluster] run
// the tables. The package also decides which disks can be installed to, and
// which one is.
package validations
