// Package link joins what the two worlds know of one machine: the
// BareMetalHost, which Ironic drives, and the Agent, which the machine itself
// registered.
//
// A BareMetalHost opts in by the label that names its InfraEnv. Once its live
// image with the agent is Ready, the controller asks for the deploy step
// start_assisted_install; when an Agent with the host's boot MAC address
// appears, it copies what the user said about the host (role, name, cluster,
// root disk, labels) to it. An installed host is detached, then paused with its status, so that
// it can be backed up and moved. When it is deleted and its machine is to be cleaned, its Node
// leaves its cluster first (package drain).
//
// There are three verbs. Lending is the above; a host whose deployment is a person's or a
// claim's (package deployowner) is left as it is, and so is its Agent. Giving back has the
// machine attached, deprovisioned and cleaned: it is asked for explicitly, by taking the
// Agent out of its cluster, by deleting the Agent, or by an annotation, and is recorded on the
// host until it is done. Forgetting, when the label goes, ends the care and touches no machine.
// The condition Linked says what this controller comes to and what to do next.
//
// All policy is in [Decide], which is pure; the reconciler reads, applies the
// plan with one patch per object, and is woken by watches.
package link
