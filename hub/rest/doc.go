// Package rest serves the assisted-service v2 REST API over the hub's core.
//
// The protocol's operations are one table (hub/protocol), each with a handler in
// [handlers]. Unknown paths are answered 404, DNS zones, which this hub does not
// manage, 501, all in the protocol's error model. The main type is [Server], an
// http.Handler.
package rest
