package inventory

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/needs"
)

// output runs a tool; ok is false when it cannot tell anything on this machine.
func output(t *testing.T, program, debianPackage string, args ...string) (out []byte, ok bool) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), needs.Program(t, program, debianPackage), args...).Output()
	if err != nil {
		t.Logf("%s %s tells nothing here: %v", program, strings.Join(args, " "), err)
	}
	return out, err == nil
}

// TestThisMachine compares this machine's inventory with what the usual tools
// show of it. Package source compares the network with ip.
func TestThisMachine(t *testing.T) {
	inv, err := Gather(t.Context(), Host(hostfile.Dir{}), quiet)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	t.Run("lscpu", func(t *testing.T) { compareProcessors(t, inv.CPU) })
	t.Run("lsblk", func(t *testing.T) { compareDisks(t, inv.Disks) })
	t.Run("dmidecode", func(t *testing.T) { compareFirmware(t, inv) })
	t.Run("network", func(t *testing.T) {
		NewWithT(t).Expect(inv.Interfaces).To(ContainElement(HaveField("Name", "lo")))
	})
}

func compareProcessors(t *testing.T, cpu *wire.CPU) {
	g := NewWithT(t)
	raw, _ := output(t, "lscpu", "util-linux", "--json")
	var tool struct {
		Rows []struct{ Field, Data string } `json:"lscpu"`
	}
	g.Expect(json.Unmarshal(raw, &tool)).To(Succeed())
	compared := 0
	for _, row := range tool.Rows {
		compared++
		switch strings.TrimSuffix(row.Field, ":") {
		case "Architecture":
			g.Expect(cpu.Architecture).To(Equal(row.Data))
		case "CPU(s)":
			g.Expect(strconv.FormatInt(cpu.Count, 10)).To(Equal(row.Data))
		case "Model name":
			g.Expect(cpu.ModelName).To(Equal(row.Data))
		case "Flags":
			g.Expect(cpu.Flags).To(Equal(strings.Fields(row.Data)))
		case "CPU max MHz":
			mhz, err := strconv.ParseFloat(row.Data, 64)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(cpu.Frequency).To(BeNumerically(">=", mhz))
		default:
			compared--
		}
	}
	g.Expect(compared).To(BeNumerically(">=", 3))
}

func compareDisks(t *testing.T, disks []wire.Disk) {
	g := NewWithT(t)
	raw, ok := output(t, "lsblk", "util-linux", "--json", "--bytes", "--nodeps", "--output", "NAME,SIZE,RM,ROTA,HCTL,WWN,SERIAL,TYPE")
	if !ok {
		t.Skip("lsblk shows no disks here")
	}
	var tool struct {
		Devices []struct {
			Name, HCTL, WWN, Serial, Type string
			Size                          int64
			Removable                     bool `json:"rm"`
			Rotational                    bool `json:"rota"`
		} `json:"blockdevices"`
	}
	g.Expect(json.Unmarshal(raw, &tool)).To(Succeed())
	seen := 0
	for _, d := range tool.Devices {
		i := slices.IndexFunc(disks, func(disk wire.Disk) bool { return disk.Name == d.Name })
		if slices.Contains([]string{"loop", "dm", "crypt"}, d.Type) || d.Size == 0 || strings.HasPrefix(d.Name, "zram") || strings.HasPrefix(d.Name, "nbd") || strings.HasPrefix(d.Name, "ram") {
			continue
		}
		seen++
		g.Expect(i).To(BeNumerically(">=", 0), "%s is missing", d.Name)
		disk := disks[i]
		g.Expect(disk.SizeBytes).To(Equal(d.Size), d.Name)
		g.Expect(disk.Removable).To(Equal(d.Removable), d.Name)
		g.Expect(disk.HCTL).To(Equal(d.HCTL), d.Name)
		if d.WWN != "" {
			g.Expect(disk.WWN).To(HavePrefix(d.WWN), d.Name)
		}
		if d.Serial != "" {
			g.Expect(disk.Serial).NotTo(BeEmpty(), d.Name)
		}
		if disk.DriveType == wire.DriveTypeHdd || disk.DriveType == wire.DriveTypeSsd {
			g.Expect(disk.DriveType == wire.DriveTypeHdd).To(Equal(d.Rotational), d.Name)
		}
	}
	g.Expect(disks).To(HaveLen(seen))
}

func compareFirmware(t *testing.T, inv wire.Inventory) {
	g := NewWithT(t)
	for keyword, got := range map[string]string{
		"system-manufacturer": inv.SystemVendor.Manufacturer, "system-product-name": inv.SystemVendor.ProductName, "system-serial-number": inv.SystemVendor.SerialNumber,
	} {
		raw, ok := output(t, "dmidecode", "dmidecode", "--string", keyword)
		want := strings.TrimSpace(string(raw))
		if !ok || want == "" || strings.HasPrefix(want, "#") {
			continue
		}
		g.Expect(got).To(Equal(want), keyword)
	}
	raw, ok := output(t, "dmidecode", "dmidecode", "--type", "17")
	var mib int64
	for line := range strings.Lines(string(raw)) {
		text, isSize := strings.CutPrefix(strings.TrimSpace(line), "Size: ")
		n, unit, _ := strings.Cut(text, " ")
		size, err := strconv.ParseInt(n, 10, 64)
		if !isSize || err != nil {
			continue
		}
		mib += size * map[string]int64{"MB": 1, "GB": 1 << 10, "TB": 1 << 20}[unit]
	}
	if ok && mib > 0 {
		g.Expect(inv.Memory.PhysicalBytes).To(Equal(mib << 20))
		g.Expect(inv.Memory.PhysicalBytesMethod).To(Equal(wire.MemoryMethodDmidecode))
	} else {
		g.Expect(inv.Memory.PhysicalBytesMethod).NotTo(Equal(wire.MemoryMethodDmidecode))
	}
}

// BenchmarkThisMachine takes this machine's whole inventory: anew, as a program
// of its own does, and again, as the agent does.
func BenchmarkThisMachine(b *testing.B) {
	b.Run("anew", func(b *testing.B) {
		for b.Loop() {
			if _, err := Gather(b.Context(), Host(hostfile.Dir{}), quiet); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("again", func(b *testing.B) {
		collectors := Host(hostfile.Dir{})
		for b.Loop() {
			if _, err := Gather(b.Context(), collectors, quiet); err != nil {
				b.Fatal(err)
			}
		}
	})
}
