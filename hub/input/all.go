package input

// ClusterProblems are the refusals of all rules that a new cluster breaks, for those who tell
// of everything at once.
func ClusterProblems(c *Cluster) []error { return all(clusterRules, c) }

// InfraEnvProblems are those of a new infra-env.
func InfraEnvProblems(e *InfraEnv) []error { return all(infraEnvRules, e) }

// HostProblems are those of what is asked for a host.
func HostProblems(p *Host) []error { return all(hostRules, p) }

func all[T any](rules []Rule[T], now *T) (out []error) {
	for _, r := range rules {
		if err := r.check(now); err != nil {
			out = append(out, err)
		}
	}
	return out
}
