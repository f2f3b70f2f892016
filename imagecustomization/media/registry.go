package media

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// ErrNoMedium means that no medium fits.
var ErrNoMedium = errors.New("no base image fits")

// Options configure a [Registry].
type Options struct {
	// SHA256 holds expected digests by file name. A file FILE.sha256 beside a
	// medium counts as well.
	SHA256 map[string]string
}

// Registry holds the media of one file or one directory.
type Registry struct {
	path    string
	options Options

	// loading lets one file be hashed at a time, which takes seconds; mu, which
	// everybody needs, is never held meanwhile.
	loading sync.Mutex

	mu        sync.Mutex
	media     map[string]*Medium // by path
	bad       map[string]badFile
	described map[string]Description // by file name
}

// badFile is why a file cannot be used, and which state of it. While that stays,
// the file is not hashed again.
type badFile struct {
	err  error
	was  stamp
	want string
}

// Description is what somebody who knows says about a medium. Empty fields say
// nothing.
type Description struct {
	// SHA256 is the digest that the file must have.
	SHA256 string
	// Arch and Version replace what the medium says about itself.
	Arch, Version string
	// OpenShiftVersion is the release that the medium belongs to.
	OpenShiftVersion string
	// Nmstatectl is "true" or "false" for whether the live system has nmstatectl.
	Nmstatectl string
}

// Describe replaces all descriptions, which are by file name. Media whose
// description changed are registered anew by the next Rescan or Select.
func (r *Registry) Describe(files map[string]Description) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for path := range r.media {
		if name := filepath.Base(path); files[name] != r.described[name] {
			delete(r.media, path)
		}
	}
	r.described = files
}

// holds tells whether the file is registered with that digest and unchanged.
func (r *Registry) holds(path, sha256 string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.media[path]
	return m != nil && strings.EqualFold(m.SHA256, sha256) && m.Check() == nil
}

// Open registers the ISO at path, which may be a block device, or every *.iso in
// the directory at path. A single file must be usable; in a directory a bad file is kept out and named
// by [Registry.Problems].
func Open(ctx context.Context, path string, o Options) (*Registry, error) {
	r := &Registry{path: path, options: o, media: map[string]*Medium{}, bad: map[string]badFile{}}
	if err := r.Rescan(ctx); err != nil {
		return nil, err
	}
	return r, nil
}

// Rescan registers new and changed files and forgets those that are gone.
// Images over a forgotten medium keep working as long as its file is only
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
	r.forgetOthers(paths)
	for _, p := range paths {
		if err := r.refresh(ctx, p); err != nil && !info.IsDir() {
			return fmt.Errorf("base image %s: %w", p, err)
		}
	}
	return nil
}

// forgetOthers forgets files that are gone.
func (r *Registry) forgetOthers(paths []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.media, func(known string, _ *Medium) bool { return !slices.Contains(paths, known) })
	maps.DeleteFunc(r.bad, func(known string, _ badFile) bool { return !slices.Contains(paths, known) })
}

// refresh loads the file unless its state is known. Others may use the registry
// meanwhile; what they find under this path is checked by them.
func (r *Registry) refresh(ctx context.Context, path string) error {
	r.loading.Lock()
	defer r.loading.Unlock()
	for {
		r.mu.Lock()
		known, bad, d, want := r.media[path], r.bad[path], r.described[filepath.Base(path)], r.want(path)
		r.mu.Unlock()
		if known != nil && known.Check() == nil {
			return nil
		}
		now, _ := stampAt(path) // why it cannot be looked at, load says
		if bad.err != nil && bad.was == now && bad.want == want {
			return bad.err
		}
		m, err := load(ctx, path, want)
		if err == nil {
			m.describe(d)
		}
		if r.settle(path, d, m, badFile{err: err, was: now, want: want}) {
			return err
		}
	}
}

// settle notes what loading a file gave, unless its description has changed
// meanwhile.
func (r *Registry) settle(path string, d Description, m *Medium, bad badFile) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.described[filepath.Base(path)] != d {
		return false
	}
	delete(r.media, path)
	delete(r.bad, path)
	if bad.err == nil {
		r.media[path] = m
		return true
	}
	if errors.Is(bad.err, context.Canceled) || errors.Is(bad.err, context.DeadlineExceeded) || errors.Is(bad.err, ErrChanged) {
		bad.was = stamp{} // says nothing about the file
	}
	r.bad[path] = bad
	return true
}

// describe puts a description above what the medium says.
func (m *Medium) describe(d Description) {
	m.Arch, m.Version, m.OpenShiftVersion = cmp.Or(d.Arch, m.Arch), cmp.Or(d.Version, m.Version), d.OpenShiftVersion
	m.nmstatectl = nil
	if has, err := strconv.ParseBool(d.Nmstatectl); err == nil {
		m.nmstatectl = &has
	}
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

// Select returns the medium for an architecture and, unless it is empty, a
// version, which is the medium's or else the OpenShift release that it belongs to;
// of several the newest, of those with one version the one whose file is the newest. The
// file is checked: a changed one is registered anew
// first. The error says what there is instead.
func (r *Registry) Select(ctx context.Context, arch, version string) (*Medium, error) {
	for _, path := range r.changed() {
		_ = r.refresh(ctx, path) // named by the inventory when it is what was wanted
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var best, second *Medium
	for _, m := range r.sorted() {
		switch {
		case arch != "" && m.Arch != NormalArch(arch) || m.Check() != nil:
		case version == "" || m.Version == version:
			best = newer(best, m)
		case m.OpenShiftVersion == version:
			second = newer(second, m)
		}
	}
	if best = cmp.Or(best, second); best == nil {
		return nil, fmt.Errorf("%w: want architecture %q, version %q; there is %s", ErrNoMedium, NormalArch(arch), version, r.inventory())
	}
	return best, nil
}

// changed returns the files that are not any more what was registered.
func (r *Registry) changed() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var paths []string
	for path, m := range r.media {
		if m.Check() != nil {
			paths = append(paths, path)
		}
	}
	return paths
}

// newer returns the medium with the newer version, or of two with one version the newer
// file: every look and every replica has to take the same one. best may be nil.
func newer(best, m *Medium) *Medium {
	if best == nil || cmp.Or(compareVersions(m.Version, best.Version), m.Modified.Compare(best.Modified)) > 0 {
		return m
	}
	return best
}

// List returns all media, sorted by path.
func (r *Registry) List() []*Medium {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sorted()
}

func (r *Registry) sorted() []*Medium {
	var all []*Medium
	for _, b := range r.media {
		all = append(all, b)
	}
	slices.SortFunc(all, func(a, b *Medium) int { return strings.Compare(a.Path, b.Path) })
	return all
}

// Problems returns the files that cannot be used, by path.
func (r *Registry) Problems() map[string]error {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make(map[string]error, len(r.bad))
	for path, bad := range r.bad {
		out[path] = bad.err
	}
	return out
}

// inventory describes what is there, for error messages.
func (r *Registry) inventory() string {
	var parts []string
	for _, m := range r.sorted() {
		parts = append(parts, strings.TrimSpace(m.Arch+" "+m.Version+" "+m.OpenShiftVersion))
	}
	for p, bad := range r.bad {
		parts = append(parts, fmt.Sprintf("%s (unusable: %v)", filepath.Base(p), bad.err))
	}
	if len(parts) == 0 {
		return "nothing in " + r.path + ": put a live ISO there, or download one by `ironflow media fetch`"
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}

// compareVersions compares dotted versions, numbers as numbers.
func compareVersions(a, m string) int {
	as, bs := strings.Split(a, "."), strings.Split(m, ".")
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
