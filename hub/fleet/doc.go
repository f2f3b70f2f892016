// Package fleet is what may be done with hosts: agents register them, users and
// controllers look at them, change, approve, bind, reset and remove them, and
// controllers say what became of their machines. The main type is [Fleet].
package fleet
