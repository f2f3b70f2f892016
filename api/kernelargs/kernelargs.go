// Package kernelargs says which kernel arguments a live image in which somebody else
// installs does not take: those that steer CoreOS' own installer. They would have the live
// system write a disk at each boot, unasked. Media that are made to install by themselves
// (`ironflow image customize`) are another matter.
package kernelargs

import (
	"fmt"
	"strings"
)

const (
	// installer is the name, and with a dot the beginning of the names, of the arguments
	// that coreos-installer's service reads in the live system.
	installer = "coreos.inst"
	// persistent is one that people write and that no installer has ever read: not that
	// of CoreOS, and not the agent's.
	persistent = installer + ".persistent-kargs"
	remove     = "delete"
)

// Refused says why an operation of an infra-env on its live image's kernel arguments
// (append, replace or delete) is not carried out; nil for one that is. A value may hold
// several arguments, as the script of a network boot takes them.
func Refused(operation, value string) error {
	if operation == remove {
		return nil
	}
	for argument := range strings.FieldsSeq(strings.ReplaceAll(value, `"`, " ")) {
		name, _, _ := strings.Cut(argument, "=")
		switch {
		case name == persistent:
			return fmt.Errorf("%s: no installer reads it; leave it out, and give the arguments of the installed system to who installs it: "+
				`as installer_args of the host (["--append-karg", "console=ttyS0"]), or as coreos_append_karg of install_coreos`, name)
		case name == installer, strings.HasPrefix(name, installer+"."):
			return fmt.Errorf("%s: it steers CoreOS' own installer, which would write a disk at each boot of the live image, unasked; leave it out: "+
				"the disk is chosen by the hub or by root device hints, and what the installer is told by installer_args of the host", name)
		}
	}
	return nil
}
