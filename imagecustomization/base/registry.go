package base

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// ErrNoBase means that no base medium fits.
var ErrNoBase = errors.New("no base image fits")

// Options configure a [Registry].
type Options struct {
	// SHA256 holds expected digests by file name. A file FILE.sha256 beside a
	// medium counts as well.
	SHA256 map[string]string
}

// Registry holds the bases of one file or one directory.
type Registry struct {
	path    string
	options Options

	mu        sync.Mutex
	bases     map[string]*Base // by path
	bad       map[string]error
	described map[string]Description // by file name
}

// Description is what somebody who knows says about a medium. Empty fields say
// nothing.
type Description struct {
	// SHA256 is the digest that the file must have.
	SHA256 string
	// Arch and Version replace what the medium says about itself.
	Arch, Version string
}

// Describe replaces all descriptions, which are by file name. Media whose
// description changed are registered anew by the next Rescan or Select.
func (r *Registry) Describe(files map[string]Description) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for path := range r.bases {
		if name := filepath.Base(path); files[name] != r.described[name] {
			delete(r.bases, path)
		}
	}
	r.described = files
}

// holds tells whether the file is registered with that digest and unchanged.
func (r *Registry) holds(path, sha256 string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	b := r.bases[path]
	return b != nil && strings.EqualFold(b.SHA256, sha256) && b.Check() == nil
}

// Open registers the ISO at path, or every *.iso in the directory at path. A
// single file must be usable; in a directory a bad file is kept out and named
// by [Registry.Problems].
func Open(ctx context.Context, path string, o Options) (*Registry, error) {
	r := &Registry{path: path, options: o, bases: map[string]*Base{}, bad: map[string]error{}}
	if err := r.Rescan(ctx); err != nil {
		return nil, err
	}
	return r, nil
}

// Rescan registers new and changed files and forgets those that are gone.
// Images over a forgotten base keep working as long as its file is only
// unlinked, not overwritten.
func (r *Registry) Rescan(ctx context.Context) error {
	info, err := os.Stat(r.path)
	if err != nil {
		return fmt.Errorf("base images: %w", err)
	}
	paths := []string{r.path}
	if info.IsDir() {
		if paths, err = filepath.Glob(filepath.Join(r.path, "*.iso")); err != nil {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.bad = map[string]error{}
	for known := range r.bases {
		if !slices.Contains(paths, known) {
			delete(r.bases, known)
		}
	}
	for _, p := range paths {
		if err := r.refresh(ctx, p); err != nil {
			r.bad[p] = err
			if !info.IsDir() {
				return fmt.Errorf("base image %s: %w", p, err)
			}
		}
	}
	return nil
}

// refresh loads the file unless it is registered and unchanged.
func (r *Registry) refresh(ctx context.Context, path string) error {
	if b := r.bases[path]; b != nil && b.Check() == nil {
		return nil
	}
	delete(r.bases, path)
	b, err := load(ctx, path, r.want(path))
	if err != nil {
		return err
	}
	d := r.described[filepath.Base(path)]
	b.Arch, b.Version = cmp.Or(d.Arch, b.Arch), cmp.Or(d.Version, b.Version)
	r.bases[path] = b
	return nil
}

// want returns the expected digest of a file, or "".
func (r *Registry) want(path string) string {
	name := filepath.Base(path)
	if sum := cmp.Or(r.described[name].SHA256, r.options.SHA256[name]); sum != "" {
		return sum
	}
	raw, err := os.ReadFile(path + ".sha256")
	if err != nil {
		return ""
	}
	sum, _, _ := strings.Cut(strings.TrimSpace(string(raw)), " ")
	return sum
}

// Select returns the base for an architecture and, unless it is empty, a
// version; of several the newest version. The file is checked: a changed one is
// registered anew first. The error says what there is instead.
func (r *Registry) Select(ctx context.Context, arch, version string) (*Base, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var best *Base
	for path := range r.bases {
		if err := r.refresh(ctx, path); err != nil {
			r.bad[path] = err
			continue
		}
		b := r.bases[path]
		if arch != "" && b.Arch != NormalArch(arch) || version != "" && b.Version != version {
			continue
		}
		if best == nil || compareVersions(b.Version, best.Version) > 0 {
			best = b
		}
	}
	if best == nil {
		return nil, fmt.Errorf("%w: want architecture %q, version %q; there is %s", ErrNoBase, NormalArch(arch), version, r.inventory())
	}
	return best, nil
}

// List returns all bases, sorted by path.
func (r *Registry) List() []*Base {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sorted()
}

func (r *Registry) sorted() []*Base {
	var all []*Base
	for _, b := range r.bases {
		all = append(all, b)
	}
	slices.SortFunc(all, func(a, b *Base) int { return strings.Compare(a.Path, b.Path) })
	return all
}

// Problems returns the files that cannot be used, by path.
func (r *Registry) Problems() map[string]error {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make(map[string]error, len(r.bad))
	maps.Copy(out, r.bad)
	return out
}

// inventory describes what is there, for error messages.
func (r *Registry) inventory() string {
	var parts []string
	for _, b := range r.sorted() {
		parts = append(parts, b.Arch+" "+b.Version)
	}
	for p, err := range r.bad {
		parts = append(parts, fmt.Sprintf("%s (unusable: %v)", filepath.Base(p), err))
	}
	if len(parts) == 0 {
		return "nothing in " + r.path
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}

// compareVersions compares dotted versions, numbers as numbers.
func compareVersions(a, b string) int {
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range max(len(as), len(bs)) {
		x, y := part(as, i), part(bs, i)
		if len(x) != len(y) && digits(x) && digits(y) {
			return len(x) - len(y)
		}
		if c := strings.Compare(x, y); c != 0 {
			return c
		}
	}
	return 0
}

func part(all []string, i int) string {
	if i < len(all) {
		return strings.TrimLeft(all[i], "0")
	}
	return ""
}

func digits(s string) bool {
	return strings.Trim(s, "0123456789") == ""
}
