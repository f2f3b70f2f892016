// Package metrics registers and raises the metrics of the host controller, from one table,
// and counts the fleet when somebody asks. Those that start with metal3_ have the names and
// labels of baremetal-operator. Its main type is [Metrics].
package metrics
