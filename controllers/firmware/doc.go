// Package firmware keeps the resources that describe a host's firmware:
// HostFirmwareSettings with their FirmwareSchema, HostFirmwareComponents, and
// the owner of HostUpdatePolicy.
//
// It reads what Ironic has cached about a machine, never the BMC itself, and
// never on a timer: when the host controller asks, which it does before a host is
// available and after it has changed something, and when a host came to rest of which
// something is unread (its resources exist since its registration). It decides what of a wish is valid and still differs, but changes
// no machine: preparing and servicing belong to package host, which uses a
// [Keeper] and the pure functions [SettingsWish] and [UpdatesWish].
//
// Entry points: [Setup] for programs, [Keeper] for the host controller.
package firmware
