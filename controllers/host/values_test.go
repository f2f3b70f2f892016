package host

import (
	"slices"
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ironflow/ironflow/ironic"
)

func TestHintMap(t *testing.T) {
	no := false
	for name, c := range map[string]struct {
		hints metal3.RootDeviceHints
		want  map[string]any
	}{
		"none":    {metal3.RootDeviceHints{}, map[string]any{}},
		"name":    {metal3.RootDeviceHints{DeviceName: "/dev/sda"}, map[string]any{"name": "s== /dev/sda"}},
		"by path": {metal3.RootDeviceHints{DeviceName: "/dev/disk/by-path/pci-1"}, map[string]any{"by_path": "s== /dev/disk/by-path/pci-1"}},
		"all others": {metal3.RootDeviceHints{
			HCTL: "0:0:0:0", Model: "M", Vendor: "V", SerialNumber: "S", MinSizeGigabytes: 40,
			WWN: "w", WWNWithExtension: "we", WWNVendorExtension: "wv", Rotational: &no,
		}, map[string]any{
			"hctl": "s== 0:0:0:0", "model": "<in> M", "vendor": "<in> V", "serial": "s== S", "size": ">= 40", "wwn": "s== w",
			"wwn_with_extension": "s== we", "wwn_vendor_extension": "s== wv", "rotational": "false",
		}},
	} {
		t.Run(name, func(t *testing.T) { NewWithT(t).Expect(hintMap(&c.hints)).To(Equal(c.want)) })
	}
}

func TestHardwareDetails(t *testing.T) {
	g := NewWithT(t)
	h := hardwareDetails(&ironic.Inventory{
		Hostname: "a", MemoryMiB: 4096, System: ironic.SystemInfo{Manufacturer: "ACME", FirmwareDay: "1/1/2026"},
		CPU: ironic.CPUInfo{Architecture: "x86_64", Count: 4, MHz: 2399.6, Flags: []string{"vmx", "aes"}},
		NICs: []ironic.NICInfo{
			{
				Name: "eth0", MAC: "52:54:00:00:00:01", IPv4: "192.0.2.1", IPv6: "2001:db8::1", Vendor: "0x1", Product: "0x2",
				SpeedMbps: 25000, PXE: true, LLDP: ironic.LLDPInfo{ChassisID: "c", PortID: "p", UntaggedVLAN: 7, VLANs: []ironic.VLANInfo{{ID: 8, Name: "x"}}},
			},
			{Name: "eth1", MAC: "52:54:00:00:00:02"},
		},
		Disks: []ironic.DiskInfo{{Name: "/dev/sda", ByPath: "/dev/disk/by-path/1", Rotational: true, SizeBytes: 10}, {Name: "/dev/nvme0n1"}, {Name: "/dev/sdb"}},
	})
	g.Expect(h.CPU.ClockMegahertz).To(BeEquivalentTo(2400))
	g.Expect(h.CPU.Flags).To(Equal([]string{"aes", "vmx"}))
	g.Expect(h.NIC).To(HaveLen(3), "one entry per address")
	g.Expect(h.NIC[0]).To(And(HaveField("IP", "192.0.2.1"), HaveField("Model", "0x1 0x2"), HaveField("SpeedGbps", 25), HaveField("PXE", true),
		HaveField("VLANID", metal3.VLANID(7)), HaveField("VLANs", []metal3.VLAN{{ID: 8, Name: "x"}})))
	g.Expect(h.NIC[1].IP).To(Equal("2001:db8::1"))
	g.Expect(h.NIC[2].LLDP).To(BeNil())
	g.Expect(h.Storage[0]).To(And(HaveField("Name", "/dev/disk/by-path/1"), HaveField("Type", metal3.HDD),
		HaveField("AlternateNames", []string{"/dev/sda", "/dev/disk/by-path/1"})))
	g.Expect(h.Storage[1].Type).To(Equal(metal3.NVME))
	g.Expect(h.Storage[2].Type).To(Equal(metal3.SSD))
}

func TestCapabilities(t *testing.T) {
	g := NewWithT(t)
	g.Expect(capabilities("", metal3.UEFI)).To(Equal("boot_mode:uefi"))
	g.Expect(capabilities("disk_label:gpt, boot_mode:bios", metal3.UEFISecureBoot)).To(Equal("disk_label:gpt,boot_mode:uefi,secure_boot:true"))
	g.Expect(capabilities("secure_boot:true", metal3.Legacy)).To(Equal("boot_mode:bios"))
}

func TestInstance(t *testing.T) {
	liveISO := "live-iso"
	raw := "raw"
	for name, c := range map[string]struct {
		image  *metal3.Image
		custom *metal3.CustomDeploy
		info   ironic.Fields
		deploy string
	}{
		"image with a typed checksum": {
			&metal3.Image{URL: "u", Checksum: "c", ChecksumType: metal3.SHA256, DiskFormat: &raw}, nil,
			ironic.Fields{keyImageSource: "u", keyHashAlgo: "sha256", keyHashValue: "c", keyDiskFormat: "raw", keyChecksum: ironic.Remove, keyBootISO: ironic.Remove, keyMethod: ironic.Remove},
			"",
		},
		"image with any checksum": {
			&metal3.Image{URL: "u", Checksum: "c", ChecksumType: metal3.AutoChecksum}, nil,
			ironic.Fields{keyImageSource: "u", keyHashAlgo: ironic.Remove, keyChecksum: "c"},
			"",
		},
		"live ISO": {
			&metal3.Image{URL: "u", DiskFormat: &liveISO}, nil,
			ironic.Fields{keyBootISO: "u", keyImageSource: ironic.Remove, keyChecksum: ironic.Remove},
			deployRamdisk,
		},
		"custom method": {
			nil, &metal3.CustomDeploy{Method: "m"},
			ironic.Fields{keyImageSource: ironic.Remove, keyBootISO: ironic.Remove, keyMethod: "m"},
			deployCustom,
		},
		"custom method with an image": {
			&metal3.Image{URL: "u", Checksum: "c"}, &metal3.CustomDeploy{Method: "m"},
			ironic.Fields{keyImageSource: "u", keyChecksum: "c", keyMethod: "m"},
			deployCustom,
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			h := observed(metal3.StateProvisioning, ironic.StateAvailable).Host
			d := ironic.Desired{DriverInfo: ironic.Fields{}}
			desiredInstance(h, Settings{}, c.image, c.custom, &d)
			for key, value := range c.info {
				g.Expect(d.InstanceInfo).To(HaveKeyWithValue(key, value))
			}
			g.Expect(d.Interfaces.Deploy).To(Equal(c.deploy))
			g.Expect(*d.InstanceUUID).To(Equal("uid-a"))
			g.Expect(d.DriverInfo).To(HaveKeyWithValue(keyPersistent, "Default"))
		})
	}
}

func TestDeployedIsWhatIronicWasAskedFor(t *testing.T) {
	g := NewWithT(t)
	n := &ironic.Node{InstanceInfo: map[string]any{keyImageSource: "http://old"}}
	g.Expect(deployedImage(n, &metal3.Image{URL: "http://new"}).URL).To(Equal("http://old"), "the wish changed meanwhile")
	g.Expect(deployedImage(n, &metal3.Image{URL: "http://old", Checksum: "c"}).Checksum).To(Equal("c"))
	n = &ironic.Node{InstanceInfo: map[string]any{keyMethod: "old"}}
	g.Expect(deployedMethod(n, &metal3.CustomDeploy{Method: "new"}).Method).To(Equal("old"))
	g.Expect(deployedImage(n, nil).URL).To(BeEmpty())
	n = &ironic.Node{InstanceInfo: map[string]any{}, Interfaces: ironic.Interfaces{Deploy: deployCustom}}
	g.Expect(deployedMethod(n, &metal3.CustomDeploy{Method: "m"}).Method).To(Equal("m"), "deployed by another controller")
}

func TestReadImage(t *testing.T) {
	want := metal3.PreprovisioningImageSpec{Architecture: "x86_64", AcceptFormats: []metal3.ImageFormat{metal3.ImageFormatISO}}
	ready := func() *metal3.PreprovisioningImage {
		return &metal3.PreprovisioningImage{ObjectMeta: metav1.ObjectMeta{Generation: 2}, Spec: want, Status: metal3.PreprovisioningImageStatus{
			ImageUrl: "http://image.iso", Format: metal3.ImageFormatISO, Architecture: "x86_64",
			Conditions: []metav1.Condition{{Type: "Ready", Status: "True", ObservedGeneration: 2}},
		}}
	}
	for name, c := range map[string]struct {
		change func(*metal3.PreprovisioningImage)
		want   LiveImage
	}{
		"ready":              {func(*metal3.PreprovisioningImage) {}, LiveImage{Asked: true, Ready: true}},
		"other wish":         {func(i *metal3.PreprovisioningImage) { i.Spec.Architecture = "aarch64" }, LiveImage{}},
		"older generation":   {func(i *metal3.PreprovisioningImage) { i.Generation = 3 }, LiveImage{Asked: true}},
		"other architecture": {func(i *metal3.PreprovisioningImage) { i.Status.Architecture = "aarch64" }, LiveImage{Asked: true, Note: "the image is for aarch64"}},
		"old network data": {
			func(i *metal3.PreprovisioningImage) { i.Status.NetworkData.Name = "net" },
			LiveImage{Asked: true, Note: "the image has older network data"},
		},
		"error": {func(i *metal3.PreprovisioningImage) {
			i.Status.Conditions = append(i.Status.Conditions, metav1.Condition{Type: "Error", Status: "True", Message: "no base", ObservedGeneration: 2})
		}, LiveImage{Asked: true, Error: "the live image cannot be built: no base"}},
		"unfit format": {
			func(i *metal3.PreprovisioningImage) { i.Status.Format = metal3.ImageFormatInitRD },
			LiveImage{Asked: true, Error: `the live image has format "initrd", which this host's driver cannot boot`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			image := ready()
			c.change(image)
			got := readImage(image, want, "", "")
			got.URL, got.Format = "", ""
			NewWithT(t).Expect(got).To(Equal(c.want))
		})
	}
}

func TestMetricsAreRegisteredAndRaised(t *testing.T) {
	g := NewWithT(t)
	registry := prometheus.NewRegistry()
	m, err := newMetrics(registry, false)
	g.Expect(err).NotTo(HaveOccurred())
	for _, row := range metricTable {
		labels := make([]string, len(row.Labels))
		if row.Buckets == nil {
			m.add(count{row.Name, labels})
		} else {
			m.observe(row.Name, types.NamespacedName{}, 1, labels...)
		}
	}
	families, err := registry.Gather()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(families).To(HaveLen(len(metricTable)), "each row has a series")
	for _, c := range []count{countDeleteDelayed, countUnmanaged, countRegistration, countError("x"), countStateChange("a", "b")} {
		index := slices.IndexFunc(metricTable, func(r metricRow) bool { return r.Name == c.Metric })
		g.Expect(index).To(BeNumerically(">=", 0), c.Metric)
		g.Expect(c.Labels).To(HaveLen(len(metricTable[index].Labels)))
	}
	h := observed(metal3.StateInspecting, ironic.StateManageable).Host
	h.Status.OperationHistory.Inspect.Start = metav1.NewTime(noon.Add(-time.Minute))
	m.left(h, metal3.StateInspecting, noon)
	families, err = registry.Gather()
	g.Expect(err).NotTo(HaveOccurred())
	for _, f := range families {
		if f.GetName() == "metal3_operation_inspect_duration_seconds" {
			g.Expect(f.GetMetric()[0].GetHistogram().GetSampleSum()).To(BeNumerically("==", 61))
		}
	}
}
