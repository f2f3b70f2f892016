//go:build e2e

package e2e_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	. "github.com/onsi/gomega"
)

// What is built, and how the chart names it.
const (
	version    = "v0.1.0-e2e"
	repository = "localhost/ironflow"
)

// imageConfig is what an image says of how it is run.
type imageConfig struct {
	User            string
	Entrypoint, Env []string
}

// buildImages makes the images of the cluster as `make images` does, in a storage that ends with the test.
func (w *world) buildImages() {
	w.t.Helper()
	dir := w.t.TempDir()
	storage := filepath.Join(dir, "storage.conf")
	w.Expect(os.WriteFile(storage, fmt.Appendf(nil, "[storage]\ndriver = \"vfs\"\nrunroot = %q\ngraphroot = %q\n", dir+"/run", dir+"/graph"), 0o600)).To(Succeed())
	w.t.Setenv("CONTAINERS_STORAGE_CONF", storage)
	w.run([]string{"VERSION=" + version, "OUT=" + filepath.Join(dir, "out")}, "bash", "../scripts/images.sh", "ironflow", "ironflow-agent", "ironflow-cluster")
}

// builtImage is an image that was mounted.
type builtImage struct {
	root   string
	config imageConfig
}

// imageOf is the folder of an image's own files, and how it is run. All containers of it share the folder.
func (w *world) imageOf(reference string) (root string, config imageConfig) {
	w.t.Helper()
	if built, found := w.roots[reference]; found {
		return built.root, built.config
	}
	container := strings.TrimSpace(w.run(nil, "buildah", "from", "--pull-never", reference))
	w.t.Cleanup(func() { w.run(nil, "buildah", "rm", container) })
	var told struct{ OCIv1 struct{ Config imageConfig } }
	w.Expect(json.Unmarshal([]byte(w.run(nil, "buildah", "inspect", "--type", "image", reference)), &told)).To(Succeed())
	config = told.OCIv1.Config
	root = strings.TrimSpace(w.run(nil, "buildah", "mount", container))
	w.roots[reference] = builtImage{root, config}
	return root, config
}

// run runs a program, in clean-ups, too, with more variables in its environment, and returns what it prints.
func (w *world) run(env []string, name string, args ...string) string {
	w.t.Helper()
	command := exec.Command(name, args...)
	command.Env = append(os.Environ(), env...)
	var complaints strings.Builder
	command.Stderr = &complaints
	out, err := command.Output()
	w.Expect(err).NotTo(HaveOccurred(), "%s %v\n%s%s", name, args, out, &complaints)
	return string(out)
}
