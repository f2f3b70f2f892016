package hostsettings

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/agent/agentbased/messages"
	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/api/hostfile"
)

// TellNetwork says on the console when the image describes networks, and none is of this host: a
// MAC address may be mistyped. A failure that the console tells in the same place counts more.
func TellNetwork(ctx context.Context, dir hostfile.Dir, console *messages.Console) error {
	there, err := stranger(dir)
	if err != nil {
		return err
	}
	switch note, told := console.Shows(messages.SlotNetwork); {
	case told && note.ID == messages.NetworkFailed:
	case len(there) > 0:
		console.Show(ctx, messages.NetworkNotFound, strings.Join(there, ", "))
	case told:
		console.Clear(ctx, messages.SlotNetwork)
	}
	return nil
}

// stranger are the cards of a host that no description is for; none where one is, or where there
// are no descriptions.
func stranger(dir hostfile.Dir) ([]string, error) {
	described, err := describedCards(dir)
	if err != nil || len(described) == 0 {
		return nil, err
	}
	there, err := cards(dir)
	if err != nil {
		return nil, err
	}
	for mac := range there {
		if slices.Contains(described, mac) {
			return nil, nil
		}
	}
	return sorted(there), nil
}

// describedCards are the addresses of all cards that a description is for, in either form.
func describedCards(dir hostfile.Dir) (all []string, err error) {
	root, err := os.OpenRoot(dir.Path(places.Networks))
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	default:
		defer func() { _ = root.Close() }() // nothing is lost by it
		hosts, err := readHosts(root)
		if err != nil {
			return nil, err
		}
		for _, h := range hosts {
			for mac := range h.names {
				all = append(all, mac)
			}
		}
	}
	lists, err := fs.Glob(os.DirFS(dir.Path(hostfile.NmstateFolder)), "*"+hostfile.CardsSuffix)
	if err != nil {
		return nil, err
	}
	for _, name := range lists {
		raw, err := os.ReadFile(dir.Path(hostfile.NmstateFolder + "/" + name))
		if err != nil {
			return nil, err
		}
		all = append(all, strings.Fields(strings.ToLower(string(raw)))...)
	}
	return all, nil
}

// maxIssue bounds what is read of the live system's own message.
const maxIssue = 4096

// TellNmstate moves what the live system says of its nmstatectl into the table of messages: so the
// hub is told, too, and the console does not say it twice.
func TellNmstate(ctx context.Context, dir hostfile.Dir, console *messages.Console) error {
	f, err := os.Open(dir.Path(hostfile.NmstateIssue))
	if errors.Is(err, fs.ErrNotExist) {
		console.Clear(ctx, messages.SlotNmstate)
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxIssue))
	if err != nil {
		return err
	}
	console.Fail(ctx, messages.NmstateFailed, errors.New(strings.TrimPrefix(string(raw), hostfile.NmstateTrouble)))
	return places.Remove(dir, hostfile.NmstateIssue)
}
