package probe

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
)

// mostFirmware bounds how many entries of the inventory are reported.
const mostFirmware = 128

// firmware lists the firmware inventory: first what belongs to BIOS and BMC, then
// what the budget allows. An entry that was not read says nothing, and is left out.
func (p *probe) firmware() {
	if _, said := p.verdicts[FirmwareInventory]; said {
		return
	}
	listed := getList(p, p.inventory, true)
	if errors.Is(listed.err, errBudget) {
		p.set(yes(FirmwareInventory, "", "the update service: FirmwareInventory"))
		p.remark("The firmware inventory was not read, to spare the BMC.")
		return
	}
	if !listed.read() {
		p.set(listed.missing(FirmwareInventory, "FirmwareInventory of the update service"))
		return
	}
	all := links[software](listed.value.members)
	order := inOrder(len(all))
	slices.SortStableFunc(order, func(a, b int) int { return firmwareRank(all[a].path) - firmwareRank(all[b].path) })
	unread := fill(p, all, order, mostFirmware, 0, nil)
	for _, f := range all {
		if f.read() && len(p.report.Firmware) < mostFirmware {
			p.report.Firmware = append(p.report.Firmware, firmwareReport(f))
		}
	}
	if unread += max(0, listed.value.total-len(all)); unread > 0 {
		p.remark(fmt.Sprintf("%d of %d entries of the firmware inventory were not read, to spare the BMC.", unread, max(len(all), listed.value.total)))
	}
	p.set(yes(FirmwareInventory, strconv.Itoa(max(len(all), listed.value.total)), listed.path))
}

// firmwareRank puts BIOS and BMC first. Dell repeats each component as Current,
// Installed, Previous and Available; what is installed matters.
func firmwareRank(entry string) int {
	name := strings.ToLower(path.Base(entry))
	rank := 2
	for _, first := range []string{"bios", "uefi", "bmc", "idrac", "ilo"} {
		if strings.Contains(name, first) {
			rank = 1
		}
	}
	for _, old := range []string{"previous", "available", "backup", "pending"} {
		if strings.Contains(name, old) {
			rank = 3
		}
	}
	return rank
}

func firmwareReport(f found[software]) v1alpha1.FirmwareReport {
	out := v1alpha1.FirmwareReport{
		ID: idOf(f.value.ID, f.path), Name: firstOf(f.value.Name), Version: firstOf(f.value.Version),
		LowestSupportedVersion: firstOf(f.value.LowestSupportedVersion),
	}
	if f.value.Updateable.Set {
		out.Updateable = new(bool(f.value.Updateable.Value))
	}
	return out
}
