package envurl

import (
	"net/url"
	"strings"
)

// eventsPath is where events are, below [API].
const eventsPath = "/events?"

// APIOf is the root of all operations in an address of events; empty for none.
func APIOf(events string) string {
	api, _, _ := strings.Cut(events, eventsPath)
	return api
}

// The addresses below have no token in them, and ask for a user's: that of an infra-env
// opens its images, and its secrets with them, which is not for all who read the status of
// a host or a cluster.

// HostEvents lists the events of a host.
func HostEvents(api, infraEnv, host string) string {
	return api + eventsPath + url.Values{"host_id": {host}, "infra_env_id": {infraEnv}}.Encode()
}

// ClusterEvents lists the events of a cluster.
func ClusterEvents(api, cluster string) string {
	return api + eventsPath + url.Values{"cluster_id": {cluster}}.Encode()
}

// Logs is where the logs of a cluster and its hosts are, or of one host.
func Logs(api, cluster, host string) string {
	at := api + "/clusters/" + url.PathEscape(cluster) + "/logs"
	if host == "" {
		return at
	}
	return at + "?" + url.Values{"host_id": {host}, "logs_type": {"host"}}.Encode()
}
