// Package contract holds the cases that Redfish services have to pass, so that
// what is tested against the BMC simulator holds in the field.
//
// [Cases] is the one table of what BMCs are asked for, through the gofish client.
// Cases that are marked Both run against sushy-tools' emulator too; the others are
// about what it lacks. [QuirkCases] has one case for each quirk of the simulator.
// [IronicCases] are what the real Ironic does with a BMC. The tests fail when a
// quirk, an address of the simulator or a row of the feature list has no case.
package contract
