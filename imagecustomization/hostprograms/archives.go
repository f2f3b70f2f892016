package hostprograms

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/imagecustomization/media"
	"github.com/ironflow/ironflow/imagecustomization/overlay"
)

// Archives holds one archive for each architecture that there are programs for.
// It is immutable and safe for any number of users.
type Archives struct {
	names  []string
	byArch map[string]*file
}

// Open makes the archives of the programs in dir: dir/ironflow-agent and
// dir/ironflow-step for this machine's own architecture, dir/ARCH/… for others,
// e.g. dir/aarch64/ironflow-agent. The archives are kept in the folder cache,
// which is made if need be. Further programs, such as [AgentBased], lie beside these. A
// folder with one program and not the other is an error; one with none gives no
// archive for that architecture.
func Open(dir, cache string, further ...string) (*Archives, error) {
	a := &Archives{byArch: map[string]*file{}, names: slices.Concat(names, further)}
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return nil, fmt.Errorf("folder for the host programs' archives: %w", err)
	}
	if err := a.add(media.NormalArch(runtime.GOARCH), dir, cache); err != nil {
		return nil, err
	}
	for _, arch := range media.Architectures() {
		if err := a.add(arch, filepath.Join(dir, arch), cache); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// Present tells whether dir holds the programs of this machine's architecture.
func Present(dir string) bool {
	programs, err := read(dir, names)
	return err == nil && programs != nil
}

// Complete tells what is missing for [Open] to make an archive for the architecture, without
// making it; nil for nothing.
func Complete(dir, arch string, further ...string) error {
	arch, all := media.NormalArch(arch), slices.Concat(names, further)
	places := []string{filepath.Join(dir, arch)}
	if arch == media.NormalArch(runtime.GOARCH) {
		places = append(places, dir)
	}
	for _, place := range places {
		missing := slices.DeleteFunc(slices.Clone(all), func(name string) bool {
			_, err := os.Stat(filepath.Join(place, name))
			return err == nil
		})
		switch len(missing) {
		case 0:
			return nil
		case len(all):
		default:
			return fmt.Errorf("%s lacks %s: put all of %v there", place, strings.Join(missing, ", "), all)
		}
	}
	return fmt.Errorf("%s has none of %v for %s: put them there", strings.Join(places, " or "), all, arch)
}

// Architectures returns how many architectures have an archive.
func (a *Archives) Architectures() int { return len(a.byArch) }

// ForArch returns what every image of the architecture has behind its own
// archive, in the form of images.Options.Programs; nothing when there are no
// programs for it. A nil Archives has none.
func (a *Archives) ForArch(arch string) []overlay.Source {
	if a == nil || a.byArch[media.NormalArch(arch)] == nil {
		return nil
	}
	return []overlay.Source{a.byArch[media.NormalArch(arch)]}
}

// OpenInstaller makes the archive of the program openshift-install alone, which follows those of
// [Open] in an image. It lies in the folder cache.
func OpenInstaller(program, cache string) (overlay.Source, error) {
	content, err := os.ReadFile(program)
	if err != nil {
		return nil, fmt.Errorf("host programs: %w", err)
	}
	f, err := keep(Installer, []string{Installer}, [][]byte{content}, cache)
	if err != nil {
		return nil, fmt.Errorf("archive of %s: %w", program, err)
	}
	return f, nil
}

func (a *Archives) add(arch, dir, cache string) error {
	programs, err := read(dir, a.names)
	if err != nil || programs == nil {
		return err
	}
	f, err := keep(arch, a.names, programs, cache)
	if err != nil {
		return fmt.Errorf("archive of the host programs for %s: %w", arch, err)
	}
	a.byArch[arch] = f
	return nil
}

// read returns the programs in dir, nil when there are none.
func read(dir string, names []string) ([][]byte, error) {
	programs := make([][]byte, len(names))
	missing := 0
	for i, name := range names {
		var err error
		programs[i], err = os.ReadFile(filepath.Join(dir, name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			missing++
		case err != nil:
			return nil, fmt.Errorf("host programs: %w", err)
		}
	}
	switch missing {
	case 0:
		return programs, nil
	case len(names):
		return nil, nil
	default:
		return nil, fmt.Errorf("host programs: %s holds only a part of %v; put all of them there", dir, names)
	}
}

// keep makes the archive unless the cache has it from the same programs, and
// opens it.
func keep(arch string, names []string, programs [][]byte, cache string) (*file, error) {
	of := sha256.New()
	for _, part := range slices.Concat(programs, [][]byte{unit, script}) {
		sum := sha256.Sum256(part)
		of.Write(sum[:])
	}
	path := filepath.Join(cache, "programs-"+arch+"-"+hex.EncodeToString(of.Sum(nil)[:8])+".cpio.gz")
	if f, err := openFile(path); err == nil {
		return f, nil
	}
	packed, err := archive(names, programs)
	if err != nil {
		return nil, err
	}
	tmp, err := os.CreateTemp(cache, "new-*")
	if err != nil {
		return nil, err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(packed)
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return nil, err
	}
	if err := os.Rename(tmp.Name(), path); err != nil {
		return nil, err
	}
	return openFile(path)
}

// file is an archive on disk. It stays open as long as the process lives, so
// that sendfile can read it; nobody uses its offset.
type file struct {
	open *os.File
	size int64
	id   string
}

func openFile(path string) (*file, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	size, err := io.Copy(sum, f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &file{open: f, size: size, id: hex.EncodeToString(sum.Sum(nil))}, nil
}

// ReadAt implements overlay.Source.
func (f *file) ReadAt(p []byte, off int64) (int, error) { return f.open.ReadAt(p, off) }

// File returns the open file, for sendfile with an explicit offset.
func (f *file) File() *os.File { return f.open }

// Size implements overlay.Source.
func (f *file) Size() int64 { return f.size }

// ID implements overlay.Source.
func (f *file) ID() string { return f.id }
