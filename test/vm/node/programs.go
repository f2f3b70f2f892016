// Package node makes what the machines of a plain Kubernetes need in a lab without the
// network of the world: the programs of a node (built from the Go module proxy), the
// archive with them that the source kubernetes has hosts fetch, and a registry with the
// images of the control plane, its addons and ironflow-cluster.
//
// Everything is the real program of its name: kubelet, kubeadm, etcd, the control plane,
// kube-proxy with Debian's iptables, CoreDNS, containerd and the CNI plugins; runc is Debian's
// (its crun 1.8 takes no container of containerd 2.4: "unknown version specified"). [Build] makes the programs, [Start] a site that serves them.
package node

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/ironflow/ironflow/test/lab/cache"
	"github.com/ironflow/ironflow/test/lab/progress"
)

// Version is the Kubernetes that test/k8snode/go.mod pins, DNSVersion the CoreDNS that
// its kubeadm asks for; tests compare them.
const (
	Version    = "v1.37.1"
	DNSVersion = "v1.14.6"
)

// Make is the command that builds the programs.
const Make = "make node-programs"

// usual is how long the first build takes on two cores: most of it are packages of
// Kubernetes that the control plane of the lab does not have.
const usual = 15 * time.Minute

// module is one of Go's modules below test.
type module struct {
	dir  string
	args []string
}

func modules() []module {
	strip := "-s -w"
	return []module{
		{"k8snode", []string{"-ldflags", strip + " -X k8s.io/component-base/version.gitVersion=" + Version, "."}},
		{"k8snode/runtime", []string{"-ldflags", strip, "-tags", "no_btrfs no_zfs no_devmapper no_aufs", "tool"}},
		{"k8snode/coredns", []string{"-ldflags", strip, "."}},
	}
}

// Programs is the folder of the programs: k8snode, containerd, containerd-shim-runc-v2,
// ctr, coredns, and the CNI plugins.
type Programs string

// file is the path of a program.
func (p Programs) file(name string) string { return filepath.Join(string(p), name) }

// Find returns the programs that were built from this source tree; false when they were not.
func Find(source string) (Programs, bool) {
	e, err := entry(source)
	return Programs(e.Path()), err == nil && e.Ready()
}

// Build returns the programs, built at the first call and kept in the user's cache.
func Build(ctx context.Context, source string, report progress.Func) (Programs, error) {
	e, err := entry(source)
	if err != nil {
		return "", err
	}
	waiting := func() { report.Say("node", "waiting for another process that builds it") }
	dir, err := e.Get(ctx, waiting, func(ctx context.Context, dir string) error {
		return report.Track("node", "building what a Kubernetes node is made of, once per version", usual, func() error {
			for _, m := range modules() {
				if err := m.build(ctx, source, dir); err != nil {
					return err
				}
			}
			return nil
		})
	})
	return Programs(dir), err
}

// entry is the place in the cache: its key covers all sources and the compiler.
func entry(source string) (cache.Entry, error) {
	root, err := cache.DefaultDir()
	if err != nil {
		return cache.Entry{}, err
	}
	inputs := [][]byte{[]byte(runtime.Version()), []byte(runtime.GOARCH)}
	for _, m := range modules() {
		inputs = append(inputs, []byte(strings.Join(m.args, "\n")))
	}
	files := os.DirFS(filepath.Join(source, "test", "k8snode"))
	err = fs.WalkDir(files, ".", func(path string, file fs.DirEntry, err error) error {
		if err != nil || file.IsDir() || strings.HasSuffix(path, "_test.go") {
			return err
		}
		content, err := fs.ReadFile(files, path)
		inputs = append(inputs, []byte(path), content)
		return err
	})
	if err != nil {
		return cache.Entry{}, fmt.Errorf("read the sources of a node's programs: %w", err)
	}
	return cache.Entry{Dir: root, Name: "k8s-node", Key: cache.Key(inputs...)}, nil
}

// tailLines is how much of the compiler's output an error carries.
const tailLines = 15

// build compiles the programs of the module into dir, as the Makefile compiles ours.
func (m module) build(ctx context.Context, source, dir string) error {
	args := slices.Concat([]string{"build", "-trimpath", "-buildvcs=false", "-mod=mod", "-o", dir + string(filepath.Separator)}, m.args)
	command := exec.CommandContext(ctx, "go", args...)
	command.Dir = filepath.Join(source, "test", filepath.FromSlash(m.dir))
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=", "GOGC=400", "GOMEMLIMIT=3GiB")
	var out bytes.Buffer
	command.Stdout, command.Stderr = &out, &out
	if err := command.Run(); err != nil {
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		return errors.Join(fmt.Errorf("build the programs of %s: %w", command.Dir, err), errors.New(strings.Join(lines[max(0, len(lines)-tailLines):], "\n")),
			errors.New("next: see that the Go module proxy can be reached (go env GOPROXY) and that the disk is not full, then run "+Make+" again"))
	}
	return nil
}
