// Package bios knows what a machine's BIOS settings are and may be. [Registry] is the
// attribute registry that the BMC gives with them: types, bounds, and dependencies
// between settings, which [Registry.Evaluate] plays through for values that are only
// wished for. [Settings] are the current ones and those that wait for a restart.
//
// [ParseRegistry] and [ParseSettings] take what vendors send: bounds of -1, names in
// any case, single attributes that cannot be read. [Read] fetches both from a BMC.
// Writing settings is Ironic's work.
package bios
