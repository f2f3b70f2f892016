// Package evaluate is what the hub thinks of its records, without doing anything:
// the facts that the two state machines decide on, the input of the checks, who
// gets which role, what a host waits for, how far a cluster is.
//
// Everything is computed from records, from [Rules], which are settings, and
// from a [Moment]; the main type is [Evaluator], which has both. Nothing here reads
// a store, waits, or changes a record.
package evaluate
