package bootstrap

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"

	ignition "github.com/coreos/ignition/v2/config/shared/errors"
	"github.com/coreos/ignition/v2/config/util"
	"github.com/coreos/ignition/v2/config/v3_6"
	"github.com/coreos/ignition/v2/config/v3_6/types"

	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/api/hostfile"
)

// live is what an Ignition configuration makes of the live system: all of it, or a refusal
// before anything is written. It may be applied again after a crash.
type live struct {
	config   types.Config
	dir      hostfile.Dir
	accounts *accounts
	// contents are those of files by their paths; nil for one that is only appended to.
	contents map[string][]byte
	appended map[string][][]byte
}

// newLive reads and checks a configuration.
func newLive(raw []byte, dir hostfile.Dir) (*live, error) {
	config, found, err := v3_6.ParseCompatibleVersion(raw)
	if errors.Is(err, ignition.ErrUnknownVersion) {
		return nil, errors.New("ignition.version: 3.0.0 to 3.6.0 are known")
	}
	for _, e := range found.Entries {
		if e.Kind.IsFatal() {
			return nil, fmt.Errorf("%s: %s", strings.TrimPrefix(e.Context.String(), "$."), e.Message)
		}
	}
	if err != nil {
		return nil, err
	}
	l := &live{config: config, dir: dir, contents: map[string][]byte{}, appended: map[string][][]byte{}}
	if l.accounts, err = readAccounts(dir); err != nil {
		return nil, err
	}
	return l, errors.Join(l.impossible(), l.checkAccounts(), l.checkNodes(), l.checkUnits())
}

// impossible names what a system that runs cannot be given any more.
func (l *live) impossible() error {
	c := l.config
	var errs []error
	for _, row := range []struct {
		there     bool
		path, why string
	}{
		{len(c.Ignition.Config.Merge) > 0 || c.Ignition.Config.Replace.Source != nil, "ignition.config", "other configurations are not fetched; merge them before"},
		{len(c.Storage.Disks) > 0, "storage.disks", onDisks},
		{len(c.Storage.Raid) > 0, "storage.raid", onDisks},
		{len(c.Storage.Luks) > 0, "storage.luks", onDisks},
		{len(c.Storage.Filesystems) > 0, "storage.filesystems", onDisks},
		{len(c.KernelArguments.ShouldExist)+len(c.KernelArguments.ShouldNotExist) > 0, "kernelArguments", "a kernel that runs has its arguments"},
	} {
		if row.there {
			errs = append(errs, fmt.Errorf("%s: the live system cannot be given this: %s", row.path, row.why))
		}
	}
	return errors.Join(errs...)
}

const onDisks = "it runs in memory, and disks are written by the installation"

// checkNodes unpacks all files, and compares what is to be with what is there.
func (l *live) checkNodes() error {
	var errs []error
	check := func(kind string, n int, node types.Node, more func() error) {
		err := l.checkNode(node)
		if err == nil {
			err = more()
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("storage.%s[%d] %s: %w", kind, n, node.Path, err))
		}
	}
	for n, d := range l.config.Storage.Directories {
		check("directories", n, d.Node, func() error { return l.checkDirectory(d) })
	}
	for n, f := range l.config.Storage.Files {
		check("files", n, f.Node, func() error { return l.checkFile(f) })
	}
	for n, link := range l.config.Storage.Links {
		check("links", n, link.Node, func() error { return l.checkLink(link) })
	}
	return errors.Join(errs...)
}

func (l *live) checkNode(n types.Node) error {
	if !path.IsAbs(n.Path) || path.Clean(n.Path) != n.Path || n.Path == "/" {
		return errors.New("want a clean absolute path")
	}
	if _, err := os.Lstat(l.dir.Path(n.Path)); errors.Is(err, syscall.ENOTDIR) {
		return errors.New("what is above it is no folder")
	}
	if util.NotEmpty(n.User.Name) && !l.willHaveUser(*n.User.Name) {
		return fmt.Errorf("user.name: there is no user %s", *n.User.Name)
	}
	if util.NotEmpty(n.Group.Name) && !l.willHaveGroup(*n.Group.Name) {
		return fmt.Errorf("group.name: there is no group %s", *n.Group.Name)
	}
	return nil
}

func (l *live) checkDirectory(d types.Directory) error {
	info, err := os.Stat(l.dir.Path(d.Path))
	switch {
	case util.IsTrue(d.Overwrite):
		return errors.New("overwrite: folders of a system that runs are not replaced")
	case err == nil && !info.IsDir():
		return errors.New("something that is no folder is there")
	}
	return nil
}

func (l *live) checkFile(f types.File) error {
	if info, err := os.Stat(l.dir.Path(f.Path)); err == nil && info.IsDir() {
		return errors.New("a folder is there")
	}
	if f.Contents.Source != nil {
		raw, err := resourceOf(f.Contents).content()
		if err != nil {
			return err
		}
		l.contents[f.Path] = append([]byte{}, raw...) // not nil: it has contents
	}
	for n, more := range f.Append {
		part, err := resourceOf(more).content()
		if err != nil {
			return fmt.Errorf("append[%d]: %w", n, err)
		}
		l.appended[f.Path] = append(l.appended[f.Path], part)
	}
	return nil
}

func (l *live) checkLink(link types.Link) error {
	if !util.NotEmpty(link.Target) {
		return errors.New("target: want a path")
	}
	if util.IsTrue(link.Hard) && !l.willHave(*link.Target) {
		return fmt.Errorf("target: there is no %s to link to", *link.Target)
	}
	info, err := os.Lstat(l.dir.Path(link.Path))
	switch {
	case err != nil:
		return nil //nolint:nilerr // nothing is there, as a rule; what else it is shows when the link is made
	case info.IsDir():
		return errors.New("a folder is there")
	case !util.IsTrue(link.Overwrite) && !l.isLinked(link):
		return errors.New("something else is there; set overwrite")
	}
	return nil
}

// willHave tells whether there is such a file, or will be when links are made.
func (l *live) willHave(file string) bool {
	_, err := os.Lstat(l.dir.Path(file))
	return err == nil || slices.ContainsFunc(l.config.Storage.Files, func(f types.File) bool { return f.Path == file })
}

// isLinked tells that the link is there already.
func (l *live) isLinked(link types.Link) bool {
	if !util.IsTrue(link.Hard) {
		target, err := os.Readlink(l.dir.Path(link.Path))
		return err == nil && target == *link.Target
	}
	here, err := os.Lstat(l.dir.Path(link.Path))
	there, err2 := os.Lstat(l.dir.Path(*link.Target))
	return err == nil && err2 == nil && os.SameFile(here, there)
}

func resourceOf(r types.Resource) resource {
	out := resource{Source: r.Source}
	if r.Compression != nil {
		out.Compression = *r.Compression
	}
	if r.Verification.Hash != nil {
		out.Hash = *r.Verification.Hash
	}
	return out
}

// programLimit bounds each program that changes accounts and units: they are done in seconds.
const programLimit = 5 * time.Minute

// patient gives programs up that do not end.
type patient struct{ command.Runner }

// Run implements command.Runner.
func (p patient) Run(ctx context.Context, c command.Command) error {
	ctx, cancel := context.WithTimeoutCause(ctx, programLimit, fmt.Errorf("no end in %v", programLimit))
	defer cancel()
	return p.Runner.Run(ctx, c)
}

// apply writes it all, users first: nodes belong to them.
func (l *live) apply(ctx context.Context, run command.Runner) error {
	run = patient{run}
	if err := l.applyAccounts(ctx, run); err != nil {
		return err
	}
	folders := slices.Clone(l.config.Storage.Directories)
	slices.SortStableFunc(folders, func(a, b types.Directory) int { return strings.Count(a.Path, "/") - strings.Count(b.Path, "/") })
	for _, d := range folders {
		if err := l.makeFolder(d); err != nil {
			return fmt.Errorf("folder %s: %w", d.Path, err)
		}
	}
	for _, f := range l.config.Storage.Files {
		if err := l.writeFile(f); err != nil {
			return fmt.Errorf("file %s: %w", f.Path, err)
		}
	}
	for _, link := range l.config.Storage.Links {
		if err := l.makeLink(link); err != nil {
			return fmt.Errorf("link %s: %w", link.Path, err)
		}
	}
	return l.applyUnits(ctx, run)
}

func (l *live) makeFolder(d types.Directory) error {
	target := l.dir.Path(d.Path)
	_, err := os.Stat(target)
	fresh := errors.Is(err, fs.ErrNotExist)
	if err := os.MkdirAll(target, 0o755); err != nil {
		return err
	}
	if err := l.own(d.Node, target); err != nil {
		return err
	}
	switch {
	case d.Mode != nil:
		return os.Chmod(target, modeOf(*d.Mode))
	case fresh:
		return os.Chmod(target, 0o755)
	}
	return nil
}

func (l *live) writeFile(f types.File) error {
	raw, mode := l.contents[f.Path], fs.FileMode(0o644)
	owner, err := l.owner(f.Node)
	if err != nil {
		return err
	}
	if raw == nil {
		// It is what is there, and stays as it is but for what is said of it.
		info, err := os.Stat(l.dir.Path(f.Path))
		if err == nil {
			mode = info.Mode()
			owner = owner.or(idsOf(info))
			raw, err = os.ReadFile(l.dir.Path(f.Path))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if f.Mode != nil {
		mode = modeOf(*f.Mode)
	}
	for _, part := range l.appended[f.Path] {
		if !bytes.HasSuffix(raw, part) { // a second run appends nothing twice
			raw = append(raw, part...)
		}
	}
	return writeOwned(l.dir, f.Path, raw, mode, owner)
}

func (l *live) makeLink(link types.Link) error {
	target := l.dir.Path(link.Path)
	if !l.isLinked(link) {
		if err := os.MkdirAll(path.Dir(target), 0o755); err != nil {
			return err
		}
		if err := os.Remove(target); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if util.IsTrue(link.Hard) {
			return os.Link(l.dir.Path(*link.Target), target)
		}
		if err := os.Symlink(*link.Target, target); err != nil {
			return err
		}
	}
	return l.own(link.Node, target)
}

// modeOf is a file's mode with its special bits, which Go has in other places.
func modeOf(mode int) fs.FileMode {
	out := fs.FileMode(mode) & fs.ModePerm
	for bit, special := range map[int]fs.FileMode{0o4000: fs.ModeSetuid, 0o2000: fs.ModeSetgid, 0o1000: fs.ModeSticky} {
		if mode&bit != 0 {
			out |= special
		}
	}
	return out
}
