// Package validations checks whether a host may be installed, and says why not.
//
// The checks are one table of pure policies over an [Input]; each has an id and
// a category of the v2 protocol, the group that decides what a failure means
// for the host's status, and one sentence for people. [Host] runs the table.
// The package also decides which disks can be installed to, and which one is.
package validations
