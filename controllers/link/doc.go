// Package link joins what the two worlds know of one machine: the
// BareMetalHost, which Ironic drives, and the Agent, which the machine itself
// registered.
//
// A BareMetalHost opts in by the label that names its InfraEnv. Once its live
// image with the agent is Ready, the controller asks for the deploy step
// start_assisted_install; when an Agent with the host's boot MAC address
// appears, it copies what the user said about the host (role, name, cluster,
// root disk) to it. A host that is deprovisioned loses its Agent: what was
// installed is gone, and the next boot registers afresh. Removing the label
// gives the host back. A host that asks for another deployment, by a method or an
// image, is left as it is; an event says so.
//
// All policy is in [Decide], which is pure; the reconciler reads, applies the
// plan with one patch per object, and is woken by watches.
package link
