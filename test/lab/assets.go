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
	// buildUsual is how long the control plane takes to build on two cores.
	buildUsual = 6 * time.Minute
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
)

// programs are the names that the control plane program answers to.
var programs = []string{"etcd", "kube-apiserver", "kubectl", "lab-controllers"}

// Assets returns a folder with etcd, kube-apiserver and kubectl, suitable for
// envtest's BinaryAssetsDirectory: $KUBEBUILDER_ASSETS if it is set and
// complete, else the programs of test/controlplane, built at the first call and
// kept in the cache. An empty cacheDir is the default one.
func Assets(ctx context.Context, cacheDir string, report progress.Func) (string, error) {
	if dir, ok := givenAssets(); ok {
		return dir, nil
	}
	return builtAssets(ctx, cacheDir, report)
}

// givenAssets is the user's own folder, if it has what the API needs.
func givenAssets() (string, bool) {
	dir := os.Getenv(envAssets)
	if dir == "" {
		return "", false
	}
	for _, name := range []string{"etcd", "kube-apiserver"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return "", false
		}
	}
	return dir, true
}

// builtAssets builds the programs of test/controlplane unless they are cached.
func builtAssets(ctx context.Context, cacheDir string, report progress.Func) (string, error) {
	entry, source, err := assetsEntry(cacheDir)
	if err != nil {
		return "", err
	}
	waiting := func() { report.Say("control plane", "waiting for another process that builds it") }
	return entry.Get(ctx, waiting, func(ctx context.Context, dir string) error {
		return report.Track("control plane", "building etcd and kube-apiserver, once per version", buildUsual, func() error {
			return buildAssets(ctx, source, dir)
		})
	})
}

// assetsEntry is the cache entry of the programs and the folder of their source.
func assetsEntry(cacheDir string) (entry cache.Entry, source string, err error) {
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
	return cache.Entry{Dir: cacheDir, Name: "controlplane", Key: cache.Key(inputs...)}, source, nil
}

// buildAssets compiles the program and links its names to it.
func buildAssets(ctx context.Context, source, dir string) error {
	program := filepath.Join(dir, "controlplane")
	command := exec.CommandContext(ctx, "go", slices.Concat(buildArgs, []string{"-o", program, "."})...)
	command.Dir = source
	command.Env = append(os.Environ(), buildEnv...)
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	if err := command.Run(); err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("build the control plane: %w", context.Cause(ctx))
		}
		return fmt.Errorf("build the control plane in %s: %w\n%s\nnext: see that the Go module proxy can be reached (go env GOPROXY) and that the disk is not full, then start again",
			source, err, indent(lastLines(output.String(), tailLines)))
	}
	for _, name := range programs {
		if err := os.Symlink("controlplane", filepath.Join(dir, name)); err != nil {
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
