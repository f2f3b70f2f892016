package validations_test

import (
	"encoding/json"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/validations"
	"github.com/ironflow/ironflow/hub/wire"
)

var checkedIn = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// good is a host of a cluster without a release that passes everything. The
// checks of clusters with a release are fed through the REST API, in hub/rest.
func good() validations.HostInput {
	h := &wire.Host{
		ID: "h", CheckedInAt: wire.At(checkedIn), Timestamp: checkedIn.Unix(), InstallationDiskID: "/dev/disk/by-id/wwn-1",
		NTPSources: `[{"source_name":"a","source_state":"synced"}]`,
		DisksInfo:  `{"/dev/disk/by-id/wwn-1":{"path":"/dev/disk/by-id/wwn-1","disk_speed":{"tested":true,"speed_ms":3}}}`,
	}
	facts := validations.Decode(h, validations.Known{})
	facts.Inventory = &wire.Inventory{
		Hostname: "node-1", CPU: &wire.CPU{Count: 8}, Memory: &wire.Memory{PhysicalBytes: 32 << 30},
		Disks:  []wire.Disk{{ID: "/dev/disk/by-id/wwn-1", Path: "/dev/sda", Name: "sda", DriveType: wire.DriveTypeSsd, SizeBytes: 200e9}},
		Routes: []wire.Route{{Destination: "0.0.0.0", Gateway: "192.0.2.1"}},
	}
	needs := validations.Requirements{CPUs: 4, MemoryMiB: 16384, DiskGB: 100, DiskSpeedMs: 10}
	return validations.HostInput{
		HostFacts: facts, Connected: true, MediaConnected: true, Needs: needs, Minimum: needs,
		Cluster: validations.Summarise(validations.Read(&wire.Cluster{ID: "c"}, validations.Wanted{Masters: 3}),
			[]validations.Member{{ID: "h", Name: "node-1"}, {ID: "other", Name: "node-2"}}, nil),
	}
}

func rename(in *validations.HostInput, name string) {
	in.Host.RequestedHostname = name
	in.Cluster.Names = map[string]int{name: 1, "node-2": 1}
	if name == "node-2" {
		in.Cluster.Names[name] = 2
	}
}

func TestEachCheckFailsByItself(t *testing.T) {
	for name, tc := range map[string]struct {
		spoil  func(*validations.HostInput)
		id     string
		status string
		text   string
		passes func(validations.HostOutcome) bool
	}{
		"silent agent": {func(in *validations.HostInput) { in.Connected = false }, "connected", "failure", "does not answer", nil},
		"lost medium":  {func(in *validations.HostInput) { in.MediaConnected = false }, "media-connected", "failure", "attach it", nil},
		"no inventory": {func(in *validations.HostInput) { in.Inventory = nil }, "has-inventory", "failure", "not sent", func(o validations.HostOutcome) bool { return o.HasInventory }},
		"no inventory leaves others open": {
			func(in *validations.HostInput) { in.Inventory = nil }, "has-min-cpu-cores", "pending", "Waiting",
			func(o validations.HostOutcome) bool { return o.MinimumHardware },
		},
		"unreadable inventory": {
			func(in *validations.HostInput) {
				in.Host.Inventory = "{"
				in.HostFacts = validations.Decode(in.Host, validations.Known{})
			}, "has-min-cpu-cores", "error", "cannot be read",
			func(o validations.HostOutcome) bool { return o.MinimumHardware },
		},
		"inventory too large": {
			func(in *validations.HostInput) { in.Inventory.Truncation = &wire.InventoryTruncation{Type: "full"} }, "inventory-not-fully-truncated", "failure", "too large",
			func(o validations.HostOutcome) bool { return o.HasInventory },
		},
		"few CPUs": {
			func(in *validations.HostInput) { in.Inventory.CPU.Count = 2 }, "has-min-cpu-cores", "failure", "has 2 CPUs, 4 are needed",
			func(o validations.HostOutcome) bool { return o.MinimumHardware },
		},
		"unknown CPUs": {func(in *validations.HostInput) { in.Inventory.CPU = nil }, "has-min-cpu-cores", "failure", "has 0 CPUs", func(o validations.HostOutcome) bool { return o.MinimumHardware }},
		"little memory": {
			func(in *validations.HostInput) { in.Inventory.Memory.PhysicalBytes = 8 << 30 }, "has-min-memory", "failure", "8192 MiB",
			func(o validations.HostOutcome) bool { return o.MinimumHardware },
		},
		"firmware keeps some memory": {
			func(in *validations.HostInput) { in.Inventory.Memory.PhysicalBytes = (16384 - 100) << 20 }, "has-min-memory", "success", "16284 MiB", nil,
		},
		"the kernel keeps some more": {
			func(in *validations.HostInput) {
				*in.Inventory.Memory = wire.Memory{PhysicalBytes: (16384 - 100 - 327) << 20, PhysicalBytesMethod: wire.MemoryMethodMeminfo}
			}, "has-min-memory", "success", "15957 MiB", nil,
		},
		"no disk": {func(in *validations.HostInput) { in.Inventory.Disks[0].SizeBytes = 1e9 }, "has-min-valid-disks", "failure", "100 GB", func(o validations.HostOutcome) bool { return o.MinimumHardware }},
		"a chosen disk that is not there": {
			func(in *validations.HostInput) { in.Host.InstallationDiskID = "/dev/not-found-by-hints" }, "has-min-valid-disks", "failure", "/dev/not-found-by-hints",
			func(o validations.HostOutcome) bool { return o.MinimumHardware },
		},
		"bad name":   {func(in *validations.HostInput) { rename(in, "localhost") }, "hostname-valid", "failure", `"localhost"`, func(o validations.HostOutcome) bool { return o.Others }},
		"name taken": {func(in *validations.HostInput) { rename(in, "node-2") }, "hostname-unique", "failure", "node-2 is used", func(o validations.HostOutcome) bool { return o.Others }},
		"slow disk": {
			func(in *validations.HostInput) { in.Needs.DiskSpeedMs = 2 }, "sufficient-installation-disk-speed", "failure", "needs 3 ms",
			func(o validations.HostOutcome) bool { return o.Others },
		},
		"clock behind": {
			func(in *validations.HostInput) { in.Host.Timestamp -= 3600 }, "time-synced-between-host-and-service", "failure", "-1h0m0s",
			func(o validations.HostOutcome) bool { return o.Others },
		},
		"clock a bit ahead is fine": {func(in *validations.HostInput) { in.Host.Timestamp += 1800 }, "time-synced-between-host-and-service", "success", "agrees", nil},
		"no route only warns":       {func(in *validations.HostInput) { in.Inventory.Routes = nil }, "has-default-route", "failure", "no default route", nil},
		"no time only warns":        {func(in *validations.HostInput) { in.TimeSources = nil }, "ntp-synced", "failure", "not in step", nil},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			in := good()
			tc.spoil(&in)
			out := validations.Host(in, validations.Lists{})
			g.Expect(result(out, tc.id)).To(And(HaveField("Status", tc.status), HaveField("Message", ContainSubstring(tc.text))))
			all := out.HasInventory && out.MinimumHardware && out.NetworkDefined && out.Others
			if tc.passes != nil {
				g.Expect(tc.passes(out)).To(BeFalse())
			} else {
				g.Expect(all).To(BeTrue(), "this check decides on nothing by its group")
			}
		})
	}
}

func result(o validations.HostOutcome, id string) validations.Result {
	for _, category := range o.Results {
		for _, r := range category {
			if r.ID == id {
				return r
			}
		}
	}
	return validations.Result{}
}

func TestGoodHostPassesEverything(t *testing.T) {
	g := NewWithT(t)
	out := validations.Host(good(), validations.Lists{})
	g.Expect(out.Failures).To(BeEmpty())
	text, err := out.JSON()
	g.Expect(err).NotTo(HaveOccurred())
	var decoded map[string][]validations.Result
	g.Expect(json.Unmarshal([]byte(text), &decoded)).To(Succeed())
	for category, results := range decoded {
		for _, r := range results {
			g.Expect(r.Status).To(Equal(validations.Success), "%s/%s", category, r.ID)
			g.Expect(r.Message).NotTo(BeEmpty(), r.ID)
		}
	}
}

func TestUnboundHostIsNotAskedForItsCluster(t *testing.T) {
	g := NewWithT(t)
	in := good()
	in.Cluster = nil
	g.Expect(result(validations.Host(in, validations.Lists{}), "hostname-unique")).To(BeZero())
}

func TestIgnoredAndDisabledFailures(t *testing.T) {
	for name, tc := range map[string]struct {
		lists   validations.Lists
		status  string
		minimum bool
	}{
		"neither":               {validations.Lists{}, validations.Failure, false},
		"ignored is still seen": {validations.Lists{Ignored: []string{"has-min-cpu-cores"}}, validations.Failure, true},
		"all are ignored":       {validations.Lists{Ignored: []string{"all"}}, validations.Failure, true},
		"disabled is not run":   {validations.Lists{Disabled: []string{"has-min-cpu-cores"}}, validations.Disabled, true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			in := good()
			in.Inventory.CPU.Count = 1
			rename(&in, "localhost")
			out := validations.Host(in, tc.lists)
			g.Expect(out.MinimumHardware).To(Equal(tc.minimum))
			g.Expect(result(out, "has-min-cpu-cores").Status).To(Equal(tc.status))
			g.Expect(out.Others).To(BeFalse(), "hostname-valid cannot be ignored")
		})
	}
}

func TestClusterWithoutReleaseAsksForItsHostsOnly(t *testing.T) {
	g := NewWithT(t)
	settings := validations.Read(&wire.Cluster{ID: "c"}, validations.Wanted{Masters: 1})
	facts := validations.Summarise(settings, []validations.Member{{ID: "h", Label: "node-1", Role: wire.HostRoleMaster}}, nil)
	in := validations.ClusterInput{ClusterFacts: facts, Statuses: map[string]string{"h": wire.HostStatusKnown}}
	out := validations.Cluster(in, validations.Lists{})
	g.Expect(out.Pass).To(BeTrue(), "%v", out.Failures)
	in.Statuses["h"] = wire.HostStatusInsufficient
	out = validations.Cluster(in, validations.Lists{Ignored: []string{"all"}})
	g.Expect(out.Pass).To(BeFalse())
	g.Expect(out.Failures).To(ConsistOf(ContainSubstring("node-1 is insufficient")))
}
