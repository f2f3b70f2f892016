// Package rules judges what a BMC shows of its machine's parts. [Assess] says how one
// part is, with the habits of vendors taken into account; [Judge] makes one row per
// domain of a [Reading] and of the [Memory] of those before, and says what is new.
//
// The package is pure: it knows neither clock nor network. bmc/health reads.
package rules
