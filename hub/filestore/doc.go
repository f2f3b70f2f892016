// Package filestore keeps the hub's files, such as archives of logs, by name: in
// a folder of this machine ([Directory]), or in a bucket of a server that speaks
// S3 ([S3]), which replicas share. The main type is [Store]; both kinds pass the
// same suite of tests.
//
// A file is stored as a whole or not at all. What arrives is first written to a
// temporary file on this machine, so that nothing is held in memory as a whole,
// a sender that is slow or breaks off never reaches the store, and an upload to
// S3 can be repeated.
package filestore
