// Package wire holds the types of the assisted-service v2 REST API, as hub and
// agents exchange them.
//
// All models are generated from one table of the protocol's fields
// (hub/protocol), with the existing service's rules of when a member is left
// out. The package imports nothing but the standard library, so that host-side
// programs can use it.
package wire

//go:generate go run ./gen
