package inventory

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/wire"
)

// manyDisks is a host with 100 disks of 0 to 99 GiB, three of which can be
// installed on, and of those the first is the far end of a storage network.
func manyDisks() wire.Inventory {
	inv := empty()
	inv.Hostname = "many-disks"
	inv.Boot = &wire.Boot{CommandLine: strings.Repeat("x", 1000)}
	inv.Interfaces = []wire.Interface{{Name: "eth0", Type: "physical"}, {Name: "veth0", Type: "veth", Flags: []string{strings.Repeat("x", 500)}}}
	for i := range 100 {
		disk := wire.Disk{Name: fmt.Sprintf("sd%d", i), Model: strings.Repeat("x", 500), SizeBytes: int64(i) << 30, InstallationEligibility: wire.DiskInstallationEligibility{Eligible: i < 3}}
		if i == 0 {
			disk.DriveType = wire.DriveTypeFc
		}
		inv.Disks = append(inv.Disks, disk)
	}
	return inv
}

func TestTruncation(t *testing.T) {
	eligible, err := Print(manyDisks(), Options{OutputMaxSize: 1 << 20})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	size := int64(len(eligible)) // of the inventory with what can be installed on
	for name, tc := range map[string]struct {
		options    Options
		disks      []string // nil: not looked at
		count      int
		truncation string
		reasons    []string
	}{
		"no limit":                 {Options{}, nil, 100, "", nil},
		"small disks":              {Options{DiskMinSize: 90 << 30}, nil, 10, "", nil},
		"only what is installable": {Options{OutputMaxSize: size}, []string{"sd0", "sd1", "sd2"}, 3, "", nil},
		"both limits":              {Options{OutputMaxSize: size, DiskMinSize: 2 << 30}, []string{"sd2"}, 1, "", nil},
		"nothing fits":             {Options{OutputMaxSize: 100}, nil, 0, "full", []string{"The inventory with 100 disks is larger than 100 bytes"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			inv := manyDisks()
			raw, err := Print(inv, tc.options)
			g.Expect(err).NotTo(HaveOccurred())
			if tc.options.OutputMaxSize > 0 && tc.truncation != "full" {
				g.Expect(len(raw)).To(BeNumerically("<=", tc.options.OutputMaxSize))
			}
			var got wire.Inventory
			g.Expect(json.Unmarshal(raw, &got)).To(Succeed())
			g.Expect(got.Disks).To(HaveLen(tc.count))
			if tc.disks != nil {
				names := []string{}
				for _, d := range got.Disks {
					names = append(names, d.Name)
				}
				g.Expect(names).To(Equal(tc.disks))
			}
			if tc.truncation == "" {
				g.Expect(got.Truncation).To(BeNil())
			} else {
				g.Expect(got.Truncation).To(Equal(&wire.InventoryTruncation{Type: tc.truncation, Reasons: tc.reasons}))
			}
			g.Expect(inv).To(Equal(manyDisks()), "the inventory itself is not changed")
		})
	}
}

// TestTruncationGoesByStages lowers the limit byte by byte and writes down each
// new state that the inventory goes through.
func TestTruncationGoesByStages(t *testing.T) {
	g := NewWithT(t)
	inv := manyDisks()
	whole, err := Print(inv, Options{OutputMaxSize: 1 << 20})
	g.Expect(err).NotTo(HaveOccurred())
	var seen []string
	for limit := int64(len(whole)); limit > 0; limit-- {
		raw, err := Print(inv, Options{OutputMaxSize: limit})
		g.Expect(err).NotTo(HaveOccurred())
		var got wire.Inventory
		g.Expect(json.Unmarshal(raw, &got)).To(Succeed())
		state := "whole"
		if got.Truncation != nil {
			state = fmt.Sprintf("%s, %d reasons", got.Truncation.Type, len(got.Truncation.Reasons))
		}
		for _, d := range got.Disks {
			state += " " + d.Name
		}
		if len(seen) == 0 || seen[len(seen)-1] != state {
			seen = append(seen, state)
		}
		if got.Truncation == nil || got.Truncation.Type == "partial" {
			g.Expect(len(raw)).To(BeNumerically("<=", limit))
		}
	}
	g.Expect(seen).To(Equal([]string{
		"whole sd0 sd1 sd2",
		"partial, 1 reasons sd0 sd1 sd2", // no command line
		"partial, 2 reasons sd0 sd1 sd2", // no veth0
		"partial, 3 reasons sd1 sd2",     // no far disk
		"partial, 3 reasons sd1",
		"full, 1 reasons",
	}))
}

func TestFullTruncationSendsWhatIsAlwaysPresent(t *testing.T) {
	g := NewWithT(t)
	raw, err := Print(manyDisks(), Options{OutputMaxSize: 1})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(raw).To(MatchJSON(`{
		"bmc_address": "0.0.0.0", "bmc_v6address": "::/0", "disks": [], "gpus": [], "interfaces": [], "routes": [],
		"truncation": {"type": "full", "reasons": ["The inventory with 100 disks is larger than 1 bytes"]}
	}`))
}
