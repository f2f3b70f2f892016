package demo

import "strings"

// simulated is what something else stands for in the demo, and nothing besides.
var simulated = []string{
	"BMC (sushy-tools' emulator)", "machine (no kernel boots)", "Ignition (unpacked by a Go program)",
	"IPA and systemd (Go programs)", "disk (the agent runs dry)",
}

// What the demo says first. README.md and docs/machines.md hold the same lines.
const (
	inDemo = "real: kube-apiserver with etcd, Ironic, Ironflow (controllers, image server, hub), ironflow-agent and ironflow-step as processes"
	// Proven says where the real thing takes part.
	Proven = "for real, in make test-e2e: a disk that is written, with the hub's Ignition on it, and systemd, " +
		"IPA, a kernel that boots the image; in make test-machine: all of it on one virtual machine, " +
		"with Ignition that carries its config out; nowhere so far: a BMC of real hardware"
)

// Real is the one line that says what is real in the demo and what is simulated.
var Real = inDemo + "; simulated: " + strings.Join(simulated, ", ")

// Whole is what is real of one machine with MACHINE=1.
const Whole = realName + " is a whole machine: real firmware (OVMF), our live image read by HTTP, Ignition, systemd, podman, ironic-python-agent, agent and " +
	"coreos-installer on a kernel and disks of its own (QEMU, live medium of Debian packages in the CoreOS layout); its BMC is sushy-tools' emulator. The others are simulated"
