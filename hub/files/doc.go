// Package files is what the hub hands out and takes in as files: Ignition of
// hosts and clusters, archives of logs. The main type is [Folder].
package files
