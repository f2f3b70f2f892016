package manifests

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path"
	"slices"
	"strings"
)

// The files in the folder of a host, and the one beside the folders.
const (
	macFile     = "mac_addresses"
	roleFile    = "role"
	hintsFile   = "root-device-hints.yaml"
	fencingFile = "fencing-credentials.yaml"
)

// roles are those that a person can give to a host.
var roles = []string{"master", "worker", "arbiter"}

// HostConfig is what a person wants of one host.
type HostConfig struct {
	// Name is its folder's.
	Name string
	// MACs tell which host it is, in lower case: any of its cards has one of them.
	MACs []string
	// Role is master, worker, arbiter, or empty for the hub's choice.
	Role string
	// Hints choose its disk; nil for the hub's choice.
	Hints *RootDeviceHints
}

// hosts reads the folders of hosts; a missing folder is none.
func (r *reader) hosts(folder string) {
	if folder == "" {
		return
	}
	entries, err := os.ReadDir(r.path(folder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.add(Problem{File: folder, Text: fmt.Sprintf("cannot be read: %v", inner(err))})
	}
	owners := map[string]string{}
	for _, e := range entries {
		name := path.Join(folder, e.Name())
		switch {
		case e.IsDir():
			r.set.Hosts = append(r.set.Hosts, r.host(name, owners))
		case e.Name() == fencingFile:
			r.fencing(name)
		default:
			r.unused(Problem{File: name, Text: "is not read: what is wanted of a host lies in a folder of its own"})
		}
	}
}

// host reads one folder.
func (r *reader) host(folder string, owners map[string]string) HostConfig {
	out := HostConfig{Name: path.Base(folder)}
	r.macs(path.Join(folder, macFile), &out, owners)
	if raw := r.read(path.Join(folder, roleFile), true); raw != nil {
		out.Role = strings.TrimSpace(string(raw))
		if out.Role != "" && !slices.Contains(roles, out.Role) {
			r.add(Problem{File: path.Join(folder, roleFile), Text: fmt.Sprintf("is %.40q: write one of %s", out.Role, strings.Join(roles, ", "))})
		}
	}
	if raw := r.read(path.Join(folder, hintsFile), true); raw != nil {
		out.Hints = &RootDeviceHints{}
		if d := r.single(path.Join(folder, hintsFile), true); d != nil {
			decode(d.place, d.node, out.Hints)
			checkHints(d.place, "", out.Hints)
		}
	}
	return out
}

func (r *reader) macs(file string, out *HostConfig, owners map[string]string) {
	raw := r.read(file, false)
	line := 0
	for text := range strings.SplitSeq(string(raw), "\n") {
		line++
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		mac, err := net.ParseMAC(text)
		owner, taken := owners[mac.String()]
		switch {
		case err != nil:
			r.add(Problem{File: file, Line: line, Text: fmt.Sprintf("is %.60q: write one MAC address a line, such as 02:00:00:00:00:01", text)})
			continue
		case taken:
			r.add(Problem{File: file, Line: line, Text: fmt.Sprintf("is %s, which %s has already: one card is of one host", mac, owner)})
		}
		owners[mac.String()] = out.Name
		out.MACs = append(out.MACs, mac.String())
	}
	if raw != nil && len(strings.TrimSpace(string(raw))) == 0 {
		r.add(Problem{File: file, Text: "is empty: write the host's MAC addresses, one a line"})
	}
}

// checkHints refuses hints that choose nothing.
func checkHints(at *place, path string, h *RootDeviceHints) {
	if *h == (RootDeviceHints{}) {
		at.wrong(path, "chooses no disk: write a hint, such as deviceName: /dev/sda")
	}
	if h.MinSizeGigabytes < 0 {
		at.wrong(join(path, "minSizeGigabytes"), "is %d: write a size in GiB", h.MinSizeGigabytes)
	}
	if h.DeviceName != "" && !strings.HasPrefix(h.DeviceName, "/dev/") {
		at.wrong(join(path, "deviceName"), "is %.80q: write a path below /dev, such as /dev/sda or /dev/disk/by-path/…", h.DeviceName)
	}
}

// fencing reads the credentials; no message quotes them.
func (r *reader) fencing(name string) {
	d := r.single(name, false)
	if d == nil {
		return
	}
	decode(d.place, d.node, &r.set.Fencing)
	for i, f := range r.set.Fencing {
		path := fmt.Sprintf("[%d]", i)
		if f.Hostname == "" && f.MACAddress == "" {
			d.missing(path+".hostname", "the host's name, or macaddress")
		}
		for field, value := range map[string]string{"address": f.Address, "username": f.Username, "password": f.Password} {
			if value == "" {
				d.missing(path+"."+field, "that of the host's BMC")
			}
		}
		d.oneOf(path+".certificateVerification", f.CertificateVerification, "Enabled", "Disabled")
		if _, err := net.ParseMAC(f.MACAddress); f.MACAddress != "" && err != nil {
			d.wrong(path+".macaddress", "is no MAC address: write one such as 02:00:00:00:00:01")
		}
	}
}
