package efiboot

import (
	"cmp"
	"errors"
	"os"
	"slices"

	"github.com/google/uuid"
	"golang.org/x/sys/unix"

	"github.com/ironflow/ironflow/api/hostfile"
)

// remote are the places of sysfs that tell of disks which come and go with a network:
// adapters, sessions, and the targets that the firmware knows.
var remote = []string{
	"/sys/class/fc_host", "/sys/class/fcoe_ctlr", "/sys/class/iscsi_host", "/sys/class/iscsi_session", "/sys/class/srp_host",
	"/sys/class/nvme-fabrics", "/sys/firmware/ibft", "/sys/firmware/acpi/tables/iBFT", "/sys/firmware/acpi/tables/NBFT",
}

// mayBeAway tells whether a disk of this host may be there, and not be seen now.
func mayBeAway(host hostfile.Dir) bool {
	return slices.ContainsFunc(remote, func(place string) bool {
		info, err := os.Stat(host.Path(place))
		if err != nil || !info.IsDir() {
			return err == nil
		}
		list, err := os.ReadDir(host.Path(place)) // the kernel's modules make empty folders
		return err != nil || len(list) > 0
	})
}

// maxAway is how many entries stay for which no disk is seen, where one may be away:
// firmware has room for few.
const maxAway = 8

// dead are the entries with the label for which no disk has a partition now: each
// installation writes a new one. The newest come first, because each is put first in
// the order.
func (m menu) dead(label string, present []uuid.UUID) []uint16 {
	if len(present) == 0 {
		return nil // what disks there are is not known
	}
	var list []uint16
	for number, e := range m.entries {
		ours := e.raw != nil && e.label == label && e.partition != uuid.Nil && isOurs(e.loader)
		if ours && !slices.Contains(present, e.partition) {
			list = append(list, number)
		}
	}
	place := func(number uint16) int {
		if at := slices.Index(m.order, number); at >= 0 {
			return at
		}
		return len(m.order)
	}
	slices.SortFunc(list, func(a, b uint16) int { return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a, b)) })
	return list
}

// removeDead removes dead entries and returns those that stay: of a host that has only
// disks of its own, none; the disk of another one may be away for the moment.
func (m menu) removeDead(label string, host hostfile.Dir, present []uuid.UUID) (stay []uint16) {
	list := m.dead(label, present)
	if mayBeAway(host) {
		stay = list[:min(len(list), maxAway)]
	}
	m.remove(list[len(stay):])
	return stay
}

// remove removes entries. It is no error when one stays.
func (m menu) remove(numbers []uint16) {
	for _, number := range numbers {
		if m.vars.remove(m.entries[number].variable) == nil {
			delete(m.entries, number)
		}
	}
}

// noRoom tells whether the firmware has no place for another entry.
func noRoom(err error) bool { return errors.Is(err, unix.ENOSPC) || errors.Is(err, errNoPlace) }
