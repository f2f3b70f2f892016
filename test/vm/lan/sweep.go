package lan

import (
	"fmt"
	"net/netip"
	"os"
	"strconv"
	"strings"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// aliasPrefix begins the alias of every device of ours; the process id follows.
const aliasPrefix = "ironflow test network of process "

func alias(process int) string { return aliasPrefix + strconv.Itoa(process) }

// sweep removes the devices of processes that were killed.
func sweep() error {
	links, err := netlink.LinkList()
	if err != nil {
		return fmt.Errorf("list the network devices: %w", err)
	}
	for _, link := range links {
		text, ours := strings.CutPrefix(link.Attrs().Alias, aliasPrefix)
		process, err := strconv.Atoi(text)
		if !ours || err != nil || process == os.Getpid() || unix.Kill(process, 0) != unix.ESRCH {
			continue
		}
		if err := netlink.LinkDel(link); err != nil {
			return fmt.Errorf("remove the device %s, which a killed process has left: %w", link.Attrs().Name, err)
		}
	}
	return nil
}

// free says whether this machine has no other network at the same addresses.
func free(options Options) error {
	have, err := netlink.AddrList(nil, netlink.FAMILY_V4)
	if err != nil {
		return fmt.Errorf("list the addresses: %w", err)
	}
	wanted := []netip.Prefix{options.Prefix}
	for _, v := range options.VLANs {
		wanted = append(wanted, v.Prefix)
	}
	for _, a := range have {
		there, err := netip.ParsePrefix(a.IPNet.String())
		if err != nil {
			continue
		}
		for _, prefix := range wanted {
			if prefix.Overlaps(there) {
				return fmt.Errorf("the network %s is in use on %s here: give the network another prefix", there.Masked(), a.Label)
			}
		}
	}
	return nil
}
