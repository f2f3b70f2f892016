// Package catalog lists every condition, reason and event that users meet on the
// resources of the host side: BareMetalHosts and the kinds around them.
//
// It is data, nothing else. Tests hold it against the controllers, which must not
// say anything that is not listed here, and against docs/conditions.md, which is
// written from it.
package catalog
