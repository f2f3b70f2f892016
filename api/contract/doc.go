// Package contract checks that the Go types of our kinds offer exactly the
// fields of the published contract (testdata/hub-crds.tsv). It has no code of
// its own outside of its tests.
package contract
