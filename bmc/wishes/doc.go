// Package wishes makes a host's wishes for bmc/preflight from the objects that hold
// them: BareMetalHost, HostFirmwareSettings, HostFirmwareComponents, and the
// PreprovisioningImage that names the live image. [Of] takes the objects of one host,
// [FromObjects] finds them among the objects of a file.
package wishes
