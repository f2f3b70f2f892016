// Package preflight holds a host's wishes against what its hardware can do, before
// anything is wiped or restarted for them. [Check] takes [Wishes] and the BMC's report,
// and says of each wish that cannot work what the hardware offers and what to write
// instead. What is not known is no mismatch.
//
// It is pure: the rules are a table of functions over [Input], one for each thing that
// Ironic or the BMC would refuse later. [Reasons] explains what each mismatch means;
// docs/preflight.md has it.
package preflight
