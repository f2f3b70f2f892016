// Package demo runs the whole flow on one machine for a person to watch: it
// brings up the lab, starts Ironflow as its own process, creates hosts, and
// shows each on its way from BMC address to installed system and back.
//
// Nothing in it takes part in the flow: it writes what a user would write, and
// reads what a user would read. Faults are put into the simulated machines or
// into the real parts, never into Ironflow.
package demo
