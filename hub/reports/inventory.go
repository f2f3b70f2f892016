package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/evaluate"
	"github.com/ironflow/ironflow/hub/hostmachine"
	"github.com/ironflow/ironflow/hub/settle"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/unit"
	"github.com/ironflow/ironflow/hub/validations"
	"github.com/ironflow/ironflow/hub/wire"
)

// storeInventory keeps what the host is made of, judges its disks, and chooses
// the one to install to unless somebody did already.
func storeInventory(w *settle.Work, host *store.Host, reply wire.StepReply) error {
	var inventory wire.Inventory
	if err := decode(reply, &inventory); err != nil {
		return err
	}
	if err := bounded(&inventory); err != nil {
		return err
	}
	nameDisks(&inventory)
	if !hostmachine.TakesInventory(host.API.Status) {
		return nil // the disks are being written; what the host was before is what counts
	}
	macs := evaluate.MACs(&inventory)
	if why := twin(host, macs); why != "" {
		return w.Twins(host, why)
	}
	c, err := w.ClusterOf(host)
	if err != nil {
		return err
	}
	needs := w.NeedsOf(c, w.Facts(host))
	validations.Judge(&inventory, needs)
	chooseDisk(host, &inventory, needs)
	host.MACs, host.InventoryAt = macs, w.Now
	if text := unit.Text(inventory); text != host.API.Inventory {
		host.API.Inventory = text
		w.Touch(host, store.ChangedInventory)
	}
	return nil
}

// twin tells that the addresses are those of another machine than the one that reported
// before: none is the same, and no agent has started in between, as it would have after
// somebody changed the cards.
func twin(host *store.Host, macs []string) string {
	booted := !host.InventoryAt.Truncate(time.Millisecond).After(host.API.RegisteredAt.Time) // which a record has in milliseconds
	changed := !slices.ContainsFunc(macs, func(mac string) bool { return slices.Contains(host.MACs, mac) })
	if !changed || len(macs) == 0 || len(host.MACs) == 0 || booted {
		return ""
	}
	return fmt.Sprintf("one has the addresses %s, another machine %s; switch one off, or give it another board serial number, and boot it again", some(host.MACs), some(macs))
}

// some are the first of the addresses.
func some(macs []string) string {
	const most = 4
	if len(macs) <= most {
		return strings.Join(macs, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(macs[:most], ", "), len(macs)-most)
}

// Bounds of an inventory. Its parts are held against each other, in the time of all
// hosts; the largest machines have some thousand disks.
const (
	maxDisks      = 8 << 10
	maxInterfaces = 8 << 10
	maxAddresses  = 16 << 10
	// maxHostname is what DNS allows; a kernel has 64. It is part of each event about the host.
	maxHostname = 253
	// maxCard bounds the name of a card and its address: a kernel's names have 15 bytes, other names of a card 127, and the
	// longest addresses 59. They are told to the other hosts of the cluster.
	maxCard = 128
)

// bounded refuses an inventory that no machine can have.
func bounded(inventory *wire.Inventory) error {
	addresses, card := 0, 0
	for _, nic := range inventory.Interfaces {
		addresses += len(nic.Ipv4Addresses) + len(nic.Ipv6Addresses)
		card = max(card, len(nic.Name), len(nic.MACAddress))
	}
	for _, c := range []struct {
		have, most int
		what       string
	}{
		{len(inventory.Disks), maxDisks, "disks"},
		{len(inventory.Interfaces), maxInterfaces, "interfaces"},
		{addresses, maxAddresses, "addresses"},
		{len(inventory.Hostname), maxHostname, "bytes of a hostname"},
		{card, maxCard, "bytes of a card's name or address"},
	} {
		if c.have > c.most {
			return apierror.BadRequest("the inventory has %d %s, at most %d are taken", c.have, c.what, c.most)
		}
	}
	return nil
}

// nameDisks gives disks the path that an agent has left out: by their name, or else their
// id. An installation disk without either is none.
func nameDisks(inventory *wire.Inventory) {
	for i := range inventory.Disks {
		d := &inventory.Disks[i]
		if d.Path == "" && d.Name != "" {
			d.Path = "/dev/" + d.Name
		}
		d.Path = cmp.Or(d.Path, d.ID)
	}
}

// chooseDisk keeps a disk that was chosen by somebody; otherwise it takes the
// best one.
func chooseDisk(host *store.Host, inventory *wire.Inventory, needs validations.Requirements) {
	if host.DiskChosen {
		if d := validations.FindDisk(inventory, host.API.InstallationDiskID); d != nil {
			host.API.InstallationDiskPath = d.Path
		}
		return
	}
	host.API.InstallationDiskID, host.API.InstallationDiskPath = "", ""
	if disks := validations.Eligible(inventory, needs); len(disks) > 0 {
		host.API.InstallationDiskID, host.API.InstallationDiskPath = disks[0].ID, disks[0].Path
	}
}

// FreeDisk takes back that somebody chose the disk to install to: the best one is taken.
func FreeDisk(w *settle.Work, host *store.Host) error {
	host.DiskChosen = false
	inventory := evaluate.Inventory(host)
	if inventory == nil {
		host.API.InstallationDiskID, host.API.InstallationDiskPath = "", ""
		return nil
	}
	c, err := w.ClusterOf(host)
	if err != nil {
		return err
	}
	chooseDisk(host, inventory, w.NeedsOf(c, w.Facts(host)))
	return nil
}
