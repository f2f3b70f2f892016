package ignition

import (
	"slices"
	"strings"

	"github.com/ironflow/ironflow/api/hostfile"
)

// Disks of storage networks. The kernel finds those behind Fibre Channel adapters by
// itself; they are there once for each path, as those of iSCSI may be.

// iscsiUnit logs in to the targets that the firmware names.
const iscsiUnit = "iscsistart.service"

// storage makes a disk of several paths one device, and has the disks of iSCSI that
// the host is to boot from. Where the live system lacks the programs, neither does
// anything.
func (c HostConfig) storage(l *layer) {
	// Only disks that do have several paths become multipath devices.
	l.file("/etc/multipath.conf", 0o644, lines(
		"defaults {",
		"    user_friendly_names yes",
		"    find_multipaths yes",
		"}",
	))
	l.enable("multipathd.service")
	l.unit(iscsiUnit, true, lines(
		"[Unit]",
		"Description=Log in to the iSCSI targets that the firmware names",
		"ConditionPathExists=/usr/sbin/iscsistart",
		"Wants=network-online.target",
		"After=network-online.target",
		"# Whoever lists the disks comes later.",
		"Before="+c.listers(),
		"",
		"[Service]",
		"Type=oneshot",
		"RemainAfterExit=yes",
		"# A target that does not answer keeps nobody waiting for ever.",
		"TimeoutStartSec=180",
		"# Most machines have no iSCSI in their firmware: then there is nothing to do.",
		"ExecCondition=/bin/sh -c 'modprobe -q iscsi_ibft; test -d /sys/firmware/ibft'",
		"# One that the initrd has logged in to already is no failure.",
		"ExecStart=-/usr/sbin/iscsistart -b",
		"",
		"[Install]",
		"WantedBy=multi-user.target",
	))
}

// listers are the units of this image that list disks.
func (c HostConfig) listers() string {
	var units []string
	if c.Agent != nil || slices.ContainsFunc(c.Units, func(u Unit) bool { return u.Name == hostfile.AgentUnit }) {
		units = append(units, hostfile.AgentUnit)
	}
	if c.IPA != nil {
		units = append(units, hostfile.IPAUnit)
	}
	return strings.Join(units, " ")
}
