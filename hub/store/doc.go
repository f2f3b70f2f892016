// Package store keeps the hub's records: infra-envs, hosts, clusters, jobs, leases, and the
// timeline of events.
//
// A record is a document with a version, and with the columns that it is looked
// up by. Readers see one state of all records ([Store.View]). Whoever changes
// something reads first, works in memory, and hands the result over as a
// [Unit], which [Store.Commit] stores as a whole or not at all: every record
// that the unit was made from must still have the version that was read.
// Otherwise the answer is [ErrConflict], and the work is done again on what
// there is by then. So no work is done while a database is locked, and units
// of several programs end as if one had come after the other.
//
// The statements are the common part of SQLite's and PostgreSQL's SQL. SQLite
// ([OpenSQLite]) is the default: one file, one program, one writer. PostgreSQL
// ([OpenPostgres]) serves several replicas of the hub.
package store
