// Package quirks knows how BMCs differ from what Redfish says they are. A [Row] says
// which BMCs it is about (vendor, model, kind of manager, range of firmware), what
// comes of it (an [Effect] of a small vocabulary, with a value), and where that is
// known from.
//
// [Table] holds the rows that are built in (quirks.yaml) and those of a site, which
// [Parse] reads. [Table.Match] gives the rows that apply to a BMC in the form of its
// report; [Has], [Values], [NotSupported], [BadVersions] and [Skips] read them there.
// The package does nothing to a BMC: who applies an effect is said in [Effects].
package quirks
