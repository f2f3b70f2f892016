// Package sharednetwork makes the part of an image for many machines that gives each
// of them its own network: the keyfiles of all, and a script of the initrd that picks
// those that name the address of one of the machine's cards. A machine without any
// keeps to DHCP. Where the files lie is as in images of assisted-service. The main
// function is [Entries].
package sharednetwork
