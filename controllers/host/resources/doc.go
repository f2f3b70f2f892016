// Package resources reads and writes what belongs to a host in Kubernetes: the Secrets
// that it refers to, its PreprovisioningImage and its HardwareData. The host itself is
// written by who runs its pass. The main type is [Store].
//
// What a user got wrong, such as a Secret that is missing, ends up in a result. An
// error is only of an API server that does not answer, or of a write that it refuses.
package resources

import "sigs.k8s.io/controller-runtime/pkg/client"

// Store reaches the API server.
type Store struct {
	// Client reads from the cache, and writes.
	Client client.Client
	// Live reads from the API server.
	Live client.Reader
	// Cache reads from the cache as it is, without waiting for our own writes to be there.
	Cache client.Reader
}
