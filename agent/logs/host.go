package logs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/ironflow/ironflow/agent/command"
)

// file is a file of the host; one that is not there is no failure.
func (s Sources) file(name, at string) Piece {
	return single(name, func(_ context.Context, w io.Writer) error { return s.copyFile(w, at) })
}

func (s Sources) copyFile(w io.Writer, at string) error { return s.copyOpened(w, at, 0) }

// copyOpened is copyFile with more flags for open. It waits for no writer of a pipe.
func (s Sources) copyOpened(w io.Writer, at string, flags int) error {
	f, err := os.OpenFile(s.Dir.Path(at), os.O_RDONLY|unix.O_NONBLOCK|flags, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return errors.Join(err, fmt.Errorf("%s is not a plain file", at))
	}
	_, err = io.Copy(w, io.LimitReader(f, maxPiece))
	return err
}

// mounts tells of disks and what is mounted of them.
func (s Sources) mounts() Piece {
	p := Piece{Name: "mount.logs"}
	add := func(title string, write func(ctx context.Context, w io.Writer) error) {
		p.Parts = append(p.Parts, Part{Title: title, Write: write})
	}
	if s.Commands != nil {
		add("block devices (lsblk)", s.program("lsblk", "--output", "NAME,MAJ:MIN,SIZE,TYPE,FSTYPE,KNAME,MODEL,UUID,WWN,HCTL,VENDOR,STATE,TRAN,PKNAME"))
	}
	add("mounts (/proc/1/mountinfo)", func(_ context.Context, w io.Writer) error { return s.copyFile(w, "/proc/1/mountinfo") })
	add("partitions (/proc/partitions)", func(_ context.Context, w io.Writer) error { return s.copyFile(w, "/proc/partitions") })
	for _, folder := range []string{"/dev/disk/by-id", "/dev/disk/by-path"} {
		add(folder, func(_ context.Context, w io.Writer) error { return s.links(w, folder) })
	}
	if s.Commands != nil {
		for _, display := range []string{"pvdisplay", "vgdisplay", "lvdisplay"} {
			add("lvm "+display, s.program("lvm", display, "-v"))
		}
	}
	return p
}

// program writes what a program writes to its two streams.
func (s Sources) program(name string, args ...string) func(ctx context.Context, w io.Writer) error {
	return func(ctx context.Context, w io.Writer) error {
		return s.Commands.Run(ctx, command.Command{Name: name, Args: args, Stdout: w, Stderr: w})
	}
}

// links writes the links of a folder and where they lead.
func (s Sources) links(w io.Writer, folder string) error {
	entries, err := os.ReadDir(s.Dir.Path(folder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, entry := range entries {
		target, err := os.Readlink(filepath.Join(s.Dir.Path(folder), entry.Name()))
		if err == nil {
			fmt.Fprintf(w, "%s -> %s\n", entry.Name(), target)
		}
	}
	return err
}

// networkFiles hold addresses, routes, neighbours, counters and resolvers. They
// are those of process 1: ours may have another network.
var networkFiles = []string{
	"/proc/1/net/dev", "/proc/1/net/fib_trie", "/proc/1/net/if_inet6", "/proc/1/net/route", "/proc/1/net/ipv6_route", "/proc/1/net/arp",
	"/etc/resolv.conf", "/etc/hosts",
}

// network tells of the network's state.
func (s Sources) network() Piece {
	p := Piece{Name: "network.logs"}
	files := networkFiles
	if bonds, err := filepath.Glob(s.Dir.Path("/proc/1/net/bonding/*")); err == nil {
		for _, bond := range bonds {
			files = append(files, path.Join("/proc/1/net/bonding", filepath.Base(bond)))
		}
	}
	for _, file := range files {
		p.Parts = append(p.Parts, Part{Title: file, Write: func(_ context.Context, w io.Writer) error { return s.copyFile(w, file) }})
	}
	return p
}

// openVSwitch is what Open vSwitch wrote on this host. The folder belongs to its
// user, who could put links to files there that only root may read.
func (s Sources) openVSwitch() Piece {
	p := Piece{Name: "ovs.logs"}
	files, _ := filepath.Glob(s.Dir.Path("/var/log/openvswitch/*.log")) // the pattern is sound
	for _, file := range files {
		at := path.Join("/var/log/openvswitch", filepath.Base(file))
		p.Parts = append(p.Parts, Part{Title: at, Write: func(_ context.Context, w io.Writer) error { return s.copyOpened(w, at, unix.O_NOFOLLOW) }})
	}
	return p
}

// kernelLog writes the kernel's messages.
func (s Sources) kernelLog(_ context.Context, w io.Writer) error {
	if s.Commands == nil {
		return nil // the kernel is not that of the pretended machine
	}
	size, err := unix.Klogctl(unix.SYSLOG_ACTION_SIZE_BUFFER, nil)
	if err != nil {
		return fmt.Errorf("size of the kernel's log: %w", err)
	}
	buffer := make([]byte, size)
	n, err := unix.Klogctl(unix.SYSLOG_ACTION_READ_ALL, buffer)
	if err != nil {
		return fmt.Errorf("read the kernel's log: %w", err)
	}
	_, err = w.Write(buffer[:n])
	return err
}
