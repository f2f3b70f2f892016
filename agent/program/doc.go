// Package program is what the host's binaries with many names have in common: the
// table from name to program, and the flags of every program. The base name of argv[0]
// selects the program, so links work as in older images; `BINARY NAME` works as well.
package program
