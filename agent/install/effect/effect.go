// Package effect names everything that an installation changes in the world.
// Each change goes through [Recorder.Do], which notes it before and after: a
// process that goes on after a crash can say what the earlier one had done, and
// tests can end the process at each of them. The names stand in one table.
package effect

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
)

// Name is one kind of change.
type Name string

// The changes of an installation, in the order in which they come about.
const (
	KeepIgnition      Name = "keep-ignition"
	RemoveVolumeGroup Name = "remove-volume-group"
	StopRAID          Name = "stop-raid"
	ZeroRAIDMember    Name = "zero-raid-member"
	WipeSignatures    Name = "wipe-signatures"
	WriteImage        Name = "write-image"
	RescanDisk        Name = "rescan-disk"
	BootEntry         Name = "boot-entry"

	KeepBootstrap       Name = "keep-bootstrap-ignition"
	WritePullSecret     Name = "write-pull-secret" //nolint:gosec // a name
	WriteMachineConfig  Name = "write-machine-config"
	WriteManifests      Name = "write-controller-manifests"
	ReloadUnits         Name = "reload-units"
	SetHostname         Name = "set-hostname"
	RestartNetwork      Name = "restart-network"
	StartBootstrapUnits Name = "start-bootstrap-units"
	ReportOtherHost     Name = "report-other-host"

	SendLogs    Name = "send-logs"
	LeaveRecord Name = "leave-record"
	WriteEnd    Name = "write-end"
	RebootHost  Name = "reboot"
)

// Row is one effect with what it changes and what a second process does about it.
type Row struct {
	Name    Name
	Changes string
	// Again is what happens when the process was killed there.
	Again string
}

var table = []Row{
	{KeepIgnition, "the host's Ignition in a private file on /run", "fetched and written again"},
	{RemoveVolumeGroup, "volume groups on a disk that the order names", "looked for again; what is gone is not missed"},
	{StopRAID, "software RAIDs on such a disk", "looked for again"},
	{ZeroRAIDMember, "RAID superblocks on such a disk", "looked for again"},
	{WipeSignatures, "signatures of file systems and partition tables on such a disk", "wiped again"},
	{WriteImage, "the disk of the order, by coreos-installer", "written again from its start, to the same disk only"},
	{RescanDisk, "what the kernel knows of the disk's partitions", "done again"},
	{BootEntry, "the firmware's boot menu", "the entry is found by partition and loader, not doubled"},
	{KeepBootstrap, "bootstrap.ign in a private file on /run", "fetched and written again"},
	{WritePullSecret, "the root user's registry credentials on the live system", "written again"},
	{WriteMachineConfig, "files and units of bootstrap.ign on the live system", "written again, unless the services have begun"},
	{WriteManifests, "manifests of the in-cluster controller", "written again, unless the services have begun"},
	{ReloadUnits, "what systemd knows of the units", "done again"},
	{SetHostname, "the live system's host name, when it has none that a node can have", "a name of a node is left as it is"},
	{RestartNetwork, "NetworkManager", "restarted again, unless the services have begun"},
	{StartBootstrapUnits, "bootkube and its companions", "units that run go on; those that have ended are not started again"},
	{ReportOtherHost, "the hub's record of another host of the cluster", "reported again; the hub keeps the highest stage"},
	{SendLogs, "the hub's logs of the host", "sent again"},
	{LeaveRecord, "the record of the image on the disk's EFI system partition, in agent-based installations", "written again"},
	{WriteEnd, "reason file and done marker on /run", "with the marker: nothing more is written, the process ends with 0"},
	{RebootHost, "the machine is restarted", "asked for again"},
}

// Table lists all effects in the order in which they come about. Tests end the
// process before and after each of them.
func Table() []Row { return slices.Clone(table) }

// Recorder lets effects happen. The zero value and nil record nothing.
type Recorder struct {
	// Begin and Done keep a record that outlives the process; an effect whose
	// beginning cannot be kept does not happen.
	Begin func(name, target string) error
	Done  func(name, target string) error
	// Point, if set, is told right before and right after each effect: "before
	// write-image", "after write-image". It is where tests end the process.
	Point func(point string)
	Log   *slog.Logger
}

// Do lets the effect happen to the target, a device, file or host. It does not
// begin when the context has ended.
func (r *Recorder) Do(ctx context.Context, name Name, target string, change func() error) error {
	if !slices.ContainsFunc(table, func(row Row) bool { return row.Name == name }) {
		return fmt.Errorf("effect %q is not in the table", name)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if r == nil {
		return change()
	}
	if r.Begin != nil {
		if err := r.Begin(string(name), target); err != nil {
			return fmt.Errorf("keep the record of %s: %w", name, err)
		}
	}
	if r.Log != nil {
		r.Log.Info("effect", "effect", name, "target", target)
	}
	r.point("before " + string(name))
	err := change()
	r.point("after " + string(name))
	if err == nil && r.Done != nil {
		err = r.Done(string(name), target)
	}
	return err
}

func (r *Recorder) point(point string) {
	if r.Point != nil {
		r.Point(point)
	}
}
