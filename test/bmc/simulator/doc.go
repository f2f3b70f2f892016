// Package simulator is an in-memory Redfish BMC for tests, demonstrations and
// scale runs: thousands of systems in one process, with what Ironic and Ironflow
// ask real BMCs for, and with the quirks and lies that real BMCs have.
//
// A [Server] is one Redfish service, an http.Handler; [Server.AddSystem] puts a
// [System] with its manager and chassis under its root. It has sessions and basic
// authentication, power with delays, boot override, virtual media, BIOS settings
// with an attribute registry, storage with RAID volumes, firmware updates, secure
// boot, events with delivery and as a stream, tasks and jobs, sensors and parts that
// fail, logs, accounts with a password policy and lock-out, certificates, licences
// and a clock. The machine behind a system implements [Machine] and is asked before
// power, boot or media change; what it does by itself it tells with
// [Server.SetPower].
//
// A [Quirk] makes one system misbehave as a real BMC is known to do; [Quirks] lists
// them all, and each is named by a row of bmc/quirks. Package profile has BMCs in the shapes of real ones,
// package fleet runs thousands at addresses of their own. What the server answers is
// held to sushy-tools' emulator, to the real Ironic and to gofish by the contract
// tests of bmc/contract. All delays use the time package, hence the bubble's clock
// inside testing/synctest ([Server.Transport] needs no network).
//
// The shapes are those of DMTF's Redfish schemas (DSP0266, DSP0268), in the subset
// that those clients read.
package simulator
