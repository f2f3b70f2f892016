package generate_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"

	"github.com/ironflow/ironflow/agent/scenario"
	"github.com/ironflow/ironflow/test/scenario/generate"
)

var update = flag.Bool("update", false, "write the files in test/scenario anew")

func TestMachinesAreValidAndDiffer(t *testing.T) {
	g := NewWithT(t)
	const n = 1000
	seen := map[string]string{}
	unique := func(kind, value, machine string) {
		if other, ok := seen[kind+value]; ok {
			t.Errorf("%s and %s have the same %s%s", other, machine, kind, value)
		}
		seen[kind+value] = machine
	}
	hardware := map[string]bool{}
	for _, s := range generate.Machines(n, generate.Options{}) {
		g.Expect(s.Validate()).To(Succeed())
		unique("name ", s.Name, s.Name)
		unique("uuid ", s.Hardware.System.UUID, s.Name)
		unique("serial ", s.Hardware.System.Serial, s.Name)
		unique("board ", s.Hardware.System.BoardSerial, s.Name)
		for _, nic := range s.Hardware.NICs {
			unique("mac ", nic.MAC, s.Name)
			for _, address := range nic.IPv4 {
				unique("address ", address, s.Name)
			}
		}
		for _, disk := range s.Hardware.Disks {
			unique("disk ", disk.Serial, s.Name)
		}
		g.Expect(s.Hardware.MemoryMiB).To(BeNumerically(">=", 32<<10))
		g.Expect(s.Hardware.Disks[0].SizeGiB).To(BeNumerically(">=", 240))
		hardware[s.Hardware.System.Product+s.Hardware.Disks[0].Type] = true
	}
	g.Expect(len(hardware)).To(BeNumerically(">=", 8), "products times kinds of the first disk")
}

func TestAMachineDependsOnSeedAndIndexOnly(t *testing.T) {
	g := NewWithT(t)
	few, many := generate.Machines(3, generate.Options{}), generate.Machines(10, generate.Options{})
	g.Expect(many[:3]).To(Equal(few))
	other := generate.Machines(3, generate.Options{Seed: 1})
	g.Expect(other[0].Hardware.System.UUID).NotTo(Equal(few[0].Hardware.System.UUID))
	g.Expect(other[0].Hardware.NICs[0].MAC).NotTo(Equal(few[0].Hardware.NICs[0].MAC))
}

func TestSpeedDividesTimes(t *testing.T) {
	g := NewWithT(t)
	slow, fast := generate.Machine(0, generate.Options{}), generate.Machine(0, generate.Options{Speed: 100})
	g.Expect(fast.Hardware).To(Equal(slow.Hardware))
	g.Expect(fast.Install.Stages[generate.StageWriting].Duration).To(BeNumerically("<", slow.Install.Stages[generate.StageWriting].Duration/50))
}

func TestUnknownFault(t *testing.T) {
	NewWithT(t).Expect(generate.AddFault(&scenario.Scenario{}, "earthquake")).To(MatchError(ContainSubstring("there are: [agent-dies")))
}

// TestFilesAreGenerated keeps test/scenario equal to the generator.
func TestFilesAreGenerated(t *testing.T) {
	files := map[string]*scenario.Scenario{"plain.yaml": generate.Machine(0, generate.Options{})}
	for i, kind := range generate.Faults() {
		s := generate.Machine(i+1, generate.Options{})
		if err := generate.AddFault(s, kind); err != nil {
			t.Fatal(err)
		}
		files["fault-"+string(kind)+".yaml"] = s
	}
	for name, s := range files {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			want, err := yaml.Marshal(s)
			g.Expect(err).NotTo(HaveOccurred())
			path := filepath.Join("..", name)
			if *update {
				g.Expect(os.WriteFile(path, want, 0o644)).To(Succeed())
			}
			got, err := os.ReadFile(path)
			g.Expect(err).NotTo(HaveOccurred(), "run go generate in this folder")
			g.Expect(string(got)).To(Equal(string(want)), "run go generate in this folder")
			_, err = scenario.Load(path)
			g.Expect(err).NotTo(HaveOccurred())
		})
	}
	present, _ := filepath.Glob("../*.yaml")
	NewWithT(t).Expect(present).To(HaveLen(len(files)), "no file is left from earlier")
}
