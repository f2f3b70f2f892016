package efiboot

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/ironflow/ironflow/api/hostfile"
)

const espType = "c12a7328-f81f-11d2-ba4b-00a0c93ec93b"

// Partitions of the tests: the ESP of the written disk, one of another disk, and one
// that no disk has any more.
var (
	espID   = uuid.MustParse("11111111-0000-0000-0000-000000000001")
	otherID = uuid.MustParse("99999999-0000-0000-0000-000000000009")
	goneID  = uuid.MustParse("22222222-0000-0000-0000-000000000002")
)

// written is a disk as an installer leaves it: BIOS boot, ESP, boot, root.
const written = `{"blockdevices": [{"path": "/dev/sda", "parttype": null, "partuuid": null, "children": [
	{"path": "/dev/sda1", "parttype": "21686148-6449-6e6f-744e-656564454649", "partuuid": "00000000-0000-0000-0000-000000000001"},
	{"path": "/dev/sda2", "parttype": "` + espType + `", "partuuid": "11111111-0000-0000-0000-000000000001"}]}]}`

// exit is an exit status as exec.ExitError has it.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit status %d", int(e)) }
func (e exit) ExitCode() int { return int(e) }

// machine is a UEFI host with a written disk and a boot menu.
type machine struct {
	t    *testing.T
	host hostfile.Dir
	// lsblk is its answer; empty means that it fails.
	lsblk string
	// loaders are on the ESP; cannot means that it cannot be mounted.
	loaders []string
	cannot  bool
}

// newMachine has the loaders on its ESP, and the menu: numbers and their load options.
func newMachine(t *testing.T, order []uint16, options map[uint16][]byte, loaders ...string) *machine {
	t.Helper()
	m := &machine{t: t, host: hostfile.Dir{Root: t.TempDir()}, lsblk: written, loaders: loaders}
	m.set("OsIndicationsSupported"+global, make([]byte, 8))
	for number, raw := range options {
		m.set(fmt.Sprintf("Boot%04X%s", number, global), raw)
	}
	if order != nil {
		m.set(bootOrder, numbers(order...))
	}
	for path, text := range map[string]string{
		"/sys/class/block/sda/queue/logical_block_size": "512", "/sys/class/block/sda2/partition": "2",
		"/sys/class/block/sda2/start": "4096", "/sys/class/block/sda2/size": "260096",
		"/dev/disk/by-partuuid/" + otherID.String(): "", "/dev/disk/by-partuuid/1a2b3c4d-01": "",
	} {
		m.file(path, text+"\n")
	}
	return m
}

func (m *machine) file(path, text string) {
	m.t.Helper()
	path = m.host.Path(path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		m.t.Fatal(err)
	}
}

// set writes a variable.
func (m *machine) set(name string, content []byte) {
	m.t.Helper()
	m.file(filepath.Join(efivars, name), string(append([]byte{variableAttributes, 0, 0, 0}, content...)))
}

// order is what BootOrder says.
func (m *machine) order() []uint16 {
	m.t.Helper()
	menu, err := readMenu(m.host)
	if err != nil {
		m.t.Fatal(err)
	}
	return menu.order
}

// menu says what the firmware has: number, * for active, label, partition and loader.
func (m *machine) menu() []string {
	m.t.Helper()
	menu, err := readMenu(m.host)
	if err != nil {
		m.t.Fatal(err)
	}
	var lines []string
	for number, e := range menu.entries {
		active := ""
		if e.startedByItself() {
			active = "*"
		}
		lines = append(lines, fmt.Sprintf("%04X%s %s", number, active, strings.TrimSpace(fmt.Sprintf("%s %.8s %s", e.label, e.partition, e.loader))))
	}
	slices.Sort(lines)
	return lines
}

func (m *machine) run(_ context.Context, argv []string, line func(string)) error {
	switch argv[0] {
	case "lsblk":
		if m.lsblk == "" {
			return exit(32)
		}
		line(m.lsblk)
	case "mount":
		if m.cannot {
			return exit(32)
		}
		for _, loader := range m.loaders {
			m.file(filepath.Join(espMount, loader), "")
		}
	case "umount":
		return os.RemoveAll(m.host.Path(espMount + "/EFI"))
	default:
		m.t.Errorf("%q was run", argv)
	}
	return nil
}

// first is what the steps do.
func (m *machine) first() (string, error) {
	f := Firmware{Exec: m.run, Host: m.host, Label: "CoreOS"}
	return f.First(m.t.Context(), "/dev/sda")
}

func numbers(list ...uint16) []byte {
	var raw []byte
	for _, n := range list {
		raw = binary.LittleEndian.AppendUint16(raw, n)
	}
	return raw
}

// starts is an active entry that starts the loader of the partition.
func starts(label string, partition uuid.UUID, loader string) []byte {
	return newOption(label, hardDrive{number: 2, start: 0x1000, size: 0x3f800, partition: partition}, inMenu(loader))
}

// with changes the attributes of a load option.
func with(attributes uint32, raw []byte) []byte {
	raw = slices.Clone(raw)
	binary.LittleEndian.PutUint32(raw, attributes)
	return raw
}

// app is an entry of the firmware's own, such as its set-up program.
func app(label string) []byte {
	// FvVol(...)/FvFile(...)
	volume := append([]byte{4, 7, 20, 0}, make([]byte, 16)...)
	file := append([]byte{4, 6, 20, 0}, make([]byte, 16)...)
	path := slices.Concat(volume, file, endNode)
	raw := binary.LittleEndian.AppendUint32(nil, optionActive)
	raw = binary.LittleEndian.AppendUint16(raw, uint16(len(path)))
	return slices.Concat(raw, text(label), path)
}
