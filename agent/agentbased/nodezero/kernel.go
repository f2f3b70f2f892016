package nodezero

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Kernel is the [Network] of the process's network namespace.
type Kernel struct{}

// Addresses implements [Network].
func (Kernel) Addresses() ([]Address, error) {
	links, err := netlink.LinkList()
	if err = usableDump(err, len(links)); err != nil {
		return nil, fmt.Errorf("list links: %w", err)
	}
	byIndex := map[int]*netlink.LinkAttrs{}
	for _, l := range links {
		byIndex[l.Attrs().Index] = l.Attrs()
	}
	leads, err := defaults()
	if err != nil {
		return nil, err
	}
	found, err := netlink.AddrList(nil, netlink.FAMILY_ALL)
	if err = usableDump(err, len(found)); err != nil {
		return nil, fmt.Errorf("list addresses: %w", err)
	}
	var all []Address
	for _, f := range found {
		addr, ok := netip.AddrFromSlice(f.IP)
		link := byIndex[f.LinkIndex]
		if !ok || link == nil {
			continue
		}
		all = append(all, Address{
			Addr: addr.Unmap(), Interface: link.Name, MAC: link.HardwareAddr.String(), Default: leads[f.LinkIndex],
			// Optimistic addresses are usable while the kernel still asks.
			Tentative: f.Flags&unix.IFA_F_TENTATIVE != 0 && f.Flags&unix.IFA_F_OPTIMISTIC == 0 && f.Flags&unix.IFA_F_DADFAILED == 0,
			Duplicate: f.Flags&unix.IFA_F_DADFAILED != 0,
		})
	}
	return all, nil
}

// defaults are the links with a default route.
func defaults() (map[int]bool, error) {
	leads := map[int]bool{}
	for _, family := range []int{netlink.FAMILY_V4, netlink.FAMILY_V6} {
		routes, err := netlink.RouteList(nil, family)
		if err = usableDump(err, len(routes)); err != nil {
			return nil, fmt.Errorf("list routes: %w", err)
		}
		for _, r := range routes {
			if r.Dst != nil && !r.Dst.IP.IsUnspecified() {
				continue
			}
			leads[r.LinkIndex] = true
			for _, path := range r.MultiPath {
				leads[path.LinkIndex] = true
			}
		}
	}
	return leads, nil
}

// usableDump forgives a list that changed while it was read: a change brings a new look.
func usableDump(err error, n int) error {
	if errors.Is(err, netlink.ErrDumpInterrupted) && n > 0 {
		return nil
	}
	return err
}

// Changes implements [Network].
func (Kernel) Changes(ctx context.Context) (<-chan struct{}, error) {
	addresses := make(chan netlink.AddrUpdate, 64)
	if err := netlink.AddrSubscribe(addresses, ctx.Done()); err != nil {
		return nil, fmt.Errorf("addresses: %w", err)
	}
	links := make(chan netlink.LinkUpdate, 64)
	if err := netlink.LinkSubscribe(links, ctx.Done()); err != nil {
		return nil, fmt.Errorf("links: %w", err)
	}
	changes := make(chan struct{}, 1)
	go func() {
		defer close(changes)
		for {
			var open bool
			select {
			case <-ctx.Done():
				return
			case _, open = <-addresses:
			case _, open = <-links:
			}
			if !open { // the kernel's buffer ran over, or the socket broke
				return
			}
			tell(changes)
		}
	}()
	return changes, nil
}

// tell has somebody look. A change that nobody has looked at covers the next one.
func tell(changes chan<- struct{}) {
	select {
	case changes <- struct{}{}:
	default:
	}
}

// Routes implements [Network].
func (Kernel) Routes(ctx context.Context) (<-chan struct{}, error) {
	routes := make(chan netlink.RouteUpdate, 64)
	if err := netlink.RouteSubscribe(routes, ctx.Done()); err != nil {
		return nil, fmt.Errorf("routes: %w", err)
	}
	changes := make(chan struct{}, 1)
	go func() {
		defer close(changes)
		for range routes { // until the context ends, or the subscription has
			tell(changes)
		}
	}()
	return changes, nil
}
