// Package agentbased takes an installation without a hub outside through its life, with the
// programs as they are shipped: `ironflow hub agent-based` on the host that is node zero, and
// on each host, in a folder of its own, what its units run: `agent-installer-client`,
// `start-cluster-installation` and `start-agent`, whose agents pretend to install. Most of
// the tests play systemd (they start programs and start them again), the power supply and the
// image builder, and nothing of Ironflow; tokens are made here by the standard of JSON web
// tokens. Others have the image made by the shipped program too, and its hosts in network
// namespaces of their own, or on a real systemd that starts what the image enables. With the
// build tag machine (`make test-machine`), one of the hosts is a whole machine that boots it.
package agentbased
