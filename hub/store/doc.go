// Package store keeps the hub's records: infra-envs, hosts, clusters and events.
//
// A record is a document with the columns that it is looked up by. Everything
// happens in a transaction, [Store.View] or [Store.Update]; the statements are
// the common part of SQLite's and PostgreSQL's SQL, so that the database is a
// detail of opening. SQLite ([OpenSQLite]) is the default: one file, one
// writer, any number of readers.
package store
