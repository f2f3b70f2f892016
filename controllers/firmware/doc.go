// Package firmware keeps the resources that describe a host's firmware:
// HostFirmwareSettings with their FirmwareSchema, HostFirmwareComponents, and
// the owner of HostUpdatePolicy.
//
// It reads what Ironic has cached about a machine, never the BMC itself, and
// never on a timer: when a host comes to rest for the first time or after an
// inspection (its resources exist since its registration), and when the host controller asks because it has just changed
// something. It decides what of a wish is valid and still differs, but changes
// no machine: preparing and servicing belong to package host, which uses a
// [Keeper] and the pure functions [SettingsWish] and [UpdatesWish].
//
// Entry points: [Setup] for programs, [Keeper] for the host controller.
package firmware
