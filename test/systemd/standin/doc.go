// Package standin plays systemd for one machine without one: it reads the same
// unit file that a real systemd would, runs its commands as processes of its
// own, and shows the same states, results and counters. The simulated machines
// of the lab use it: it is linked into the lab's step program
// (test/cmd/ironflow-step), never into the shipped one. It is no service manager
// for production: no cgroups, no dependencies, no sockets, and what it does not
// know of a unit file it ignores.
//
// [Manager] implements systemd.Manager; package contract holds it to the
// behaviour of the real systemd. Its processes die with the program that
// started them, also when that is killed with signal 9.
package standin
