// Package usernetwork says whose the network of a cluster's hosts is: the cluster's, which
// keeps virtual addresses in it, or the user's. The hub judges by it what is written of
// clusters, and so does the reader of the manifests of an agent-based installation, which
// knows nothing of the hub. Platforms are called as in the REST API or as in Kubernetes
// objects: "none" is "None". The main function is [Refused].
package usernetwork

import "strings"

// Platform tells that the platform manages no network, whose network is the user's.
func Platform(name string) bool { return is(name, "none") || is(name, "external") }

func is(name, platform string) bool { return strings.EqualFold(name, platform) }

// Users tells that the network is the user's; nil asks for neither, and the platform decides.
// Nobody keeps virtual addresses in it.
func Users(platform string, asked *bool) bool {
	if asked != nil {
		return *asked
	}
	return Platform(platform)
}

// Refused is what user_managed_networking (userManagedNetworking) does not go with as it is
// asked for: "platform none, whose network is the user's". Empty is for one that goes with all;
// nil asks for neither. A single node has nobody beside it to keep addresses with.
func Refused(platform string, single bool, asked *bool) string {
	switch {
	case asked == nil:
	case !*asked && Platform(platform):
		return "platform " + platform + ", whose network is the user's"
	case !*asked && single:
		return "a single node, whose network is the user's"
	case *asked && is(platform, "baremetal") && !single:
		return "platform " + platform + ", whose network is the cluster's"
	}
	return ""
}
