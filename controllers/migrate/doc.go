// Package migrate looks at a fleet of baremetal-operator (BMO) before
// Ironflow takes it over, and tells what would happen. [Check] reads only: its
// Kubernetes client and its connection to Ironic hold every write back, and what
// they held is the answer to "which host would be touched?", since each host is
// rehearsed by the host controller itself.
//
// The package also knows baremetal-operator's lease: [WaitForLease] keeps two
// operators from working on the same hosts.
package migrate
