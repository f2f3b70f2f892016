// Package agentbased takes an installation without a hub outside through its life, with the
// programs as they are shipped: `ironflow hub agent-based` on the host that is node zero, and
// on each host, in a folder of its own, what its units run: `agent-installer-client`,
// `start-cluster-installation` and `start-agent`, whose agents pretend to install. The tests
// play systemd (they start programs and start them again), the power supply and the image
// builder, and nothing of Ironflow. Tokens are made here by the standard of JSON web tokens.
package agentbased
