package lab

import (
	"bytes"
	"context"
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

const (
	// envAssets is envtest's variable for a folder with etcd and kube-apiserver.
	envAssets = "KUBEBUILDER_ASSETS"
	// kubernetesVersion is what the control plane is linked to report. It has to
	// be that of k8s.io/kubernetes in test/controlplane/go.mod; a test compares them.
	kubernetesVersion = "v1.37.1"
)

// buildArgs and buildEnv are what the program is built with. They are those of
// the Makefile: the compiler's cache then holds the packages that the product
// has in common with Kubernetes only once.
var (
	buildArgs = []string{
		"build", "-trimpath", "-buildvcs=false",
		"-ldflags", "-s -w -X k8s.io/component-base/version.gitVersion=" + kubernetesVersion,
	}
	// A workspace or flags of the user's must not change what is built.
	buildEnv = []string{"CGO_ENABLED=0", "GOWORK=off", "GOFLAGS="}
	// buildHaste changes how fast it is built, not what: with a lazier garbage
	// collection the compiler needs 15 % less time for Kubernetes.
	buildHaste = []string{"GOGC=400", "GOMEMLIMIT=3GiB"}
)

// product is something that is built from the module test/controlplane.
type product struct {
	// name is the cache entry's and the executable's name, source its package.
	name, source string
	// links are the names that the executable answers to.
	links []string
	// text says what is built, usual how long that takes on two cores.
	text  string
	usual time.Duration
}

var (
	// wholeControlPlane is etcd, kube-apiserver, kubectl and the controllers.
	wholeControlPlane = product{
		name: "controlplane", source: ".", links: []string{"etcd", "kube-apiserver", "kubectl", "lab-controllers"},
		text: "building etcd and kube-apiserver, once per version", usual: 6 * time.Minute,
	}
	// onlyControllers is what $KUBEBUILDER_ASSETS lacks.
	onlyControllers = product{
		name: "controllers", source: "./cmd/lab-controllers", links: []string{"lab-controllers"},
		text: "building the garbage collector, once per version", usual: 2 * time.Minute,
	}
)

// Assets returns a folder with etcd, kube-apiserver and kubectl, suitable for
// envtest's BinaryAssetsDirectory: $KUBEBUILDER_ASSETS if it is set and
// complete, else the programs of test/controlplane, built at the first call and
// kept in the cache, with the kube-apiserver that $IRONFLOW_LAB_KUBERNETES chooses.
// An empty cacheDir is the default one.
func Assets(ctx context.Context, cacheDir string, report progress.Func) (string, error) {
	if dir, err := givenAssets(); dir != "" || err != nil {
		return dir, err
	}
	other, err := otherAPIServer()
	if err != nil {
		return "", err
	}
	if other != "" {
		return other.get(ctx, cacheDir, report)
	}
	return wholeControlPlane.get(ctx, cacheDir, report)
}

// controllers returns a folder with lab-controllers.
func controllers(ctx context.Context, cacheDir string, report progress.Func) (string, error) {
	product, err := controllersProduct()
	if err != nil {
		return "", err
	}
	return product.get(ctx, cacheDir, report)
}

// controllersProduct is the smallest product with lab-controllers that does not
// have to be built besides another one.
func controllersProduct() (product, error) {
	dir, err := givenAssets()
	if err != nil || dir != "" {
		return onlyControllers, err
	}
	return wholeControlPlane, nil
}

// givenAssets is the user's own folder, empty if there is none.
func givenAssets() (string, error) {
	dir := os.Getenv(envAssets)
	if dir == "" {
		return "", nil
	}
	if os.Getenv(EnvKubernetes) != "" {
		return "", fmt.Errorf("%s and %s are both set, and each chooses the kube-apiserver: unset one of them", envAssets, EnvKubernetes)
	}
	for _, name := range []string{"etcd", "kube-apiserver"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil { //nolint:gosec // the user names the folder
			return "", fmt.Errorf("%s is %s, which has no %s: set it to a folder with both etcd and kube-apiserver, or unset it to have them built", envAssets, dir, name)
		}
	}
	return dir, nil
}

// get returns the folder of the product, built at the first call.
func (p product) get(ctx context.Context, cacheDir string, report progress.Func) (string, error) {
	entry, source, err := p.entry(cacheDir)
	if err != nil {
		return "", err
	}
	waiting := func() { report.Say("control plane", "waiting for another process that builds it") }
	return entry.Get(ctx, waiting, func(ctx context.Context, dir string) error {
		return report.Track("control plane", p.text, p.usual, func() error { return p.build(ctx, source, dir) })
	})
}

// entry is the product's place in the cache and the folder of its source.
func (p product) entry(cacheDir string) (entry cache.Entry, source string, err error) {
	if cacheDir == "" {
		if cacheDir, err = cache.DefaultDir(); err != nil {
			return entry, "", err
		}
	}
	root, err := sourceRoot()
	if err != nil {
		return entry, "", err
	}
	source = filepath.Join(root, "test", "controlplane")
	inputs := [][]byte{[]byte(runtime.Version()), []byte(runtime.GOARCH), []byte(strings.Join(slices.Concat(buildArgs, buildEnv), "\n"))}
	err = fs.WalkDir(os.DirFS(source), ".", func(path string, file fs.DirEntry, err error) error {
		if err != nil || file.IsDir() || strings.HasSuffix(path, "_test.go") {
			return err
		}
		content, err := fs.ReadFile(os.DirFS(source), path)
		inputs = append(inputs, []byte(path), content)
		return err
	})
	if err != nil {
		return entry, "", fmt.Errorf("read the control plane's source: %w", err)
	}
	return cache.Entry{Dir: cacheDir, Name: p.name, Key: cache.Key(inputs...)}, source, nil
}

// build compiles the product into dir and links its names to it.
func (p product) build(ctx context.Context, source, dir string) error {
	command := exec.CommandContext(ctx, "go", slices.Concat(buildArgs, []string{"-o", filepath.Join(dir, p.name), p.source})...)
	command.Dir = source
	command.Env = slices.Concat(os.Environ(), buildEnv, buildHaste)
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	if err := command.Run(); err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("build the control plane: %w", context.Cause(ctx))
		}
		return fmt.Errorf("build the control plane in %s: %w\n%s\nnext: see that the Go module proxy can be reached (go env GOPROXY) and that the disk is not full, then start again",
			source, err, indent(lastLines(output.String(), tailLines)))
	}
	for _, name := range p.links {
		if err := os.Symlink(p.name, filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("link %s: %w", name, err)
		}
	}
	return nil
}

// lastLines is the end of a text.
func lastLines(text string, lines int) string {
	all := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
