// Package kubeapi is an in-memory Kubernetes API for tests: storage, watches, merge
// and JSON patches, the status subresource, optimistic locks, finalizers and garbage
// collection, but without schemas, admission and access control.
//
// A [Server] is reached through the transport of its [Server.Config], without a
// network: a manager with its real cache, queue, filters and client works on it
// inside testing/synctest, as the program's does on a cluster. What it answers is
// held to the real thing by a test that runs the same cases on both.
package kubeapi
