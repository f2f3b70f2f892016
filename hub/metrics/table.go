package metrics

// Row is one of the known names, without the prefix.
type Row struct {
	Name, Help string
	Labels     []string
	// Buckets are those of a histogram; nil for others.
	Buckets []float64
	// Not is why there is no such figure; empty where there is.
	Not string
}

// filesystemUsage is the only one that is asked for when it is read.
const filesystemUsage = "filesystem_usage_percentage"

var (
	minutes = []float64{60, 120, 300, 600, 900, 1200, 1800, 2400, 3000, 3600, 4500, 5400, 7200, 10800, 14400}
	phases  = []float64{1, 5, 10, 30, 60, 120, 300, 600, 900, 1200, 1800, 2400, 3600, 7200}
	short   = []float64{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 30000}
	doubled = []float64{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}
	teras   = []float64{50, 100, 250, 500, 1000, 2000, 4000, 8000, 16000, 32000}
)

// The labels of the protocol's figures.
const (
	byVersion = "openshiftVersion"
	byResult  = "result"
	byRole    = "role"
)

const noCycles = "hosts and clusters are looked at when something is due, in no cycles"

// Table is all known names.
var Table = []Row{
	{Name: "cluster_creations", Help: "Clusters that were registered.", Labels: []string{byVersion}},
	{Name: "cluster_installation_started", Help: "Installations that were begun.", Labels: []string{byVersion}},
	{Name: "cluster_installation_seconds", Help: "Time from the beginning of an installation to its end, in seconds.", Labels: []string{byResult, byVersion}, Buckets: minutes},
	{Name: "operation_duration_miliseconds", Help: "Time to answer a call, in milliseconds.", Labels: []string{"operation"}, Buckets: short},
	{Name: "host_installation_phase_seconds", Help: "Time of a host in a stage of its installation, in seconds.", Labels: []string{"phase", byResult}, Buckets: phases},
	{Name: "cluster_hosts", Help: "Hosts whose installation ended.", Labels: []string{byRole, byResult}},
	{Name: "cluster_host_cores", Help: "Processor cores of hosts whose installation ended.", Labels: []string{byRole, byResult}, Buckets: doubled},
	{Name: "cluster_host_ram_gb", Help: "Memory of hosts whose installation ended, in GB.", Labels: []string{byRole, byResult}, Buckets: doubled},
	{Name: "cluster_host_disk_gb", Help: "Installation disks of hosts whose installation ended, in GB.", Labels: []string{byRole, byResult}, Buckets: teras},
	{Name: "cluster_host_nic_gb", Help: "Speeds of the network cards of hosts whose installation ended, in Gbit/s.", Labels: []string{byRole, byResult}, Buckets: doubled},
	{Name: "cluster_host_disk_sync_duration_ms", Help: "Time in which the installation disk of a host stores 99 of 100 writes, in milliseconds.", Buckets: short},
	{Name: "cluster_image_pull_status", Help: "Images that hosts were asked for before an installation.", Labels: []string{byResult}},
	{Name: "host_validation_is_in_failed_status_on_cluster_deletion", Help: "Validations of hosts that failed when their cluster was removed.", Labels: []string{"hostValidationType"}},
	{Name: "host_validation_failed_after_success_before_installation", Help: "Validations of hosts that failed after they had passed.", Labels: []string{"hostValidationType"}},
	{Name: "cluster_validation_is_in_failed_status_on_cluster_deletion", Help: "Validations of clusters that failed when the cluster was removed.", Labels: []string{"clusterValidationType"}},
	{Name: "cluster_validation_failed_after_success_before_installation", Help: "Validations of clusters that failed after they had passed.", Labels: []string{"clusterValidationType"}},
	{Name: filesystemUsage, Help: "How full the file system with the hub's files is, in percent; -1 where that cannot be told."},
	{Name: "monitored_hosts_duration_ms", Help: "Time of a look at a host that was due, in milliseconds.", Buckets: short},
	{Name: "monitored_clusters_duration_ms", Help: "Time of a look at a cluster that was due, in milliseconds.", Buckets: short},
	{Name: "monitored_hosts_cycle_duration_ms", Not: noCycles},
	{Name: "monitored_clusters_cycle_duration_ms", Not: noCycles},
	{Name: "release_cache", Not: "no release is unpacked: openshift-install is the program that --hub-openshift-install names"},
	{Name: "release_cache_eviction", Not: "as release_cache"},
	{Name: "cluster_blacklisted_events_total", Not: "no cluster is set aside: each one's work waits for nobody else's"},
	{Name: "blacklisted_clusters_current", Not: "as cluster_blacklisted_events_total"},
	{Name: "urlauth_scope_checks_total", Not: "an address opens the one path and query that it was signed for; refusals are among ironflow_hub_requests_total, code 401"},
}
