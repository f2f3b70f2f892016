package demo

// What the demo says first. README.md and docs/machines.md hold the same lines.
const (
	// Real is what takes part as it is shipped or as others ship it.
	Real = "real:      kube-apiserver with etcd, Ironic, Ironflow (controllers, image server, hub), ironflow-agent and ironflow-step as processes"
	// Simulated is what something else stands for.
	Simulated = "simulated: BMCs (sushy-tools' emulator), boots (no kernel starts), ironic-python-agent and systemd (Go programs), disks (the agent runs dry)"
)

// introduce says what will be seen.
func (d *demo) introduce() {
	d.screen.Say(Real)
	d.screen.Say(Simulated)
}
