// Package edge holds the test of an agent-based installation on a whole machine: a host
// boots the ISO that `ironflow agent-image create` makes over the medium of test/vm/medium,
// is its own hub, and becomes a plain Kubernetes of one node. Beside it are a registry, a
// mirror with the node's programs, and a DNS and DHCP server: no hub, no Ironic, no BMC that
// anybody asks. The programs are those that are shipped, and nobody is played.
//
// The test tells each stage that was reached, so that a run that an emulated processor is too
// slow for says how far the machine came. It carries the build tag machine (`make
// test-machine`, root).
package edge
