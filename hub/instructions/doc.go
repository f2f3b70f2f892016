// Package instructions decides what a host's agent does next: which steps, in
// which order, and when it asks again.
//
// [For] is pure. One table maps the host's status to steps and pace, another
// maps each step type to what builds its arguments. Steps that have nothing to
// ask are left out. The wait of the protocol (60 or 120 seconds) is an upper
// bound; while something is about to happen to a host, it is asked to come back
// within seconds.
package instructions
