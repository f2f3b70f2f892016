// Package input says which settings of clusters, infra-envs and hosts are taken: a
// table of rules, each with the member that it is about, where Kubernetes objects have
// the same, what is wanted and what to write in the place of a mistake.
//
// It judges what people write, at the moment when they write it, and knows nothing of
// records, hosts and statuses: whether settings fit the machines is what hub/validations
// says later. All of it is pure. Users of the REST API and the controllers of Kubernetes
// objects pass the same rules, so that both are told the same. The main functions are
// [CheckCluster], [CheckInfraEnv], [CheckHost], [CheckArguments] and [CheckIgnition]; the
// main type is [Rule].
package input
