// Package whole is what end-to-end tests of BMCs have in common: the shipped program in
// front of a real Ironic, on a real kube-apiserver, with hosts whose BMCs are simulated.
// What a test asks of its hosts, and what it hears, stays with the test.
//
// Entry points: [New], [World.Start], [World.Register].
package whole
