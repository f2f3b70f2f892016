// Package pciids tells the names of PCI vendors and devices. The host's own
// list is asked first, because it is newer than this program; what it does not
// know is looked up in a list that the program carries (180 KB, vendors and
// devices only, see gen). Both are read through and not kept: only machines
// with an accelerator ask at all.
package pciids

import (
	"bufio"
	"bytes"
	"compress/gzip"
	_ "embed" // the list of ids
	"io"
	"strings"

	"github.com/ironflow/ironflow/customdeploy/source"
)

//go:generate go run ./gen /usr/share/misc/pci.ids pci.ids.gz

//go:embed pci.ids.gz
var carried []byte

// files are where systems keep the list.
var files = []string{"/usr/share/hwdata/pci.ids", "/usr/share/misc/pci.ids"}

// Device is a device with its names; ids are four hex digits, names are empty
// when no list has them.
type Device struct{ VendorID, DeviceID, Vendor, Name string }

// Name fills in the names.
func Name(m source.Machine, devices []Device) {
	for _, file := range files {
		if complete(devices) {
			return
		}
		if raw, err := m.Read(file); err == nil {
			scan(bytes.NewReader(raw), devices)
		}
	}
	if complete(devices) {
		return
	}
	if list, err := gzip.NewReader(bytes.NewReader(carried)); err == nil {
		scan(list, devices)
	}
}

func complete(devices []Device) bool {
	for _, d := range devices {
		if d.Vendor == "" || d.Name == "" {
			return false
		}
	}
	return true
}

// scan reads lines "10de  NVIDIA Corporation" and "\t20b0  GA100".
func scan(list io.Reader, devices []Device) {
	vendor := ""
	for lines := bufio.NewScanner(list); lines.Scan(); {
		line := lines.Text()
		if strings.HasPrefix(line, "C ") {
			return
		}
		indented, isDevice := strings.CutPrefix(line, "\t")
		id, name, ok := strings.Cut(indented, "  ")
		if !ok || len(id) != 4 {
			continue
		}
		if !isDevice {
			vendor = id
		}
		for i := range devices {
			d := &devices[i]
			switch {
			case d.VendorID != vendor:
			case !isDevice:
				d.Vendor = source.First(d.Vendor, name)
			case d.DeviceID == id:
				d.Name = source.First(d.Name, name)
			}
		}
	}
}
