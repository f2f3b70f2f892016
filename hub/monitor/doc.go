// Package monitor has done what no call does: what happens because nothing happened
// (silent agents, limits that have passed), and the slow work that calls leave behind.
// Replicas share both. The main type is [Monitor].
package monitor
