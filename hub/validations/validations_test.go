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

// good is a host that passes everything.
func good() validations.Input {
	return validations.Input{
		Host: &wire.Host{
			ID: "h", CheckedInAt: wire.At(checkedIn), Timestamp: checkedIn.Unix(), InstallationDiskID: "/dev/disk/by-id/wwn-1",
			NTPSources: `[{"source_name":"a","source_state":"synced"}]`,
			DisksInfo:  `{"/dev/disk/by-id/wwn-1":{"path":"/dev/disk/by-id/wwn-1","disk_speed":{"tested":true,"speed_ms":3}}}`,
		},
		Inventory: &wire.Inventory{
			Hostname: "node-1", CPU: &wire.CPU{Count: 8}, Memory: &wire.Memory{PhysicalBytes: 32 << 30},
			Disks:  []wire.Disk{{ID: "/dev/disk/by-id/wwn-1", Path: "/dev/sda", Name: "sda", DriveType: wire.DriveTypeSsd, SizeBytes: 200e9}},
			Routes: []wire.Route{{Destination: "0.0.0.0", Gateway: "192.0.2.1"}},
		},
		Cluster: &wire.Cluster{ID: "c"}, OtherNames: []string{"node-2"}, Connected: true, MediaConnected: true, Now: checkedIn,
		Needs: validations.Requirements{CPUs: 4, MemoryMiB: 16384, DiskGB: 100, DiskSpeedMs: 10},
	}
}

func TestEachCheckFailsByItself(t *testing.T) {
	for name, tc := range map[string]struct {
		spoil  func(*validations.Input)
		id     string
		status string
		text   string
		passes func(validations.Outcome) bool
	}{
		"silent agent":                    {func(in *validations.Input) { in.Connected = false }, "connected", "failure", "does not answer", nil},
		"lost medium":                     {func(in *validations.Input) { in.MediaConnected = false }, "media-connected", "failure", "attach it", nil},
		"no inventory":                    {func(in *validations.Input) { in.Inventory = nil }, "has-inventory", "failure", "not sent", func(o validations.Outcome) bool { return o.HasInventory }},
		"no inventory leaves others open": {func(in *validations.Input) { in.Inventory = nil }, "has-min-cpu-cores", "pending", "Waiting", func(o validations.Outcome) bool { return o.MinimumHardware }},
		"inventory too large": {
			func(in *validations.Input) { in.Inventory.Truncation = &wire.InventoryTruncation{Type: "full"} }, "inventory-not-fully-truncated", "failure", "too large",
			func(o validations.Outcome) bool { return o.HasInventory },
		},
		"few CPUs":      {func(in *validations.Input) { in.Inventory.CPU.Count = 2 }, "has-min-cpu-cores", "failure", "has 2 CPUs, 4 are needed", func(o validations.Outcome) bool { return o.MinimumHardware }},
		"unknown CPUs":  {func(in *validations.Input) { in.Inventory.CPU = nil }, "has-min-cpu-cores", "failure", "has 0 CPUs", func(o validations.Outcome) bool { return o.MinimumHardware }},
		"little memory": {func(in *validations.Input) { in.Inventory.Memory.PhysicalBytes = 8 << 30 }, "has-min-memory", "failure", "8192 MiB", func(o validations.Outcome) bool { return o.MinimumHardware }},
		"no disk":       {func(in *validations.Input) { in.Inventory.Disks[0].SizeBytes = 1e9 }, "has-min-valid-disks", "failure", "100 GB", func(o validations.Outcome) bool { return o.MinimumHardware }},
		"a chosen disk that is not there": {
			func(in *validations.Input) { in.Host.InstallationDiskID = "/dev/not-found-by-hints" }, "has-min-valid-disks", "failure", "/dev/not-found-by-hints",
			func(o validations.Outcome) bool { return o.MinimumHardware },
		},
		"bad name":                  {func(in *validations.Input) { in.Inventory.Hostname = "localhost" }, "hostname-valid", "failure", `"localhost"`, func(o validations.Outcome) bool { return o.Others }},
		"name taken":                {func(in *validations.Input) { in.Host.RequestedHostname = "node-2" }, "hostname-unique", "failure", "node-2 is used", func(o validations.Outcome) bool { return o.Others }},
		"slow disk":                 {func(in *validations.Input) { in.Needs.DiskSpeedMs = 2 }, "sufficient-installation-disk-speed", "failure", "needs 3 ms", func(o validations.Outcome) bool { return o.Others }},
		"clock behind":              {func(in *validations.Input) { in.Host.Timestamp -= 3600 }, "time-synced-between-host-and-service", "failure", "-1h0m0s", func(o validations.Outcome) bool { return o.Others }},
		"clock a bit ahead is fine": {func(in *validations.Input) { in.Host.Timestamp += 1800 }, "time-synced-between-host-and-service", "success", "agrees", nil},
		"no route only warns":       {func(in *validations.Input) { in.Inventory.Routes = nil }, "has-default-route", "failure", "no default route", nil},
		"no time only warns":        {func(in *validations.Input) { in.Host.NTPSources = "" }, "ntp-synced", "failure", "not in step", nil},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			in := good()
			tc.spoil(&in)
			out := validations.Host(in)
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

func result(o validations.Outcome, id string) validations.Result {
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
	out := validations.Host(good())
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
	g.Expect(result(validations.Host(in), "hostname-unique")).To(BeZero())
}

func TestIgnoredFailureIsShownButNotWaitedFor(t *testing.T) {
	g := NewWithT(t)
	in := good()
	in.Inventory.CPU.Count = 1
	out := validations.Host(in, "has-min-cpu-cores")
	g.Expect(out.MinimumHardware).To(BeTrue())
	g.Expect(result(out, "has-min-cpu-cores").Status).To(Equal(validations.Failure))
}

func TestEligibleDisks(t *testing.T) {
	disk := func(name string, kind wire.DriveType, gb int64, change func(*wire.Disk)) wire.Disk {
		d := wire.Disk{ID: "/dev/" + name, Name: name, Path: "/dev/" + name, DriveType: kind, SizeBytes: gb * 1e9}
		if change != nil {
			change(&d)
		}
		return d
	}
	inventory := &wire.Inventory{Disks: []wire.Disk{
		disk("nvme0n1", wire.DriveTypeSsd, 500, nil),
		disk("sdb", wire.DriveTypeSsd, 200, nil),
		disk("sda", wire.DriveTypeSsd, 200, nil),
		disk("sdc", wire.DriveTypeHdd, 4000, nil),
		disk("small", wire.DriveTypeSsd, 10, nil),
		disk("sr0", wire.DriveTypeOdd, 200, nil),
		disk("usb", wire.DriveTypeSsd, 200, func(d *wire.Disk) { d.Removable = true }),
		disk("iso", wire.DriveTypeSsd, 200, func(d *wire.Disk) { d.IsInstallationMedia = true }),
		disk("lvm", wire.DriveTypeSsd, 200, func(d *wire.Disk) { d.Holders = "dm-0" }),
		disk("bad", wire.DriveTypeSsd, 200, func(d *wire.Disk) { d.InstallationEligibility.NotEligibleReasons = []string{"Disk is mounted"} }),
	}}
	g := NewWithT(t)
	needs := validations.Requirements{DiskGB: 100}
	var names []string
	for _, d := range validations.Eligible(inventory, needs) {
		names = append(names, d.Name)
	}
	g.Expect(names).To(Equal([]string{"sdc", "sda", "sdb", "nvme0n1"}), "HDD before SSD, then smaller, then by name, NVMe last")

	validations.Judge(inventory, needs)
	for _, d := range inventory.Disks {
		g.Expect(d.InstallationEligibility.Eligible).To(Equal(len(d.InstallationEligibility.NotEligibleReasons) == 0), d.Name)
	}
	g.Expect(validations.FindDisk(inventory, "/dev/sdb").Name).To(Equal("sdb"))
	g.Expect(validations.FindDisk(inventory, "")).To(BeNil())
}

func TestRequirementsByRole(t *testing.T) {
	for name, tc := range map[string]struct {
		version string
		role    wire.HostRole
		single  bool
		cpus    int64
	}{
		"no release asks for little": {"", wire.HostRoleMaster, true, 1},
		"single node":                {"4.20", wire.HostRoleMaster, true, 8},
		"master":                     {"4.20", wire.HostRoleMaster, false, 4},
		"undecided":                  {"4.20", wire.HostRoleAutoAssign, false, 2},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(validations.OpenShift.For(tc.version, tc.role, tc.single).CPUs).To(Equal(tc.cpus))
		})
	}
}
