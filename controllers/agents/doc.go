// Package agents keeps Agent resources and the hub's records of hosts in step.
//
// The spec of an Agent is what people (and the linking controller) want; it is
// handed to the hub. Its status is a projection of the hub's record and can be
// rebuilt at any time. An Agent appears when a host registers in an InfraEnv,
// and deleting it makes the hub forget the host.
package agents
