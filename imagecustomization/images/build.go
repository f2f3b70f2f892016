package images

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ironflow/ironflow/imagecustomization/embedarea"
	"github.com/ironflow/ironflow/imagecustomization/iso"
	"github.com/ironflow/ironflow/imagecustomization/media"
	"github.com/ironflow/ironflow/imagecustomization/overlay"
)

const (
	typeISO    = "application/x-iso9660-image"
	typeBinary = "application/octet-stream"
	typeText   = "text/plain; charset=utf-8"
)

// build makes the revisions of a spec; the first is the host's own.
func (s *Store) build(ctx context.Context, spec Spec) (Built, []*Revision, error) {
	if err := spec.check(); err != nil {
		return Built{}, nil, err
	}
	m, err := s.options.Media.Select(ctx, spec.Arch, spec.Version)
	if err != nil {
		return Built{}, nil, err
	}
	content := overlay.Options{
		Content: embedarea.Content{Ignition: spec.Ignition, Keyfiles: spec.NetworkKeyfiles, Files: spec.InitrdFiles},
		Kargs:   spec.Kargs,
	}
	if len(spec.InitrdFiles) > 0 && !m.Media().Layout.Features[iso.FeatureInitrdNetwork] {
		return Built{}, nil, fmt.Errorf("%w: %w", ErrBadSpec, overlay.ErrNoInitrdNetwork)
	}
	if s.options.Programs != nil {
		content.Programs = s.options.Programs(m.Arch)
	}
	switch spec.Format {
	case FormatInitrd:
		return s.buildInitrd(spec, m, content)
	case FormatMinimalISO:
		return s.buildMinimal(spec, m, content)
	}
	image, err := overlay.Customize(m.Media(), content)
	if err != nil {
		return Built{}, nil, fmt.Errorf("%w: %w", ErrBadSpec, err)
	}
	r, err := s.revision(spec, m, spec.Kind, ".iso", typeISO, image)
	if err != nil {
		return Built{}, nil, err
	}
	return s.built(m, r), []*Revision{r}, nil
}

func (s *Store) built(m *media.Medium, r *Revision) Built {
	return Built{
		URL: s.options.BaseURL + r.path, Hash: r.Image.ID(), Arch: m.Arch, MediumVersion: m.Version,
		SizeBytes: r.Image.Size(), MemoryBytes: r.Image.Memory(),
	}
}

// buildMinimal makes the ISO without a root file system, which points to the
// medium's own.
func (s *Store) buildMinimal(spec Spec, m *media.Medium, content overlay.Options) (Built, []*Revision, error) {
	rootfs, err := s.artifact(m, overlay.RootfsPath)
	if err != nil {
		return Built{}, nil, err
	}
	url := s.options.BaseURL + rootfs.path
	media, cached := s.minimal.Load(m.SHA256)
	if !cached {
		minimal, err := overlay.Minimal(m.Media())
		if err == nil {
			minimal, err = overlay.PointToRootfs(minimal, url)
		}
		if err != nil {
			return Built{}, nil, fmt.Errorf("%w: %w", ErrBadSpec, err)
		}
		media, _ = s.minimal.LoadOrStore(m.SHA256, minimal)
	}
	image, err := overlay.Customize(media.(overlay.Media), content)
	if err != nil {
		return Built{}, nil, fmt.Errorf("%w: %w", ErrBadSpec, err)
	}
	r, err := s.revision(spec, m, spec.Kind, ".iso", typeISO, image)
	if err != nil {
		return Built{}, nil, err
	}
	built := s.built(m, r)
	built.RootfsURL = url
	return built, []*Revision{r, rootfs}, nil
}

// buildInitrd makes the initrd with the host's archive behind it, and the kernel
// and root file system of the same medium.
func (s *Store) buildInitrd(spec Spec, m *media.Medium, content overlay.Options) (Built, []*Revision, error) {
	if !spec.Kargs.OnlyAppends() {
		return Built{}, nil, fmt.Errorf("%w: kernel arguments of an initrd can only be appended", ErrBadSpec)
	}
	// The arguments end up on a line of an iPXE script and in the BMC's hands.
	extra, err := spec.Kargs.Apply("")
	if err != nil {
		return Built{}, nil, fmt.Errorf("%w: %w", ErrBadSpec, err)
	}
	if len(extra) > overlay.MaxKargs {
		return Built{}, nil, fmt.Errorf("%w: %w: %d bytes of additional ones, kernels take no more than %d beside what boot loaders add",
			ErrBadSpec, overlay.ErrKargsTooLong, len(extra), overlay.MaxKargs)
	}
	image, err := overlay.Initrd(m.Media(), content)
	if err != nil {
		return Built{}, nil, fmt.Errorf("%w: %w", ErrBadSpec, err)
	}
	r, err := s.revision(spec, m, spec.Kind, ".initrd", typeBinary, image)
	if err != nil {
		return Built{}, nil, err
	}
	kernel, err := s.artifact(m, overlay.KernelFile(m.Media()))
	if err != nil {
		return Built{}, nil, err
	}
	rootfs, err := s.artifact(m, overlay.RootfsPath)
	if err != nil {
		return Built{}, nil, err
	}
	built := s.built(m, r)
	built.KernelURL = s.options.BaseURL + kernel.path
	built.RootfsURL = s.options.BaseURL + rootfs.path
	built.ExtraKernelParams = strings.TrimSpace(strings.Join([]string{
		"coreos.live.rootfs_url=" + built.RootfsURL, "rd.bootif=0", "ignition.firstboot", "ignition.platform.id=metal", extra,
	}, " "))
	script, err := s.script(spec, m, built)
	if err != nil {
		return Built{}, nil, err
	}
	built.ScriptURL = s.options.BaseURL + script.path
	revisions := []*Revision{r, script, kernel, rootfs}
	if m.Layout.File(overlay.InsPath) == nil {
		return built, revisions, nil
	}
	more, err := s.mainframe(spec, m, &built)
	return built, append(revisions, more...), err
}

// mainframe adds what an s390x machine loads beside kernel and initrd. The
// initrd's size is another for every host.
func (s *Store) mainframe(spec Spec, m *media.Medium, built *Built) ([]*Revision, error) {
	builder := overlay.NewBuilder(nil)
	builder.Bytes(0, overlay.AddrSize(built.SizeBytes))
	image, err := builder.Build()
	if err != nil {
		return nil, err
	}
	size, err := s.revision(spec, m, kinds[spec.Kind].companion, ".addrsize", typeBinary, image)
	if err != nil {
		return nil, err
	}
	ins, err := s.artifact(m, overlay.InsPath)
	if err != nil {
		return nil, err
	}
	built.AddrSizeURL, built.InsURL = s.options.BaseURL+size.path, s.options.BaseURL+ins.path
	return []*Revision{size, ins}, nil
}

// script is the iPXE script that boots the initrd. The initrd is named, because
// UEFI kernels find it by its name on the command line.
func (s *Store) script(spec Spec, m *media.Medium, built Built) (*Revision, error) {
	builder := overlay.NewBuilder(nil)
	builder.Bytes(0, []byte(strings.Join([]string{
		"#!ipxe",
		"initrd --name initrd " + built.URL,
		"kernel " + built.KernelURL + " initrd=initrd " + built.ExtraKernelParams,
		"boot", "",
	}, "\n")))
	image, err := builder.Build()
	if err != nil {
		return nil, err
	}
	return s.revision(spec, m, kinds[spec.Kind].companion, ".ipxe", typeText, image)
}

// revision gives an image, or a companion of it, its address.
func (s *Store) revision(spec Spec, m *media.Medium, kind Kind, suffix, contentType string, image *overlay.Image) (*Revision, error) {
	parts := []string{"host", spec.Key, spec.UID, m.Arch, suffix}
	if !spec.NotAfter.IsZero() {
		parts = append(parts, spec.NotAfter.UTC().Format(time.RFC3339Nano))
	}
	r, err := s.address(kind, spec.Key, s.token(parts...), hostName(spec.Key)+suffix, contentType, image, m)
	if err == nil {
		r.notAfter = spec.NotAfter
	}
	return r, err
}

// Fits tells why there is no medium for an architecture and version, in an
// error that wraps media.ErrNoMedium; nil if there is one.
func (s *Store) Fits(ctx context.Context, arch, version string) error {
	_, err := s.options.Media.Select(ctx, arch, version)
	return err
}

// KernelArtifact stands for the kernel in [Store.Artifact], whose path depends on
// the architecture.
const KernelArtifact = "kernel"

// Artifact makes a file of a medium available to everybody and returns its
// address. Errors wrap media.ErrNoMedium or [ErrBadSpec].
func (s *Store) Artifact(ctx context.Context, arch, version, file string) (string, error) {
	m, err := s.options.Media.Select(ctx, arch, version)
	if err != nil {
		return "", err
	}
	if file == KernelArtifact {
		file = overlay.KernelFile(m.Media())
	}
	r, err := s.artifact(m, file)
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.offer(r)
	return s.options.BaseURL + r.path, nil
}

// artifact is a file of a medium under an address of its own.
func (s *Store) artifact(m *media.Medium, file string) (*Revision, error) {
	image, err := overlay.Artifact(m.Media(), file)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBadSpec, err)
	}
	return s.address(mediumFile, "", s.token("base", m.SHA256, file), path.Base(file), typeBinary, image, m)
}

// address is where BMCs find the image: no query, no redirect, the right
// suffix, and not longer than they take.
func (s *Store) address(kind Kind, key, token, name, contentType string, image *overlay.Image, m *media.Medium) (*Revision, error) {
	p := pathPrefix + token + "/" + image.ID()[:12] + "/" + name
	if n := len(s.options.BaseURL) + len(p); n > maxURL {
		return nil, fmt.Errorf("%w: the address of the image has %d characters, BMCs take %d: use a shorter address of the image server", ErrBadSpec, n, maxURL)
	}
	modified := m.Modified
	if kinds[kind].manyContents {
		modified = time.Now().Truncate(time.Second)
	}
	r := newRevision(s, kind, key, p, name, contentType, image, modified)
	r.medium = m
	return r, nil
}

// hostName is the readable part of an address.
func hostName(key string) string {
	name := path.Base(key)
	return strings.Trim(name[:min(len(name), maxName)], ".-")
}

func (spec Spec) check() error {
	switch {
	case spec.Key == "" || hostName(spec.Key) == "" || strings.ContainsFunc(path.Base(spec.Key), notInName):
		return fmt.Errorf("%w: the key %q is not namespace/name", ErrBadSpec, spec.Key)
	case !slices.Contains([]string{"", FormatISO, FormatInitrd, FormatMinimalISO}, spec.Format):
		return fmt.Errorf("%w: image format %q, there are %q, %q and %q", ErrUnsupported, spec.Format, FormatISO, FormatInitrd, FormatMinimalISO)
	case len(spec.Ignition) == 0 && len(spec.NetworkKeyfiles)+len(spec.InitrdFiles) == 0:
		return fmt.Errorf("%w: %s has neither an Ignition config nor network settings", ErrBadSpec, spec.Key)
	}
	return nil
}

func notInName(r rune) bool {
	inName := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-._", r)
	return !inName
}
