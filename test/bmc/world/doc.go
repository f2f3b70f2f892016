// Package world is what tests of the controllers of BMCs have in common: an API in
// memory, a host with its Secret, and the host's BMC, which is simulated. The controller
// itself comes from the test.
//
// Entry point: [New].
package world
