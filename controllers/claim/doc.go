// Package claim gives BareMetalHosts to HostClaims: whoever may not see the hosts
// of a site asks for one in a namespace of their own, says what shall run on it,
// and gives it back by deleting the claim.
//
// HostDeployPolicies in the hosts' namespaces say whose claims they serve. A claim
// is bound by the consumerRef of the host, in one write that fails when somebody
// else was faster; the claim's status follows and can be rebuilt, and an annotation
// of the claim names the host where that status is lost. What the claim asks for is
// then kept in the host's spec, with the Secrets that it refers to. A claim that goes
// has its host deprovisioned before it is released.
//
// [Decide] holds the policy and is pure; [Candidates] chooses.
package claim
