// Package health reads how the parts of a machine are: power supplies, fans and
// temperatures, drives, memory, processors, and what is new in the logs. [Read] makes
// a bounded number of requests and follows links only; what it could not read in one
// pass it reads in the next. It judges nothing: that is bmc/health/rules.
//
// [List] is the same without a bound that hurts, for a person who looks, and [Parts]
// and [Entries] print it.
package health
