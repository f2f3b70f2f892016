// Package contract holds the cases that a real Ironic and the simulator both
// have to pass, so that what is tested against the simulator holds in the field.
//
// [Cases] is the one table: a case for each call of the Bare Metal API that
// Ironflow makes. A [Target] is an Ironic with machines behind it. [Run] runs
// every case against a target and checks that the requests which a case stands
// for were really made. [Actions] is the table of what is asked for in which
// state of a node; what it leaves out is shown to be refused.
package contract
