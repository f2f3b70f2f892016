package configimage

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/api/hostfile"
)

// Folders and files of a [Store], below the root.
const (
	// incoming is what is being unpacked; whatever a loss of power leaves of it is thrown away.
	incoming = "etc/assisted/.config-image.incoming"
	// accepted was unpacked and checked as a whole. Renaming the one to the other is the
	// moment from which on the config image counts: what is not in place yet will be.
	accepted = "etc/assisted/.config-image.accepted"
	// index lists the files of a folder.
	index = "index.json"
	// loaded holds the sum of what is in place.
	loaded = "etc/assisted/.config-image.loaded"
)

// Store keeps the contents of a config image on the host's disk. All it does stays below
// the root, whatever links lead elsewhere.
type Store struct{ root *os.Root }

// OpenStore opens the host's root directory.
func OpenStore(dir hostfile.Dir) (*Store, error) {
	root, err := os.OpenRoot(dir.Path("/"))
	if err != nil {
		return nil, err
	}
	if err := root.MkdirAll("etc/assisted", 0o755); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return &Store{root}, nil
}

// Close closes it.
func (s *Store) Close() error { return s.root.Close() }

// Loaded is the sum of the contents that are in place; empty for none.
func (s *Store) Loaded() (string, error) {
	raw, err := s.root.ReadFile(loaded)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return strings.TrimSpace(string(raw)), err
}

// stored is the content of an index.
type stored struct {
	Sum   string `json:"sum"`
	Files []File `json:"files"`
}

// Unpack keeps the contents to one side, where they can be looked at as files. They count for
// nothing until they are accepted.
func (s *Store) Unpack(c Contents) error {
	if err := s.Discard(); err != nil {
		return err
	}
	for _, f := range c.Files {
		if err := s.write(incoming+"/files"+f.Path, f.Data, 0o600); err != nil {
			return fmt.Errorf("unpack %s: %w", f.Path, err)
		}
	}
	raw, err := json.Marshal(stored{c.Sum, c.Files})
	if err != nil {
		return err
	}
	return s.write(incoming+"/"+index, raw, 0o600)
}

// unpacked is the folder with what was unpacked, each file at its path below it.
func (s *Store) unpacked() string { return s.root.Name() + "/" + incoming + "/files" }

// Discard throws away what was unpacked.
func (s *Store) Discard() error { return s.root.RemoveAll(incoming) }

// Accept has what was unpacked count. From its return on it survives a loss of power.
func (s *Store) Accept() error {
	if err := s.root.RemoveAll(accepted); err != nil {
		return err
	}
	if err := s.root.Rename(incoming, accepted); err != nil {
		return err
	}
	return s.sync(path.Dir(accepted))
}

// Accepted returns the contents that were accepted and are not in place as a whole; nil for
// none.
func (s *Store) Accepted() (*Contents, error) {
	raw, err := s.root.ReadFile(accepted + "/" + index)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var kept stored
	if err := json.Unmarshal(raw, &kept); err != nil {
		return nil, fmt.Errorf("/%s/%s: %w", accepted, index, err)
	}
	for i, f := range kept.Files {
		if kept.Files[i].Data, err = s.root.ReadFile(accepted + "/files" + f.Path); err != nil {
			return nil, err
		}
	}
	return &Contents{Files: kept.Files, Sum: kept.Sum}, nil
}

// Place puts files into place, each of them at once.
func (s *Store) Place(files []File) error {
	for _, f := range files {
		if err := s.write(strings.TrimPrefix(f.Path, "/"), f.Data, modeOf(f)); err != nil {
			return fmt.Errorf("put %s into place: %w", f.Path, err)
		}
	}
	return nil
}

// privateFolders hold secrets, which only root's programs read.
var privateFolders = []string{places.Assisted, places.ServiceSettings, places.ClusterCertificates, path.Dir(places.StartCluster), hostfile.ConfigDir}

// modeOf is the mode that a file gets. That of the archive counts as far as it gives nothing away.
func modeOf(f File) fs.FileMode {
	if slices.ContainsFunc(privateFolders, func(folder string) bool { return strings.HasPrefix(f.Path, folder+"/") }) {
		return fs.FileMode(f.Mode) &^ 0o077
	}
	return fs.FileMode(f.Mode) &^ 0o022
}

// Done notes that the contents are in place, and throws the copy away.
func (s *Store) Done(c Contents) error {
	if err := s.write(loaded, []byte(c.Sum+"\n"), 0o600); err != nil {
		return err
	}
	if err := s.root.RemoveAll(accepted); err != nil {
		return err
	}
	return s.sync(path.Dir(accepted))
}

// write replaces one file at once and has it on the disk when it returns. It is copied
// beside its target first: folders of the host may be file systems of their own.
func (s *Store) write(name string, data []byte, mode fs.FileMode) error {
	folder := path.Dir(name)
	if err := s.makeFolder(folder); err != nil {
		return err
	}
	tmp := folder + "/." + path.Base(name) + ".new"
	if err := s.root.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := s.root.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err == nil {
		err = s.root.Rename(tmp, name)
	}
	if err != nil {
		return errors.Join(err, s.root.Remove(tmp))
	}
	return s.sync(folder)
}

// makeFolder makes missing folders, and has their names on the disk.
func (s *Store) makeFolder(folder string) error {
	if _, err := s.root.Stat(folder); err == nil {
		return nil
	}
	if parent := path.Dir(folder); parent != folder {
		if err := s.makeFolder(parent); err != nil {
			return err
		}
	}
	if err := s.root.Mkdir(folder, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return s.sync(path.Dir(folder))
}

func (s *Store) sync(folder string) error {
	f, err := s.root.Open(folder)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// split separates the file that all hosts wait for from the others: it comes last.
func split(c Contents) (others, last []File) {
	for _, f := range c.Files {
		if f.Path == places.RendezvousHost {
			last = append(last, f)
			continue
		}
		others = append(others, f)
	}
	return slices.Clip(others), last
}
