package hubpaths

// Kept is how many entries the resolver has in memory.
func (r *Resolver) Kept() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := len(r.seen)
	for _, e := range r.envs {
		n += 1 + len(e.asked) + len(e.failed)
	}
	return n
}
