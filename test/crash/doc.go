// Package crash proves that a controller may die at any moment. The controller
// under test is a process of its own; a [Proxy] in front of the Kubernetes API
// and one in front of Ironic number its requests, and a [Gate] kills it with
// SIGKILL at the planned ones: before the request is sent on, or when it has been
// carried out and before the answer is delivered. A [Supervisor] starts it again
// at once.
//
// What came through the proxies is a [Journal]; its Violations are what must
// never happen, whenever the controller died: a second node, something asked of
// Ironic that the user did not wish, or wished once and got twice, and a call
// that was made before what explains it was stored: the phase, and for volumes,
// cleaning and servicing the order on the node.
//
// The package is for tests, and knows nothing of a particular controller: the
// tests of this package run the controllers of hosts and their firmware through
// whole lives of hosts.
package crash
