package image

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/api/localtoken"
	"github.com/ironflow/ironflow/imagecustomization/embedarea"
	"github.com/ironflow/ironflow/imagecustomization/iso"
	"github.com/ironflow/ironflow/imagecustomization/overlay"
)

// Base is what an image is made over.
type Base struct {
	// Arch is the medium's architecture.
	Arch string
	// Media is the live medium.
	Media overlay.Media
	// Programs are archives with the host's programs and the hub's.
	Programs []overlay.Source
}

// Customized tells whether somebody has embedded something in the medium, which would be
// lost, or found again in each image.
func Customized(media overlay.Media) (bool, error) {
	area := media.Layout.Ignition
	if area == nil {
		return false, nil // which the builder refuses by name
	}
	content, err := embedarea.Decode(io.NewSectionReader(media, area.Offset, area.Length))
	return !content.Empty(), err
}

// Artifact is a file that was made.
type Artifact struct {
	// Name is below the output folder.
	Name string
	Size int64
	// Secret tells that the file holds secrets, and only its owner reads it.
	Secret bool
}

// artifact is a file to be made.
type artifact struct {
	name   string
	secret bool
	read   func() io.Reader
}

// Files of the output folder.
const (
	authFolder = "auth"
	bootFolder = "boot-artifacts"
	// IdentityFile keeps the identity, so that an image that is made again is the same.
	IdentityFile = authFolder + "/agent-image.key"
	// UserToken and WatcherToken are for those who use the hub from outside, and who look.
	UserToken    = authFolder + "/user-token"
	WatcherToken = authFolder + "/watcher-token"
	// Kubeconfig is the administrator's access to the new cluster; issued anew each time.
	Kubeconfig = authFolder + "/kubeconfig"
)

// tokenFiles have a token each.
var tokenFiles = []struct {
	name   string
	scheme localtoken.Scheme
}{{UserToken, localtoken.User}, {WatcherToken, localtoken.Watcher}}

// LoadIdentity reads the identity of an earlier image in the output folder, or makes one. A
// cluster whose API is known already gets its certificates with it, and a kubeconfig that is
// good from now on. Tokens of hosts that join a running cluster end: such an image lies about
// for longer than any installation takes. Keys of another cluster are refused.
func LoadIdentity(p *Plan, kubernetes Authorities, out string, now time.Time) (Identity, error) {
	owner, err := p.owned(out)
	if err != nil {
		return Identity{}, err
	}
	id, err := loadKey(out)
	if err != nil {
		return id, err
	}
	id.owner = owner
	if p.joins != nil {
		id.ends = now.Add(p.TokenLifetime)
	}
	return p.certify(id, kubernetes, out, now)
}

func loadKey(out string) (Identity, error) {
	file := filepath.Join(out, IdentityFile)
	raw, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return NewIdentity()
	}
	if err != nil {
		return Identity{}, err
	}
	id, err := ParseIdentity(raw)
	if err != nil {
		return Identity{}, fmt.Errorf("%s: %w; take it away for a new one", file, err)
	}
	return id, nil
}

// Build writes what the plan says into the folder. A config image needs no base. Files are
// replaced one by one, each at once; the end of the context ends it between two of them, or
// within one, which is left as it was.
func Build(ctx context.Context, p *Plan, id Identity, base Base, out string) ([]Artifact, error) {
	files, err := p.artifacts(id, base)
	if err != nil {
		return nil, err
	}
	access, err := p.access(id)
	if err != nil {
		return nil, err
	}
	var made []Artifact
	for _, f := range append(access, files...) {
		size, err := write(ctx, out, f)
		if err != nil {
			return made, err
		}
		made = append(made, Artifact{f.name, size, f.secret})
	}
	return made, nil
}

// access are the files by which people reach the hub; a factory image has no hub yet.
func (p *Plan) access(id Identity) ([]artifact, error) {
	if p.Set == nil {
		return nil, nil
	}
	key, err := id.PEM()
	if err != nil {
		return nil, err
	}
	// Whose the keys are comes before them: who stops in between leaves none without a name.
	owner := id.owner
	if owner == nil {
		owner = p.owner()
	}
	all := []artifact{bytesOf(ClusterFile, false, []byte(places.FormatEnv(owner))), bytesOf(IdentityFile, true, key)}
	if p.Rendezvous.IsValid() {
		all = append(all, bytesOf("rendezvousIP", false, []byte(p.Rendezvous.String()+"\n")))
	}
	for _, f := range tokenFiles {
		token, err := id.Token(f.scheme)
		if err != nil {
			return nil, err
		}
		all = append(all, bytesOf(f.name, true, []byte(token+"\n")))
	}
	// The password comes before its hash, which is kept from then on: nobody would know it.
	if id.password != "" {
		all = append(all, bytesOf(Password, true, []byte(id.password)))
	}
	for _, name := range slices.Sorted(maps.Keys(id.tls)) {
		all = append(all, bytesOf(tlsFolder+"/"+name, true, id.tls[name]))
	}
	if len(id.kubeconfig) > 0 {
		all = append(all, bytesOf(Kubeconfig, true, id.kubeconfig))
	}
	return all, nil
}

func bytesOf(name string, secret bool, raw []byte) artifact {
	return artifact{name, secret, func() io.Reader { return bytes.NewReader(raw) }}
}

func imageOf(name string, secret bool, m *overlay.Image) artifact {
	return artifact{name, secret, func() io.Reader { return m.Reader() }}
}

func (p *Plan) artifacts(id Identity, base Base) ([]artifact, error) {
	if p.Format == ConfigImage {
		raw, err := p.configISO(id)
		return []artifact{bytesOf("agentconfig.noarch.iso", true, raw)}, err
	}
	config, err := p.Ignition(id)
	if err != nil {
		return nil, err
	}
	o := overlay.Options{Content: embedarea.Content{Ignition: config, Files: p.initrdNetworks()}, Programs: base.Programs, Kargs: p.kargs}
	if len(o.Content.Files) > 0 && !base.Media.Layout.Features[iso.FeatureInitrdNetwork] {
		return nil, overlay.ErrNoInitrdNetwork
	}
	switch p.Format {
	case MinimalISO:
		return p.minimal(base, o)
	case PXE:
		return p.pxe(base, o)
	case ISO, ConfigImage:
	}
	image, err := overlay.Customize(base.Media, o)
	if err != nil {
		return nil, err
	}
	return []artifact{imageOf("agent."+base.Arch+".iso", true, image)}, nil
}

// boot names a file of a network boot.
func (b Base) boot(what string) string { return "agent." + b.Arch + what }

func (p *Plan) rootfs(base Base) (file artifact, url string, err error) {
	image, err := overlay.Artifact(base.Media, overlay.RootfsPath)
	if err != nil {
		return artifact{}, "", err
	}
	name := base.boot("-rootfs.img")
	return imageOf(bootFolder+"/"+name, false, image), p.BootArtifactsURL + "/" + name, nil
}

func (p *Plan) minimal(base Base, o overlay.Options) ([]artifact, error) {
	rootfs, url, err := p.rootfs(base)
	if err != nil {
		return nil, err
	}
	media, err := overlay.Minimal(base.Media)
	if err != nil {
		return nil, err
	}
	if media, err = overlay.PointToRootfs(media, url); err != nil {
		return nil, err
	}
	image, err := overlay.Customize(media, o)
	if err != nil {
		return nil, err
	}
	return []artifact{imageOf("agent."+base.Arch+".iso", true, image), rootfs}, nil
}

func (p *Plan) pxe(base Base, o overlay.Options) ([]artifact, error) {
	rootfs, url, err := p.rootfs(base)
	if err != nil {
		return nil, err
	}
	kernel, err := overlay.Artifact(base.Media, overlay.KernelFile(base.Media))
	if err != nil {
		return nil, err
	}
	initrd, err := overlay.Initrd(base.Media, o)
	if err != nil {
		return nil, err
	}
	extra, err := o.Kargs.Apply("")
	if err != nil {
		return nil, err
	}
	words := strings.TrimSpace("coreos.live.rootfs_url=" + url + " rd.bootif=0 ignition.firstboot ignition.platform.id=metal " + extra)
	script := strings.Join([]string{
		"#!ipxe",
		"initrd --name initrd " + p.BootArtifactsURL + "/" + base.boot("-initrd.img"),
		"kernel " + p.BootArtifactsURL + "/" + base.boot("-vmlinuz") + " initrd=initrd " + words,
		"boot", "",
	}, "\n")
	return []artifact{
		imageOf(bootFolder+"/"+base.boot("-vmlinuz"), false, kernel), imageOf(bootFolder+"/"+base.boot("-initrd.img"), true, initrd), rootfs,
		bytesOf(bootFolder+"/"+base.boot(".ipxe"), false, []byte(script)),
	}, nil
}

// write writes a file that is never seen half written, and never open to others when it is
// secret.
func write(ctx context.Context, out string, f artifact) (int64, error) {
	file := filepath.Join(out, f.name)
	folder := filepath.Dir(file)
	mode := os.FileMode(0o755)
	if strings.HasPrefix(f.name, authFolder+"/") {
		mode = 0o700
	}
	if err := os.MkdirAll(folder, mode); err != nil {
		return 0, err
	}
	tmp, err := os.CreateTemp(folder, "."+filepath.Base(file)+"-*") // which is private
	if err != nil {
		return 0, err
	}
	defer os.Remove(tmp.Name())
	size, err := io.Copy(tmp, interruptible{ctx, f.read()})
	if !f.secret {
		err = errors.Join(err, tmp.Chmod(0o644))
	}
	if err = errors.Join(err, tmp.Close()); err != nil {
		return size, fmt.Errorf("write %s: %w", file, err)
	}
	return size, os.Rename(tmp.Name(), file)
}

// interruptible reads until the context ends.
type interruptible struct {
	ctx context.Context
	r   io.Reader
}

// Read implements io.Reader.
func (i interruptible) Read(p []byte) (int, error) {
	if err := context.Cause(i.ctx); err != nil {
		return 0, err
	}
	return i.r.Read(p)
}
