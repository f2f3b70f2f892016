// Package joint holds the tests in which everything on the host is the real
// thing at once: a booted systemd with the rendered agent.service and the real
// ironflow-agent in it, and beside it, as its container would be, the real
// ironic-python-agent with our plugin and the real ironflow-step. In front of
// them are a real Ironic, the host controller on a real kube-apiserver, and a
// real hub. Pretended are the BMC, the hardware that IPA lists, and in most cases
// the disk that the agent writes, which a scenario describes; in two the agent
// writes a loop device with the real coreos-installer, one of which fails.
//
// They need root: see packages systemdtest and realipa.
package joint
