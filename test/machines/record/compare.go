package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"

	"github.com/ironflow/ironflow/customdeploy/source"
)

// compare asks for what the inventory rarely has to ask for, because a file or
// netlink mostly tells it, and holds the two against each other: the pages of
// SCSI devices by SG_IO, and permanent MACs by ethtool.
func compare(out io.Writer, m source.Machine) error {
	var errs []error
	differ := func(what, name string, same bool, err error) {
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("%s of %s: %w", what, name, err))
		case !same:
			errs = append(errs, fmt.Errorf("%s of %s differs", what, name))
		default:
			fmt.Fprintf(out, "%s of %s: the same\n", what, name)
		}
	}
	for _, name := range m.Names("/sys/block") {
		page, err := m.Read("/sys/block", name, "device/vpd_pg83")
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		asked, errAsked := m.Kernel.Inquiry(path.Join("/dev", name), 0x83)
		length := min(len(page), len(asked))
		differ("VPD page 0x83", name, length > 4 && bytes.Equal(page[:length], asked[:length]), errors.Join(err, errAsked))
	}
	network, err := m.Kernel.Network()
	if err != nil {
		return err
	}
	for _, link := range network.Links {
		if link.PermanentMAC == "" {
			continue
		}
		asked, err := m.Kernel.PermanentMAC(link.Name)
		differ("permanent MAC", link.Name, asked == link.PermanentMAC, err)
	}
	return errors.Join(errs...)
}
