// Package settle is the unit of work with the two state machines in it. What a
// caller changes has consequences: a reply makes a host ready, a ready host its
// cluster, a ready cluster starts its installation. [Units.Update] lets them all
// follow before anything is stored.
//
// Judging is package evaluate's; this package carries out what was decided: it
// applies statuses, texts, effects and results of checks to the records of a
// unit of work, and writes the timeline.
package settle
