package metrics

import (
	"cmp"
	"encoding/json"

	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/validations"
	"github.com/ironflow/ironflow/hub/wire"
)

// ended are the results of a host's installation by the status that ends it.
var ended = map[string]string{
	wire.HostStatusInstalled: "success", wire.HostStatusAddedToExistingCluster: "success",
	wire.HostStatusError: "failed", wire.HostStatusCancelled: "canceled",
}

// begun are the statuses of hosts that something is installed on.
var begun = map[string]bool{
	wire.HostStatusInstalling: true, wire.HostStatusInstallingInProgress: true, wire.HostStatusInstallingPendingUserAction: true,
}

func (m *Metrics) noteHost(e *wire.Event, h *store.Host) {
	switch e.Name {
	case "host_validation_failed":
		m.count("host_validation_failed_after_success_before_installation", read(e).Validation)
	case "image_status_updated":
		result := read(e).Result
		if result != string(wire.ContainerImageAvailabilityResultSuccess) {
			result = string(wire.ContainerImageAvailabilityResultFailure) // a host says it
		}
		m.count("cluster_image_pull_status", result)
	case "host_install_progress_updated":
		if h != nil {
			m.enter(h)
		}
	case "host_status_updated":
		d := read(e)
		if h != nil && d.From == wire.HostStatusPreparingForInstallation {
			m.diskSpeed(h)
		}
		result, over := ended[d.To]
		if h == nil || !over || !begun[d.From] {
			return
		}
		m.end(h, result, e)
		m.installed(h, result)
	}
}

// enter notes a new stage; the one before it has passed.
func (m *Metrics) enter(h *store.Host) {
	p := h.API.Progress
	if p == nil {
		return
	}
	m.mu.Lock()
	before, known := m.stages[h.Key()]
	m.stages[h.Key()] = stage{string(p.CurrentStage), p.StageStartedAt.Time}
	m.mu.Unlock()
	if known {
		m.observe("host_installation_phase_seconds", p.StageStartedAt.Sub(before.since).Seconds(), before.name, "success")
	}
}

// end notes the last stage of an installation.
func (m *Metrics) end(h *store.Host, result string, e *wire.Event) {
	m.mu.Lock()
	last, known := m.stages[h.Key()]
	delete(m.stages, h.Key())
	m.mu.Unlock()
	if known && last.name != string(wire.HostStageDone) {
		m.observe("host_installation_phase_seconds", e.EventTime.Sub(last.since).Seconds(), last.name, result)
	}
}

// leave forgets a host that is gone.
func (m *Metrics) leave(key store.HostKey) {
	m.mu.Lock()
	delete(m.stages, key)
	m.mu.Unlock()
}

// installed notes what kind of host it is whose installation ended.
func (m *Metrics) installed(h *store.Host, result string) {
	role := string(h.API.Role)
	if h.API.Bootstrap {
		role = string(wire.HostRoleBootstrap)
	}
	m.count("cluster_hosts", role, result)
	inventory := &wire.Inventory{}
	if h.API.Inventory == "" || json.Unmarshal([]byte(h.API.Inventory), inventory) != nil {
		return
	}
	if inventory.CPU != nil {
		m.observe("cluster_host_cores", float64(inventory.CPU.Count), role, result)
	}
	if inventory.Memory != nil {
		m.observe("cluster_host_ram_gb", float64(inventory.Memory.PhysicalBytes)/(1<<30), role, result)
	}
	if disk := validations.FindDisk(inventory, cmp.Or(h.API.InstallationDiskPath, h.API.InstallationDiskID)); disk != nil {
		m.observe("cluster_host_disk_gb", float64(disk.SizeBytes)/1e9, role, result)
	}
	for _, nic := range inventory.Interfaces {
		if nic.SpeedMbps > 0 {
			m.observe("cluster_host_nic_gb", float64(nic.SpeedMbps)/1000, role, result)
		}
	}
}

// diskSpeed notes what the check before the installation has found.
func (m *Metrics) diskSpeed(h *store.Host) {
	var disks map[string]wire.DiskInfo
	if json.Unmarshal([]byte(h.API.DisksInfo), &disks) != nil {
		return
	}
	for _, d := range disks {
		if d.DiskSpeed != nil && d.DiskSpeed.Tested && d.DiskSpeed.ExitCode == 0 {
			m.observe("cluster_host_disk_sync_duration_ms", float64(d.DiskSpeed.SpeedMs))
		}
	}
}
