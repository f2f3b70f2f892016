// Package manifests reads what an agent-based installation is described with: the manifests
// of zero-touch provisioning (AgentClusterInstall, ClusterDeployment, ClusterImageSet,
// InfraEnv, NMStateConfig, pull secret, extra manifests, folders of hosts), or
// install-config.yaml with agent-config.yaml, which [Convert] turns into the same.
//
// It is strict: a field that nobody knows, a wrong type, a field that is there twice, a value
// that is missing or contradicts another one are all told at once, each with file, number of
// the document, path, and what to write instead. Lenient reading turns fields that nothing
// would be done with into warnings; all else stays an error. It talks to nobody, and no error
// quotes a secret. The main functions are [Read] and [ReadConfigs].
package manifests
