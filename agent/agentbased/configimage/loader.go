package configimage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ironflow/ironflow/agent/agentbased/connections"
	"github.com/ironflow/ironflow/agent/agentbased/hostsettings"
	"github.com/ironflow/ironflow/agent/agentbased/messages"
	"github.com/ironflow/ironflow/agent/agentbased/pause"
	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/agent/agentbased/units"
	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/api/hostfile"
)

const (
	// again is how long a refused medium is left alone: somebody may put another one in.
	again = 5 * time.Second
	// look is how often the program that asks for a medium looks whether it is loaded.
	look = time.Second
	// lockFile keeps two programs from putting the same files into place.
	lockFile = hostfile.RunDir + "/config-image.lock"
)

// Loader loads config images.
type Loader struct {
	Dir      hostfile.Dir
	Console  *messages.Console
	Commands command.Runner
	Log      *slog.Logger
	// List says which files there are; nil is [DefaultList].
	List List
	// Medium reads the archive of a device; nil is [ReadMedium].
	Medium func(device string) ([]byte, error)
}

// Run loads the config image on the device. What is refused is said on the console, and the
// device is looked at again every few seconds, until it holds one that can be loaded.
func (l Loader) Run(ctx context.Context, device string) error {
	read := l.Medium
	if read == nil {
		read = func(device string) ([]byte, error) { return ReadMedium(l.Dir.Path(device)) }
	}
	for {
		err := l.finish(ctx)
		if err == nil {
			err = l.load(ctx, device, read)
		}
		switch {
		case err == nil:
			l.Console.Show(ctx, messages.ConfigImageLoaded, device)
			l.Console.Clear(ctx, messages.SlotConfigImageWanted)
			return nil
		case errors.Is(err, errNoMedium) && l.settled():
			return nil // another medium has brought them; what that has said stays
		case errors.Is(err, errNoMedium):
			l.Console.Retract(ctx, messages.SlotConfigImage)
		case l.settled():
			l.Console.Show(ctx, messages.ConfigImageUnused, device, inLine(err))
		default:
			l.Console.Show(ctx, messages.ConfigImageRefused, device, inLine(err))
		}
		if err := pause.For(ctx, again); err != nil {
			return err
		}
	}
}

// settled tells that the host has its settings.
func (l Loader) settled() bool { return places.Exists(l.Dir, places.RendezvousHost) }

// inLine is all that is wrong, in one line of the console.
func inLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// Wait asks for a config image until the host has settings. It ends what a loss of power
// has interrupted, whether or not the medium is still there.
func (l Loader) Wait(ctx context.Context) error {
	for {
		if err := l.finish(ctx); err != nil {
			l.Console.Show(ctx, messages.ConfigImageRefused, "this host's disk", err.Error())
		}
		if l.settled() {
			l.Console.Clear(ctx, messages.SlotConfigImageWanted)
			return nil
		}
		l.Console.Show(ctx, messages.ConfigImageWanted, places.ConfigImageLabel)
		if err := pause.For(ctx, look); err != nil {
			return err
		}
	}
}

// load reads, checks and accepts the archive, and puts it into place.
func (l Loader) load(ctx context.Context, device string, read func(string) ([]byte, error)) error {
	raw, err := read(device)
	if err != nil {
		return err
	}
	contents, err := Read(bytes.NewReader(raw))
	if err != nil {
		return err
	}
	imageSet, err := os.ReadFile(l.Dir.Path(places.ClusterImageSet))
	if err != nil {
		return fmt.Errorf("this host does not say which release it has: %w", err)
	}
	list := l.List
	if list == nil {
		list = DefaultList
	}
	if err := contents.Check(list, imageSet); err != nil {
		return err
	}
	return l.locked(func(s *Store) error {
		present, err := s.Loaded()
		switch {
		case err != nil:
			return err
		case present == contents.Sum:
			return nil
		case present != "" || l.settled():
			return errors.New("this host has other settings already; to install it with these, write the appliance's disk again")
		}
		// A card that udev has not found yet is there when the medium is looked at again.
		cards, err := hostsettings.Addresses(l.Dir)
		if err == nil {
			err = contents.foreign(cards)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := l.hub(contents); err != nil {
			return err
		}
		if err := s.Unpack(contents); err != nil {
			return err
		}
		if err := l.manifests(s, contents); err != nil {
			return errors.Join(err, s.Discard())
		}
		if err := s.Accept(); err != nil {
			return err
		}
		l.Log.InfoContext(ctx, "the config image is accepted", "device", device, "files", len(contents.Files), "sum", contents.Sum)
		return l.place(ctx, s, contents)
	})
}

// finish puts into place what was accepted before.
func (l Loader) finish(ctx context.Context) error {
	return l.locked(func(s *Store) error {
		contents, err := s.Accepted()
		if err != nil || contents == nil {
			return err
		}
		l.Log.InfoContext(ctx, "an accepted config image is put into place", "sum", contents.Sum)
		return l.place(ctx, s, *contents)
	})
}

// locked opens the store for one program at a time.
func (l Loader) locked(f func(s *Store) error) (err error) {
	if err := os.MkdirAll(l.Dir.Path(hostfile.RunDir), 0o755); err != nil {
		return err
	}
	lock, err := os.OpenFile(l.Dir.Path(lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close() // gives the lock back
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return fmt.Errorf("lock %s: %w", lockFile, err)
	}
	s, err := OpenStore(l.Dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return f(s)
}

// place does all that follows from settings, in an order that can be begun anew at any
// point: the file that others wait for comes last.
func (l Loader) place(ctx context.Context, s *Store, c Contents) error {
	others, last := split(c)
	if err := s.Place(others); err != nil {
		return err
	}
	if err := os.MkdirAll(l.Dir.Path(places.ExtraManifests), 0o755); err != nil {
		return err // the hub expects the folder
	}
	if err := l.password(ctx, c); err != nil {
		return err
	}
	if err := l.network(ctx); err != nil {
		return err
	}
	// It is off until there are settings.
	if err := l.run(ctx, nil, "systemctl", "--no-block", "enable", "--now", units.StartClusterUnit); err != nil {
		return err
	}
	if err := s.Place(last); err != nil {
		return err
	}
	return s.Done(c)
}

// password gives the user core the password of the config image, unless the appliance has
// set one.
func (l Loader) password(ctx context.Context, c Contents) error {
	i := slices.IndexFunc(c.Files, func(f File) bool { return f.Path == places.PasswordHash })
	if i < 0 || places.Exists(l.Dir, places.PasswordSet) {
		return nil
	}
	value, err := passwordHash(c.Files[i].Data)
	if err != nil {
		return err
	}
	return l.run(ctx, strings.NewReader("core:"+value+"\n"), "chpasswd", "--encrypted")
}

// network gives this host its own network, where the config image has one.
func (l Loader) network(ctx context.Context) error {
	picked, err := hostsettings.PickNetwork(ctx, l.Dir, l.Commands, l.Log)
	if err != nil {
		return err
	}
	if err := hostsettings.TellNetwork(ctx, l.Dir, l.Console); err != nil {
		return err
	}
	loaded, err := connections.Load(ctx, l.Dir, l.Commands, picked.Keyfiles...)
	if err != nil {
		return fmt.Errorf("NetworkManager does not read the connections of this host: %w", err)
	}
	// A second card without a cable must not keep the host from its installation; node-zero says which
	// addresses it waits for.
	err = loaded.Activate(ctx)
	switch {
	case ctx.Err() != nil:
		return err
	case err != nil:
		l.Log.WarnContext(ctx, "not all connections of this host are active yet", "network", picked.Folder, "error", err)
	}
	return nil
}

func (l Loader) run(ctx context.Context, stdin io.Reader, name string, args ...string) error {
	if err := l.Commands.Run(ctx, command.Command{Name: name, Args: args, Stdin: stdin}); err != nil {
		return fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return nil
}
