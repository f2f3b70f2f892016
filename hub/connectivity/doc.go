// Package connectivity finds which hosts of a cluster reach each other.
//
// A [Graph] takes the connectivity report of each host and answers with the
// majority group of each network: the hosts that all reach one another, both
// ways. One report costs time in proportion to itself, so that a cluster of 500
// hosts can be looked at after every reply, with the graph of the look before. Everything is in the order of the
// hosts' ids: the same reports give the same groups, whoever reported first.
package connectivity
