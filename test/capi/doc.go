// Package capi holds tests of hosts that Cluster API's infrastructure provider for Metal3
// picks, provisions, repairs, releases and moves. The provider is played by its requests,
// in its order: it is no part of Ironflow. The API server is a real one, with the schemas
// and admission rules of config/; the end-to-end test has the shipped program and a real Ironic besides.
package capi
