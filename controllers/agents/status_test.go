package agents

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/hub/envurl"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/crdpaths"
	"github.com/ironflow/ironflow/test/pages"
)

// shows says of the paths of an Agent's status where their values come from. A row stands for all that is below its
// path.
var shows = []struct{ path, from string }{
	{"status.bootstrap", "`bootstrap`: the host runs the temporary control plane"},
	{"status.role", "`role`; `suggested_role` where the hub chooses"},
	{"status.kind", "`kind`"},
	{"status.inventory", "`inventory`; `reportTime` is when it was last another one"},
	{"status.progress", "`progress`, `progress_stages`; absent before the first stage"},
	{"status.ntpSources", "`ntp_sources`"},
	{"status.installation_disk_id", "`installation_disk_id`"},
	{"status.validationsInfo", "`validations_info`"},
	{"status.debugInfo", "`status`, `status_info`, and where the hub serves the host's events and, once there are any, its logs"},
	{"status.csrStatus", "the signing requests of the host's kubelet that [ironflow-cluster](cluster.md) approved since the installation began, " +
		"at most the newest ten, and when it last approved one or tried to. " +
		"Absent where it approved none, also because it does not run in the cluster, or the hub has ended with its host"},
	{"status.deprovision_info", "which Node of which cluster is to go, and how far that is: " +
		"while the BareMetalHost is being deleted and has the annotation `bmac.agent-install.openshift.io/remove-agent-and-node-on-delete`. " +
		"Absent when it is gone, and for any other Agent: Ironflow removes no other Node"},
	{"status.conditions", "those of assisted-service. `Cleanup` is there when it is False (`CleanupFailed`): " +
		"the Node of `deprovision_info` was not drained and removed in time, or its cluster cannot be entered"},
}

// elsewhere are paths whose values another controller writes.
var elsewhere = []string{"status.deprovision_info"}

// TestEveryPathOfTheStatusIsShown: of a record that has everything, and says what comes from where.
func TestEveryPathOfTheStatusIsShown(t *testing.T) {
	g := NewWithT(t)
	var rows strings.Builder
	rows.WriteString("| status of an Agent | comes from |\n|---|---|\n")
	all := crdpaths.Status(t, "Agent")
	for _, s := range shows {
		fmt.Fprintf(&rows, "| `%s` | %s |\n", s.path, s.from)
	}
	found := map[string]bool{}
	set(t, "status", full(t), found)
	for _, path := range all {
		of := 0
		for _, s := range shows {
			if crdpaths.Covers(s.path, path) {
				of++
			}
		}
		g.Expect(of).To(Equal(1), "rows of %s", path)
		if slices.ContainsFunc(elsewhere, func(row string) bool { return crdpaths.Covers(row, path) }) {
			continue
		}
		g.Expect(found).To(HaveKey(path), "it is never set")
	}
	pages.Generated{Root: "../..", Page: "host-fields.md", Package: "./controllers/agents", Update: *update}.Hold(t, "status of an Agent", rows.String())
}

// full is the status of a host of which everything is known.
func full(t *testing.T) any {
	t.Helper()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	inventory := wire.Inventory{
		Hostname: "edge-1", BmcAddress: "192.0.2.9", BmcV6address: "2001:db8::9",
		Memory: &wire.Memory{PhysicalBytes: 2, UsableBytes: 1}, CPU: &wire.CPU{Count: 1, Frequency: 1, Flags: []string{"vmx"}, ModelName: "m", Architecture: "x86_64"},
		Boot:         &wire.Boot{CurrentBootMode: "uefi", PXEInterface: "eno1", DeviceType: "ephemeral"},
		SystemVendor: &wire.SystemVendor{SerialNumber: "s", ProductName: "p", Manufacturer: "m", Virtual: true},
		Interfaces: []wire.Interface{{
			Name: "eno1", MACAddress: "02:00:00:00:00:01", Ipv4Addresses: []string{"192.0.2.1/24"}, Ipv6Addresses: []string{"2001:db8::1/64"}, Flags: []string{"up"}, HasCarrier: true,
			MTU: 1500, SpeedMbps: 1, Vendor: "v", Product: "p", ClientID: "c", Biosdevname: "b",
		}},
		Disks: []wire.Disk{{
			ID: "d", Name: "sda", Path: "/dev/sda", ByPath: "p", ByID: "i", DriveType: wire.DriveTypeSsd, SizeBytes: 1, Vendor: "v", Model: "m", Serial: "s", WWN: "w", HCTL: "0:0:0:0",
			Bootable: true, Smart: "{}", IoPerf: &wire.IoPerf{SyncDuration: 1}, InstallationEligibility: wire.DiskInstallationEligibility{Eligible: true, NotEligibleReasons: []string{"r"}},
		}},
		GPUs: []wire.Gpu{{Address: "a", DeviceID: "d", Name: "n", Vendor: "v", VendorID: "i"}},
	}
	host := wire.Host{
		ID: "h", InfraEnvID: "e", ClusterID: new("c"), Bootstrap: true, Role: wire.HostRoleMaster, Kind: wire.HostKindHost, Status: wire.HostStatusInstallingInProgress, StatusInfo: "i",
		Inventory: text(inventory), InstallationDiskID: "d", NTPSources: `[{"source_name":"n","source_state":"synced"}]`, ValidationsInfo: `{"network":[{"id":"i","status":"success","message":"m"}]}`,
		Progress: &wire.HostProgressInfo{
			CurrentStage: wire.HostStageRebooting, ProgressInfo: "i", InstallationPercentage: 1, StageStartedAt: wire.At(now), StageUpdatedAt: wire.At(now),
		},
		ProgressStages: []wire.HostStage{wire.HostStageRebooting}, LogsCollectedAt: wire.At(now),
	}
	var status agentv1.AgentStatus
	project(&status, &host, true, nil, metav1.NewTime(now))
	showAddresses(&status, envurl.InfraEnv{API: envurl.API("https://hub.example:8090"), ID: "e"}.Events(), &host)
	status.CSRStatus = csrStatus(store.Signing{Attempted: now, Approved: []store.Signed{{Name: "csr-1", Type: "client", At: now}}})
	raw, err := json.Marshal(status)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	var out any
	NewWithT(t).Expect(json.Unmarshal(raw, &out)).To(Succeed())
	return out
}

// set notes the paths of a JSON value that hold one, in the form of package crdpaths; validations have their category
// before them, which is a key like any.
func set(t *testing.T, path string, value any, found map[string]bool) {
	t.Helper()
	switch value := value.(type) {
	case map[string]any:
		if path == "status.validationsInfo" {
			found[path+"{}"] = len(value) > 0
			return
		}
		for _, key := range slices.Sorted(maps.Keys(value)) {
			set(t, path+"."+key, value[key], found)
		}
	case []any:
		for _, one := range value {
			set(t, path+"[]", one, found)
		}
	case nil:
	default:
		found[path] = true
	}
}
