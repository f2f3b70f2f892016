// Package bmc keeps the kind BMC: what is known of the management controller of
// each BareMetalHost. It asks the BMC itself, over Redfish, and never changes the
// machine: power, boot, RAID, BIOS settings and firmware stay Ironic's.
//
// A pass reads the host and its Secret, asks what is due ([due] decides that), and
// writes one status. The host controller reads the verdict of the preflight from
// there; it waits for nothing else of this package.
//
// Entry point: [Setup].
package bmc
