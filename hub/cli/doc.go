// Package cli holds the commands of the hub's operators that need no hub at work: copies of its records
// and keys and their way back, the token of the program inside a cluster, and a look at release images.
package cli
