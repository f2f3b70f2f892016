package node

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/test/lab/guard"
	"github.com/ironflow/ironflow/test/media/debian"
	"github.com/ironflow/ironflow/test/vm/node/images"
)

// Options say what a site serves, and where.
type Options struct {
	// Address is this computer's, as machines reach it.
	Address netip.Addr
	// Dir keeps archive, images and logs.
	Dir string
	// Programs are a node's, Cluster is the path of ironflow-cluster; empty leaves its
	// image out.
	Programs Programs
	Cluster  string
	// Root is a root file system of Debian with iptables.
	Root string
}

// Site serves what the machines of a plain Kubernetes need: a mirror and a registry.
type Site struct {
	// Archive is the program that hosts fetch.
	Archive sources.Program

	registry string // HOST:PORT
	pause    string // reference of its image
	archives *http.Server
	process  *guard.Process
	log      *os.File
}

// Start makes archive and images, and serves them. Close ends it.
func Start(ctx context.Context, o Options) (*Site, error) {
	s := &Site{}
	if err := s.start(ctx, o); err != nil {
		return nil, errors.Join(err, s.Close(context.WithoutCancel(ctx)))
	}
	return s, nil
}

func (s *Site) start(ctx context.Context, o Options) error {
	if err := os.MkdirAll(filepath.Join(o.Dir, "archives"), 0o700); err != nil {
		return err
	}
	if err := s.serveImages(ctx, o); err != nil {
		return err
	}
	all, err := s.images(ctx, o)
	if err != nil {
		return err
	}
	if err := images.Push(ctx, s.Repository(), all); err != nil {
		return err
	}
	return s.serveArchive(ctx, o, all)
}

// Repository is where the images are, as kubeadm's imageRepository has it.
func (s *Site) Repository() string { return s.registry + "/kubernetes" }

// ClusterImage is the reference of ironflow-cluster's image.
func (s *Site) ClusterImage() string { return s.Repository() + "/ironflow-cluster:lab" }

// Settings are those of a cluster of the source kubernetes at this site.
func (s *Site) Settings() *sources.KubernetesSettings {
	return &sources.KubernetesSettings{
		Version: Version, ImageRepository: s.Repository(), Programs: []sources.Program{s.Archive},
		Mirrors: []sources.Mirror{{Registry: s.registry, URLs: []string{"http://" + s.registry}}},
	}
}

// serveImages starts Debian's registry with an empty storage.
func (s *Site) serveImages(ctx context.Context, o Options) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", netip.AddrPortFrom(o.Address, 0).String())
	if err != nil {
		return err
	}
	s.registry = listener.Addr().String()
	if err := listener.Close(); err != nil {
		return err
	}
	config := filepath.Join(o.Dir, "registry.yml")
	text := fmt.Sprintf("version: 0.1\nlog: {level: warn, accesslog: {disabled: true}}\nstorage: {filesystem: {rootdirectory: %q}}\nhttp: {addr: %q, secret: lab}\n", filepath.Join(o.Dir, "images"), s.registry)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return err
	}
	if s.log, err = os.Create(filepath.Join(o.Dir, "registry.log")); err != nil {
		return err
	}
	program, err := exec.LookPath("docker-registry")
	if err != nil {
		return fmt.Errorf("the registry of a node's images: %w; next: apt-get install docker-registry", err)
	}
	if s.process, err = guard.Start(guard.Command{Path: program, Args: []string{"serve", config}, Dir: o.Dir, Env: os.Environ(), Output: s.log}); err != nil {
		return fmt.Errorf("start docker-registry: %w", err)
	}
	return s.answers(ctx)
}

// answers waits until the registry takes connections.
func (s *Site) answers(ctx context.Context) error {
	for {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", s.registry)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-s.process.Done():
			return fmt.Errorf("docker-registry has ended, see %s", s.log.Name())
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// images are those that the real kubeadm asks for, and ironflow-cluster's.
func (s *Site) images(ctx context.Context, o Options) ([]images.Image, error) {
	list := exec.CommandContext(ctx, o.Programs.file("k8snode"), "kubeadm", "config", "images", "list", "--kubernetes-version", Version, "--image-repository", s.Repository())
	var problem bytes.Buffer
	list.Stderr = &problem
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("ask kubeadm for its images: %w: %s", err, problem.String())
	}
	var all []images.Image
	whole := []images.File{{Path: "usr/local/bin/k8snode", From: o.Programs.file("k8snode")}, {Path: "tmp/", Mode: 0o1777}}
	for reference := range strings.FieldsSeq(string(out)) {
		name, tag, _ := strings.Cut(path.Base(reference), ":")
		if name == "coredns" && tag != DNSVersion {
			return nil, fmt.Errorf("kubeadm asks for CoreDNS %s, and test/k8snode/coredns is %s: change its go.mod", tag, DNSVersion)
		}
		all = append(all, images.Image{Name: name, Tag: tag, Entrypoint: "/usr/local/bin/" + name, Path: "/usr/local/bin:/usr/sbin", Env: frugal})
		if name != "coredns" {
			whole = append(whole, images.File{Path: "usr/local/bin/" + name, Link: "k8snode"})
		}
	}
	shared, err := images.Layer(whole)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if all[i].Layers, err = s.layers(o, all[i].Name, shared); err != nil {
			return nil, fmt.Errorf("image %s: %w", all[i].Name, err)
		}
	}
	if o.Cluster == "" {
		return all, nil
	}
	// What cmd/ironflow-cluster/Containerfile says.
	layer, err := images.Layer([]images.File{{Path: "usr/bin/ironflow-cluster", From: o.Cluster}})
	return append(all, images.Image{
		Name: "ironflow-cluster", Tag: "lab", Entrypoint: "/usr/bin/ironflow-cluster", User: "65532:65532", Layers: []v1.Layer{layer},
	}), err
}

// layers are those of an image that kubeadm asks for.
func (s *Site) layers(o Options, name string, shared v1.Layer) ([]v1.Layer, error) {
	switch name {
	case "coredns":
		own, err := images.Layer([]images.File{{Path: "usr/local/bin/coredns", From: o.Programs.file("coredns")}})
		return []v1.Layer{own}, err
	case "kube-proxy":
		files, err := tables(o.Root)
		if err != nil {
			return nil, err
		}
		own, err := images.Layer(files)
		return []v1.Layer{shared, own}, err
	default:
		return []v1.Layer{shared}, nil
	}
}

// archiveName is the archive's file.
const archiveName = "node.tar.gz"

// serveArchive makes the archive and serves it.
func (s *Site) serveArchive(ctx context.Context, o Options, all []images.Image) error {
	for _, i := range all {
		if i.Name == "pause" {
			s.pause = s.Repository() + "/pause:" + i.Tag
		}
	}
	dir := filepath.Join(o.Dir, "archives")
	runc, err := debian.Take(ctx, "runc", "usr/sbin/runc")
	if err != nil {
		return err
	}
	sum, err := o.Programs.writeArchive(filepath.Join(dir, archiveName), s.pause, runc)
	if err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", netip.AddrPortFrom(o.Address, 0).String())
	if err != nil {
		return err
	}
	s.Archive = sources.Program{URL: "http://" + listener.Addr().String() + "/" + archiveName, Checksum: sum, Kind: "archive"}
	s.archives = &http.Server{Handler: http.FileServer(http.Dir(dir)), ReadHeaderTimeout: time.Minute}
	go func() { _ = s.archives.Serve(listener) }()
	return nil
}

// Close ends what Start has started.
func (s *Site) Close(ctx context.Context) error {
	var errs []error
	if s.archives != nil {
		errs = append(errs, s.archives.Close())
	}
	if s.process != nil {
		s.process.Stop(ctx, 10*time.Second)
	}
	if s.log != nil {
		errs = append(errs, s.log.Close())
	}
	return errors.Join(errs...)
}
