package instructions_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/instructions"
	"github.com/ironflow/ironflow/hub/wire"
)

// TestTheWayToADiskBehindARouter: the target is asked before there is a root file system,
// and the card that leads to it is not the one with the default route.
func TestTheWayToADiskBehindARouter(t *testing.T) {
	disk := func(portal, address string) wire.Disk {
		return wire.Disk{
			ID: "/dev/disk/by-id/one", Path: "/dev/sda", Name: "sda", DriveType: wire.DriveTypeISCSI, Iscsi: &wire.Iscsi{HostIPAddress: address},
			ByPath: "/dev/disk/by-path/ip-" + portal + "-iscsi-iqn.2026-01.example:root-lun-0",
		}
	}
	route := func(to, via, nic string) wire.Route { return wire.Route{Destination: to, Gateway: via, Interface: nic} }
	paths := []wire.Disk{disk("172.16.0.7:3260", "10.0.0.1"), disk("172.17.0.7:3260", "10.0.0.1")}
	for i := range paths {
		paths[i].ID, paths[i].Holders, paths[i].Name = "p"+paths[i].ByPath, "dm-0", "sd"+string(rune('b'+i))
	}
	mapped := slices.Concat(paths, []wire.Disk{{ID: "/dev/disk/by-id/one", Path: "/dev/dm-0", Name: "dm-0", DriveType: wire.DriveTypeMultipath}})
	defaults := []wire.Route{route("0.0.0.0", "192.0.2.1", "eno1"), {Destination: "0.0.0.0", Gateway: "10.0.0.254", Interface: "eno2", Metric: 200}}
	for name, tc := range map[string]struct {
		disks  []wire.Disk
		routes []wire.Route
		args   string
		want   []string
	}{
		"in the card's network":           {disks: []wire.Disk{disk("10.9.0.7:3260", "10.0.0.1")}, routes: defaults},
		"by the card's default route":     {disks: []wire.Disk{disk("172.16.0.7:3260", "10.0.0.1")}, routes: defaults, want: []string{"rd.route=172.16.0.7/32:10.0.0.254:52-54-00-aa-00-02"}},
		"by another card's default route": {disks: []wire.Disk{disk("172.16.0.7:3260", "10.0.0.1")}, routes: defaults[:1]},
		"by a route to its network": {
			disks:  []wire.Disk{disk("172.16.9.7:3260", "10.0.0.1")},
			routes: append(slices.Clone(defaults), route("172.16.8.0", "10.0.0.253", "eno2"), route("172.17.0.0", "10.0.0.252", "eno2")),
			want:   []string{"rd.route=172.16.9.7/32:10.0.0.253:52-54-00-aa-00-02"},
		},
		"by the route of the least metric": {
			disks:  []wire.Disk{disk("172.16.0.7:3260", "10.0.0.1")},
			routes: append(slices.Clone(defaults), wire.Route{Destination: "0.0.0.0", Gateway: "10.0.0.251", Interface: "eno2", Metric: 100}),
			want:   []string{"rd.route=172.16.0.7/32:10.0.0.251:52-54-00-aa-00-02"},
		},
		"a card with a static address": {
			disks: []wire.Disk{disk("172.16.0.7:3260", "10.0.0.1")}, routes: defaults, args: `["--copy-network"]`,
			want: []string{"rd.route=172.16.0.7/32:10.0.0.254:52-54-00-aa-00-02"},
		},
		"over IPv6": {
			disks: []wire.Disk{disk("fd50::7:3260", "fd00::1")}, routes: append(slices.Clone(defaults), route("::", "fe80::1", "eno2")),
			want: []string{"rd.route=[fd50::7/128]:[fe80::1]:52-54-00-aa-00-02"},
		},
		"over IPv6, in brackets": {
			disks: []wire.Disk{disk("[fd50::7]:3260", "fd00::1")}, routes: []wire.Route{route("fd50::", "fd00::fe", "eno2"), route("::", "fe80::1", "eno2")},
			want: []string{"rd.route=[fd50::7/128]:[fd00::fe]:52-54-00-aa-00-02"},
		},
		"each path of one": {
			disks: mapped, routes: []wire.Route{route("172.16.0.0", "10.0.0.254", "eno2"), route("172.17.0.0", "10.0.0.253", "eno2")},
			want: []string{"rd.route=172.16.0.7/32:10.0.0.254:52-54-00-aa-00-02", "rd.route=172.17.0.7/32:10.0.0.253:52-54-00-aa-00-02"},
		},
		"a name that tells no portal": {disks: []wire.Disk{disk("storage", "10.0.0.1")}, routes: defaults},
		"a user's own network":        {disks: []wire.Disk{disk("172.16.0.7:3260", "10.0.0.1")}, routes: defaults, args: `["--append-karg","ip=ibft"]`},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			built, skipped := instructions.For(input(wire.HostStatusInstalling, func(in *instructions.Input) {
				released(in)
				in.Inventory.Interfaces[1].Ipv6Addresses = []string{"fd00::1/64"}
				in.Inventory.Disks, in.Inventory.Routes, in.Host.InstallerArgs = tc.disks, tc.routes, tc.args
			}))
			g.Expect(skipped).To(BeEmpty())
			var request wire.InstallCmdRequest
			var args []string
			g.Expect(json.Unmarshal([]byte(built.Instructions[0].Args[0]), &request)).To(Succeed())
			g.Expect(json.Unmarshal([]byte(request.InstallerArgs), &args)).To(Succeed())
			g.Expect(slices.DeleteFunc(args, func(a string) bool { return !strings.HasPrefix(a, "rd.route=") })).To(Equal(append([]string{}, tc.want...)))
		})
	}
}
