// Package replicas runs several hubs, each in a process of its own, over one real
// PostgreSQL and behind a plain balancer, and kills them. The hosts are those of agents as
// they are shipped, in dry run.
package replicas
