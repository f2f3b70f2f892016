// Package unit is the unit of work of the hub: records are read from one state
// of the store, changed in memory and stored together with their events, as a
// whole or not at all.
//
// The main types are [Work], one unit with its records, and [Units], which
// does them: where somebody else was faster, the whole work is done again on
// what there is by then. What the changes mean is not known here.
package unit
