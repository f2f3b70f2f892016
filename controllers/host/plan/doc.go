// Package plan finds the work that is left on a machine: RAID volumes, BIOS settings and
// firmware updates, by manual cleaning before a host is used, or by servicing in a reboot.
// [Of] compares what is asked for with what is known to be done, and gives one next thing.
//
// Work is announced by an [Order] on the node before it is asked for, so that a controller
// that dies at any moment neither repeats work that is done nor takes work for done that is
// not. The package is pure: it reads nothing and asks for nothing.
package plan
