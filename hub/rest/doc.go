// Package rest serves the assisted-service v2 REST API over the hub's core.
//
// The protocol's operations are one table (hub/protocol); the ones that this
// hub serves have a handler in [handlers]. The others are answered 501 with a
// reason, unknown paths 404, all in the protocol's error model. The main type
// is [Server], an http.Handler.
package rest
