package lab

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/test/lab/cache"
	"github.com/ironflow/ironflow/test/lab/progress"
)

// apiServer is kube-apiserver of another release, as a number without "v".
type apiServer string

// releaseForm is how Kubernetes writes its releases.
var releaseForm = regexp.MustCompile(`^1\.(\d+)\.\d+$`)

// otherAPIServer is the release that the environment asks for, empty for the lab's own.
func otherAPIServer() (apiServer, error) {
	given := strings.TrimPrefix(os.Getenv(EnvKubernetes), "v")
	if given == "" || "v"+given == kubernetesVersion {
		return "", nil
	}
	if !releaseForm.MatchString(given) {
		return "", fmt.Errorf("%s is %q: set it to a release such as 1.30.14", EnvKubernetes, given)
	}
	return apiServer(given), nil
}

// get returns a folder with this kube-apiserver beside the lab's other programs,
// built at the first call.
func (a apiServer) get(ctx context.Context, cacheDir string, report progress.Func) (string, error) {
	own, err := wholeControlPlane.get(ctx, cacheDir, report)
	if err != nil {
		return "", err
	}
	waiting := func() { report.Say("control plane", "waiting for another process that builds it") }
	return a.entry(own).Get(ctx, waiting, func(ctx context.Context, dir string) error {
		what := "building kube-apiserver " + string(a) + ", once per version"
		return report.Track("control plane", what, wholeControlPlane.usual, func() error { return a.build(ctx, dir, own) })
	})
}

// entry is its place in the cache, beside the lab's own programs in the folder own.
func (a apiServer) entry(own string) cache.Entry {
	key := cache.Key([]byte(a), []byte(filepath.Base(own)), []byte(runtime.Version()), []byte(runtime.GOARCH), []byte(strings.Join(a.args(), "\n")))
	return cache.Entry{Dir: filepath.Dir(own), Name: "kube-apiserver-" + string(a), Key: key}
}

// args are those of the build. The major and minor version are what `ironflow check` and helm
// read. Without providerless, releases before 1.31 hold clients of three clouds.
func (a apiServer) args() []string {
	const version = "k8s.io/component-base/version."
	return []string{
		"build", "-mod=mod", "-tags", "providerless", "-trimpath", "-buildvcs=false", "-ldflags", fmt.Sprintf("-s -w -X %sgitVersion=v%s -X %sgitMajor=1 -X %sgitMinor=%s",
			version, a, version, version, releaseForm.FindStringSubmatch(string(a))[1]),
	}
}

// build compiles it in a module that is made for it: k8s.io/kubernetes cannot be
// installed by its path, because its go.mod names the staging modules by folders that
// only its repository has. What else is in it is what that go.mod requires. The Go
// checksum database vouches for all of it.
func (a apiServer) build(ctx context.Context, dir, own string) error {
	source := filepath.Join(dir, "source")
	if err := os.Mkdir(source, 0o755); err != nil {
		return fmt.Errorf("make the module of kube-apiserver: %w", err)
	}
	module, err := a.module(ctx, source)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(source, "go.mod"), module, 0o644); err != nil {
		return fmt.Errorf("make the module of kube-apiserver: %w", err)
	}
	if _, err := a.goTool(ctx, source, slices.Concat(a.args(), []string{"-o", filepath.Join(dir, "kube-apiserver"), "k8s.io/kubernetes/cmd/kube-apiserver"})...); err != nil {
		return err
	}
	for _, name := range wholeControlPlane.links {
		if name == "kube-apiserver" {
			continue
		}
		if err := os.Symlink(filepath.Join("..", filepath.Base(own), wholeControlPlane.name), filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("link %s: %w", name, err)
		}
	}
	return nil
}

// goMod is what is read of a go.mod.
type goMod struct {
	Go      string
	Godebug []struct{ Key, Value string }
	Replace []struct{ Old, New struct{ Path string } }
}

// module is a go.mod that requires this release, with its staging modules.
func (a apiServer) module(ctx context.Context, dir string) ([]byte, error) {
	answer, err := a.goTool(ctx, dir, "mod", "download", "-json", "k8s.io/kubernetes@v"+string(a))
	if err != nil {
		return nil, err
	}
	var download struct{ GoMod string }
	if err := json.Unmarshal(answer, &download); err != nil {
		return nil, fmt.Errorf("find the source of Kubernetes %s: %w", a, err)
	}
	if answer, err = a.goTool(ctx, dir, "mod", "edit", "-json", download.GoMod); err != nil {
		return nil, err
	}
	var theirs goMod
	if err := json.Unmarshal(answer, &theirs); err != nil {
		return nil, fmt.Errorf("read the go.mod of Kubernetes %s: %w", a, err)
	}
	var ours strings.Builder
	fmt.Fprintf(&ours, "module kube-apiserver\n\ngo %s\n\nrequire k8s.io/kubernetes v%s\n\n", theirs.Go, a)
	for _, setting := range theirs.Godebug {
		fmt.Fprintf(&ours, "godebug %s=%s\n", setting.Key, setting.Value)
	}
	for _, replaced := range theirs.Replace {
		if strings.HasPrefix(replaced.New.Path, "./staging/") {
			fmt.Fprintf(&ours, "replace %s => %s v0%s\n", replaced.Old.Path, replaced.Old.Path, strings.TrimPrefix(string(a), "1"))
		}
	}
	return []byte(ours.String()), nil
}

// goTool runs the Go tool in dir and returns its output.
func (a apiServer) goTool(ctx context.Context, dir string, args ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, "go", args...)
	command.Dir = dir
	command.Env = slices.Concat(os.Environ(), buildEnv, buildHaste)
	var problems strings.Builder
	command.Stderr = &problems
	output, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("build kube-apiserver %s: go %s: %w\n%s\nnext: see that there is such a release, that the Go module proxy can be reached (go env GOPROXY), and that the disk is not full",
			a, args[0], err, indent(lastLines(problems.String()+string(output), tailLines)))
	}
	return output, nil
}
