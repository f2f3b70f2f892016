// Package support answers what may be combined: which features a release of
// OpenShift has on an architecture and a platform, which architectures it has,
// and which platforms a cluster can have with the hosts that are in it.
//
// The rules are tables of what the product's documentation allows; nothing here
// asks anybody. What this hub itself does not do, such as installing operators where
// it has no source that takes their manifests, is unavailable. The main functions are
// [Features], [Architectures] and [Platforms]; [Usage] says what a cluster makes use of.
package support
