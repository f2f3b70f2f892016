// Package runtime pins what a node runs containers with: containerd with its
// shim and client, and four CNI plugins. All are tools of this module:
//
//	go build -tags 'no_btrfs no_zfs no_devmapper no_aufs' -o DIR/ tool
//
// It is a module of its own because containerd asks for newer versions of what
// Kubernetes uses too, and Kubernetes is to be built with those that it pins.
package runtime
