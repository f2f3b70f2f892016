// Package units has the systemd units and scripts by which an installed host becomes a
// node: one fetches programs and starts the container runtime, one runs kubeadm, one
// applies manifests, one has the API's address carried. Each repeats until it has done
// its work, leaves a mark then, and may be interrupted at any moment.
//
// The scripts are the same on all hosts. What differs is in files beside them, so that
// nothing of a user's is ever put into a script.
package units

import (
	_ "embed"
	"strings"
)

// Folder is where everything of a host lies.
const Folder = "/etc/ironflow/kubernetes"

// Names of files in [Folder].
const (
	// Settings is the environment of the units: NODE, ENDPOINT, VERSION, RUNTIME, ADDRESS.
	Settings = "settings.env"
	// Proxy is the environment of what goes through a proxy.
	Proxy = "proxy.env"
	// Programs has a line for each program: kind, name, tool, checksum, URL.
	Programs = "programs.list"
	// Configuration is kubeadm's.
	Configuration = "kubeadm.yaml"
	// KubeVIP is the static pod of kube-vip, without the name of the card.
	KubeVIP = "kube-vip.yaml"
	// Keepalived is the configuration of keepalived, without the name of the card.
	Keepalived = "keepalived.conf"
)

// CheckAPI is the script by which keepalived judges the host.
const CheckAPI = "check-api.sh"

var (
	//go:embed scripts/programs.sh
	programs string
	//go:embed scripts/common.sh
	common string
	//go:embed scripts/init.sh
	initialise string
	//go:embed scripts/join.sh
	join string
	//go:embed scripts/manifests.sh
	manifests string
	//go:embed scripts/vip.sh
	vip string
	//go:embed scripts/check-api.sh
	checkAPI string
)

// Unit is a systemd unit that is enabled, or with Dropin an addition to somebody else's.
type Unit struct {
	Name, Contents string
	// Dropin is the addition's file name; empty for a unit of its own.
	Dropin string
}

// Script is a file in [Folder].
type Script struct{ Name, Text string }

// Host is what a host does.
type Host struct {
	// First tells that it initialises the control plane.
	First bool
	// Manifests tells that it applies manifests.
	Manifests bool
	// VIP tells that it may carry the API's address, Keepalived that keepalived does it.
	VIP, Keepalived bool
	// Proxy tells that there is a proxy; Runtime is the container runtime's unit.
	Proxy   bool
	Runtime string
}

// path is where programs are looked for: archives are often unpacked below /opt or
// /usr/local, which systemd does not search.
const path = "/opt/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// For are the units and scripts of a host.
func For(h Host) (units []Unit, scripts []Script) {
	units = append(
		units,
		Unit{Name: "ironflow-programs.service", Contents: service("Programs of Kubernetes", "programs.sh", h, "Type=oneshot\nRemainAfterExit=yes", "")},
		Unit{Name: "kubelet.service", Contents: kubelet},
	)
	scripts = append(scripts, Script{"programs.sh", programs}, Script{"common.sh", common})
	one, text := "join.sh", join
	if h.First {
		one, text = "init.sh", initialise
	}
	scripts = append(scripts, Script{one, text})
	units = append(units, Unit{
		Name:     "ironflow-kubeadm.service",
		Contents: service("Node of a Kubernetes cluster", one, h, "Type=exec", "/var/lib/ironflow/kubernetes/joined"),
	})
	if h.Manifests {
		scripts = append(scripts, Script{"manifests.sh", manifests})
		units = append(units, Unit{
			Name:     "ironflow-manifests.service",
			Contents: service("Manifests of the Kubernetes cluster", "manifests.sh", h, "Type=exec", "/var/lib/ironflow/kubernetes/applied"),
		})
	}
	if h.VIP {
		scripts = append(scripts, Script{"vip.sh", vip})
		if h.Keepalived {
			scripts = append(scripts, Script{CheckAPI, checkAPI})
		}
		units = append(units, Unit{
			Name:     "ironflow-vip.service",
			Contents: service("Address of the Kubernetes API", "vip.sh", h, "Type=oneshot\nRemainAfterExit=yes", ""),
		})
	}
	if h.Proxy {
		units = append(units, Unit{Name: h.Runtime, Dropin: "10-ironflow-proxy.conf", Contents: "[Service]\nEnvironmentFile=" + Folder + "/" + Proxy + "\n"})
	}
	return units, scripts
}

// service is a unit that runs a script until it succeeds, and not again once mark is there.
func service(description, script string, h Host, kind, mark string) string {
	lines := []string{
		"[Unit]", "Description=" + description, "Wants=network-online.target", "After=network-online.target", "StartLimitIntervalSec=0",
	}
	if script != "programs.sh" {
		lines = append(lines, "Wants=ironflow-programs.service", "After=ironflow-programs.service")
	}
	if h.VIP && (script == "init.sh" || script == "join.sh") {
		lines = append(lines, "Wants=ironflow-vip.service", "After=ironflow-vip.service")
	}
	if mark != "" {
		lines = append(lines, "ConditionPathExists=!"+mark)
	}
	lines = append(lines, "", "[Service]", kind, "Environment=PATH="+path, "EnvironmentFile="+Folder+"/"+Settings)
	if h.Proxy {
		lines = append(lines, "EnvironmentFile="+Folder+"/"+Proxy)
	}
	lines = append(lines, "ExecStart=/bin/bash "+Folder+"/"+script, "Restart=on-failure", "RestartSec=15", "", "[Install]", "WantedBy=multi-user.target", "")
	return strings.Join(lines, "\n")
}

// kubelet is started by kubeadm the first time, and by the system once it is configured.
const kubelet = `[Unit]
Description=kubelet
Wants=network-online.target
After=network-online.target ironflow-programs.service
ConditionPathExists=/var/lib/kubelet/config.yaml
StartLimitIntervalSec=0

[Service]
Environment=PATH=` + path + `
EnvironmentFile=-/var/lib/kubelet/kubeadm-flags.env
EnvironmentFile=-/etc/default/kubelet
ExecStart=/bin/bash -c 'exec kubelet --bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf --kubeconfig=/etc/kubernetes/kubelet.conf --config=/var/lib/kubelet/config.yaml $$KUBELET_KUBEADM_ARGS $$KUBELET_EXTRA_ARGS'
Restart=always
RestartSec=10

[Install]
WantedBy=multi-user.target
`
