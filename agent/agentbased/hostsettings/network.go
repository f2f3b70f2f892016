package hostsettings

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ironflow/ironflow/agent/agentbased/connections"
	"github.com/ironflow/ironflow/agent/agentbased/pause"
	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/api/hostfile"
)

const (
	// macFile says which card has which name in the keyfiles beside it.
	macFile = "mac_interface.ini"
	// maxKeyfile bounds a file of a host's folder.
	maxKeyfile = 1 << 20
)

// Picked is the network of this host; the zero value means that it has none of its own, and keeps to
// DHCP.
type Picked struct {
	// Folder has it among those of all hosts.
	Folder string
	// Keyfiles are those that NetworkManager has of it, by their paths on the host.
	Keyfiles []string
}

// PickNetwork copies the keyfiles of the folder that names a card of this host to where
// NetworkManager looks for them. Cards appear one after the other at a boot: while one is missing,
// udev is waited for once, and then the card, for as long as the settings say.
func PickNetwork(ctx context.Context, dir hostfile.Dir, commands command.Runner, log *slog.Logger) (Picked, error) {
	root, err := os.OpenRoot(dir.Path(places.Networks))
	if errors.Is(err, fs.ErrNotExist) {
		return Picked{}, nil
	}
	if err != nil {
		return Picked{}, err
	}
	defer func() { _ = root.Close() }() // nothing is lost by it
	hosts, err := readHosts(root)
	if err != nil || len(hosts) == 0 {
		return Picked{}, err
	}
	there, err := cards(dir)
	if err != nil {
		return Picked{}, err
	}
	host := find(hosts, there)
	if host == nil || len(host.missing(there)) > 0 {
		if err := commands.Run(ctx, command.Command{Name: "udevadm", Args: []string{"settle", "--timeout=20"}}); err != nil {
			log.InfoContext(ctx, "no word of udev that all cards are there", "error", err)
		}
		if there, err = late(ctx, dir, hosts); err != nil {
			return Picked{}, err
		}
		host = find(hosts, there)
	}
	if host == nil {
		log.InfoContext(ctx, "no network names a card of this host", "cards", sorted(there))
		return Picked{}, nil
	}
	if missing := host.missing(there); len(missing) > 0 {
		log.WarnContext(ctx, "cards that the host's network names are not there", "network", host.folder, "missing", missing)
	}
	keyfiles, err := host.copy(dir, root, there)
	return Picked{host.folder, keyfiles}, err
}

// late returns the cards once a folder's host has all of its own, or the time is over that
// the settings give to cards whose drivers or switches take theirs.
func late(ctx context.Context, dir hostfile.Dir, hosts []host) (map[string]string, error) {
	delay, err := discoveryDelay(dir)
	if err != nil {
		return nil, err
	}
	end := time.Now().Add(delay)
	for {
		there, err := cards(dir)
		if err != nil {
			return nil, err
		}
		left := time.Until(end)
		if h := find(hosts, there); left <= 0 || h != nil && len(h.missing(there)) == 0 {
			return there, nil
		}
		if err := pause.For(ctx, min(left, time.Second)); err != nil {
			return nil, err
		}
	}
}

// discoveryDelay is what the settings say; none without them.
func discoveryDelay(dir hostfile.Dir) (time.Duration, error) {
	values, err := places.ReadEnv(dir, places.NetworkDelay)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return delayOf(values)
}

func delayOf(values map[string]string) (time.Duration, error) {
	text := values[places.DiscoveryDelay]
	seconds, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return 0, fmt.Errorf("%s: %s is %.40q: want a number of seconds", places.NetworkDelay, places.DiscoveryDelay, text)
	}
	return time.Duration(seconds) * time.Second, nil
}

// host is a folder with the network of one host.
type host struct {
	folder string
	// names are the cards' names in its keyfiles, by their addresses.
	names map[string]string
}

// readHosts reads which cards the folders name, host2 before host10.
func readHosts(root *os.Root) ([]host, error) {
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, err
	}
	var hosts []host
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		raw, err := readBounded(root, e.Name()+"/"+macFile)
		if errors.Is(err, fs.ErrNotExist) {
			continue // a folder of something else
		}
		if err != nil {
			return nil, err
		}
		names, err := parseMACs(string(raw))
		if err != nil {
			return nil, fmt.Errorf("%s/%s/%s: %w", places.Networks, e.Name(), macFile, err)
		}
		hosts = append(hosts, host{folder: e.Name(), names: names})
	}
	slices.SortStableFunc(hosts, func(a, b host) int { return cmp.Compare(number(a.folder), number(b.folder)) })
	return hosts, nil
}

func number(folder string) int {
	n, err := strconv.Atoi(strings.TrimPrefix(folder, "host"))
	if err != nil {
		return 1 << 30
	}
	return n
}

func parseMACs(text string) (map[string]string, error) {
	names := map[string]string{}
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		mac, name, found := strings.Cut(line, "=")
		address, err := net.ParseMAC(strings.TrimSpace(mac))
		if !found || err != nil {
			return nil, fmt.Errorf("line %d: want MAC=NAME, such as 52:54:00:00:00:01=eth0", n)
		}
		names[address.String()] = strings.TrimSpace(name)
	}
	return names, nil
}

// find returns the first host that names one of the cards.
func find(hosts []host, there map[string]string) *host {
	i := slices.IndexFunc(hosts, func(h host) bool { return len(h.missing(there)) < len(h.names) })
	if i < 0 {
		return nil
	}
	return &hosts[i]
}

// missing are the addresses of its cards that are not there.
func (h host) missing(there map[string]string) (missing []string) {
	for mac := range h.names {
		if there[mac] == "" {
			missing = append(missing, mac)
		}
	}
	slices.Sort(missing)
	return missing
}

// copy writes its keyfiles, with the kernel's names of the cards, and returns their paths.
func (h host) copy(dir hostfile.Dir, root *os.Root, there map[string]string) (copies []string, err error) {
	kernel := map[string]string{}
	for mac, name := range h.names {
		if there[mac] != "" {
			kernel[name] = there[mac]
		}
	}
	files, err := fs.Glob(root.FS(), h.folder+"/*"+connections.Suffix)
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		raw, err := readBounded(root, file)
		if err != nil {
			return nil, err
		}
		target := places.Keyfiles + strings.TrimPrefix(file, h.folder)
		if err := places.Write(dir, target, []byte(rename(string(raw), kernel)), 0o600); err != nil {
			return nil, err
		}
		copies = append(copies, target)
	}
	return copies, nil
}

// named are the settings of keyfiles whose value is the name of an interface.
var named = []string{"interface-name", "primary", "master", "controller", "parent"}

// rename puts the kernel's names in where a keyfile has those of its author.
func rename(keyfile string, kernel map[string]string) string {
	var out strings.Builder
	for line := range strings.Lines(keyfile) {
		text, end := strings.TrimRight(line, "\r\n"), line[len(strings.TrimRight(line, "\r\n")):]
		key, value, _ := strings.Cut(text, "=")
		switch {
		case slices.Contains(named, key) && kernel[value] != "":
			text = key + "=" + kernel[value]
		case strings.HasPrefix(key, "routing-rule"):
			words := strings.Split(value, " ")
			for i := range words[1:] {
				if words[i] == "iif" && kernel[words[i+1]] != "" {
					words[i+1] = kernel[words[i+1]]
				}
			}
			text = key + "=" + strings.Join(words, " ")
		}
		out.WriteString(text + end)
	}
	return out.String()
}

// readBounded reads a regular file of the folder.
func readBounded(root *os.Root, name string) ([]byte, error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxKeyfile {
		return nil, fmt.Errorf("%s/%s: want a file of at most %d bytes", places.Networks, name, maxKeyfile)
	}
	return io.ReadAll(io.LimitReader(f, maxKeyfile))
}

func sorted(there map[string]string) []string {
	var all []string
	for mac, name := range there {
		all = append(all, name+" "+mac)
	}
	slices.Sort(all)
	return all
}
