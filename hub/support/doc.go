// Package support answers what may be combined: which features a release of
// OpenShift has on an architecture and a platform, which architectures it has,
// and which platforms a cluster can have with the hosts that are in it.
//
// The rules are tables of what the product's documentation allows; nothing here
// asks anybody. What this hub itself does not do, such as installing operators,
// is unavailable. The main functions are [Features], [Architectures] and
// [Platforms].
package support
