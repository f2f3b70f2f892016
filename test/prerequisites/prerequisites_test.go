// Package prerequisites takes away, one by one, what the README says must be there before, and reads what the commands then say: one sentence
// with what to do, at once, before anything is built or started.
package prerequisites

import (
	"context"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/onsi/gomega"
)

// module is the module's folder, seen from this package.
const module = "../.."

// gap is something that is missing on the user's machine.
type gap struct {
	name string
	// tools are the programs in PATH; the value is a script in place of the real one.
	tools map[string]string
	// target is what the user makes.
	target []string
	// says is in the sentence that names the gap, does in the one that says what to do. Both are one line.
	says, does string
}

func TestMake(t *testing.T) {
	const oldGo = "#!/bin/sh\necho go1.21.3\n"
	const noVenv = "#!/bin/sh\ncase \"$2\" in *venv*) exit 1;; esac\n"
	const oldPython = "#!/bin/sh\nexit 1\n"
	noCargo := map[string]string{"id": "#!/bin/sh\necho 0\n", "python3": "#!/bin/sh\n", "cargo": ""} // as root, with Python
	for _, c := range []gap{
		{"no Go", map[string]string{"go": ""}, []string{"demo"}, "Go is missing", "install Go 1.26"},
		{"an old Go", map[string]string{"go": oldGo}, []string{"demo"}, "Go 1.21.3 is too old", "install Go 1.26"},
		{"no Go for the tests", map[string]string{"go": ""}, []string{"test"}, "Go is missing", "install Go 1.26"},
		{"no Python", map[string]string{"python3": ""}, []string{"demo"}, "Python 3.11 or newer is missing", "install python3"},
		{"an old Python", map[string]string{"python3": oldPython}, []string{"demo"}, "Python 3.11 or newer is missing", "IRONFLOW_PYTHON"},
		{"Python without venv", map[string]string{"python3": noVenv}, []string{"demo"}, "no venv module", "apt-get install python3-venv"},
		{"Python without venv for the tests", map[string]string{"python3": noVenv}, []string{"test"}, "no venv module", "apt-get install python3-venv"},
		{"not root for the end-to-end tests", map[string]string{"id": "#!/bin/sh\necho 1000\n"}, []string{"test-e2e"}, "needs root", "run it as root"},
		{"no cargo for the end-to-end tests", noCargo, []string{"test-e2e"}, "cargo is missing", "https://rustup.rs"},
		{"no cargo for the smoke cases", noCargo, []string{"test-smoke"}, "cargo is missing", "https://rustup.rs"},
		{"no cargo for the real coreos-installer", noCargo, []string{"coreos-installer"}, "cargo is missing", "COREOS_INSTALLER"},
		{"not root for the bench on a real systemd", map[string]string{"id": "#!/bin/sh\necho 1000\n"}, []string{"bench-steps"}, "needs root", "run it as root"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			sentence := run(t, "make", append([]string{"-s", "-C", module}, c.target...), "PATH="+path(t, c.tools), "IRONFLOW_CACHE="+t.TempDir())
			g.Expect(sentence).To(gomega.And(gomega.HavePrefix("ironflow: "), gomega.ContainSubstring(c.says), gomega.ContainSubstring(c.does)))
		})
	}
}

// TestACoreOSInstallerThatCannotBeBuilt ends the end-to-end tests before they begin.
func TestACoreOSInstallerThatCannotBeBuilt(t *testing.T) {
	const found = "#!/bin/sh\nexit 0\n"
	const noPython = "#!/bin/sh\n" // says yes to all
	// In the place of the compiler: it runs ironflow-lab, which fails as a failed build does, and has nothing else to do.
	const compiler = `#!/bin/sh
case "$1 $2 $3" in
  "env GOVERSION "*) echo go1.26.0 ;;
  "run ./test/cmd/ironflow-lab coreos-installer") echo "cargo install coreos-installer: error: linker cc not found"; exit 1 ;;
  *) echo "go $*" ;;
esac
`
	for _, target := range []string{"test-e2e", "test-smoke"} {
		t.Run(target, func(t *testing.T) {
			tools := map[string]string{
				"id": "#!/bin/sh\necho 0\n", "go": compiler, "cargo": found, "python3": noPython, "dpkg-query": "#!/bin/sh\necho install ok installed\n",
			}
			sentence := run(t, "make", []string{"-s", "-C", module, target}, "PATH="+path(t, tools), "IRONFLOW_CACHE="+t.TempDir(), "COREOS_INSTALLER=")
			gomega.NewWithT(t).Expect(sentence).To(gomega.ContainSubstring("linker cc not found"))
		})
	}
}

// TestNothingIsSkippedInCI has a user who is not root miss Debian packages.
func TestNothingIsSkippedInCI(t *testing.T) {
	g := gomega.NewWithT(t)
	tools := path(t, map[string]string{"id": "#!/bin/sh\necho 1000\n", "dpkg-query": "#!/bin/sh\nexit 1\n", "apt-get": "#!/bin/sh\n"})
	sentence := run(t, "bash", []string{filepath.Join(module, "test/scripts/test-tools.sh"), "cpio"}, "PATH="+tools, "CI=true")
	g.Expect(sentence).To(gomega.And(gomega.HavePrefix("ironflow: not installed: cpio"), gomega.ContainSubstring("apt-get install cpio")))
	sentence = run(t, "bash", []string{filepath.Join(module, ".ci/run")}, "PATH="+tools)
	g.Expect(sentence).To(gomega.And(gomega.HavePrefix("ironflow: '.ci/run'"), gomega.ContainSubstring("needs root")))
	noCargo := map[string]string{"id": "#!/bin/sh\necho 0\n", "mktemp": "", "cargo": ""}
	sentence = run(t, "make", []string{"-s", "-C", module, "nmstatectl"}, "PATH="+path(t, noCargo), "IRONFLOW_CACHE="+t.TempDir(), "IRONFLOW_NMSTATECTL=", "CI=true")
	g.Expect(sentence).To(gomega.And(gomega.HavePrefix("ironflow: cargo is missing"), gomega.ContainSubstring("IRONFLOW_NMSTATECTL")))
	tools = path(t, noCargo)
	sentence = run(t, "bash", []string{filepath.Join(module, ".ci/run")}, "PATH="+tools, "IRONFLOW_CACHE="+t.TempDir(), "COREOS_INSTALLER=")
	g.Expect(sentence).To(gomega.And(gomega.HavePrefix("ironflow: cargo is missing"), gomega.ContainSubstring("https://rustup.rs")))
}

func TestAPortTaken(t *testing.T) {
	g := gomega.NewWithT(t)
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer func() { _ = listener.Close() }()
	port := strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
	for _, flag := range []string{"--api-port", "--ironic-port", "--bmc-port"} {
		t.Run(flag, func(t *testing.T) {
			sentence := run(t, labProgram(t), []string{"up", flag, port})
			gomega.NewWithT(t).Expect(sentence).To(gomega.And(gomega.ContainSubstring(port), gomega.ContainSubstring("another")))
		})
	}
}

func TestNoSpaceOnTheDisk(t *testing.T) {
	g := gomega.NewWithT(t)
	dir := t.TempDir()
	// A file system of one mebibyte, in name spaces of its own: no root is needed for it where the kernel lets users have them.
	script := `mount -t tmpfs -o size=1m tmpfs "$1" && exec "$2" up --state-dir "$1"`
	if err := exec.CommandContext(t.Context(), "unshare", "-Urm", "true").Run(); err != nil {
		t.Skipf("this kernel gives no user name spaces: %v", err)
	}
	sentence := run(t, "unshare", []string{"-Urm", "sh", "-c", script, "sh", dir, labProgram(t)})
	g.Expect(sentence).To(gomega.And(gomega.ContainSubstring(dir), gomega.ContainSubstring("free")))
}

func TestTooFewFileHandles(t *testing.T) {
	g := gomega.NewWithT(t)
	sentence := run(t, "sh", []string{"-c", `ulimit -n 128 && exec "$1" up`, "sh", labProgram(t)})
	g.Expect(sentence).To(gomega.And(gomega.ContainSubstring("128"), gomega.ContainSubstring("ulimit")))
}

// run runs a command that has to fail, and returns the one line that it says to the user.
func run(t *testing.T, program string, args []string, environment ...string) string {
	t.Helper()
	g := gomega.NewWithT(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	// make of the outer run must not lend its flags and jobs to this one.
	cmd.Env = append(os.Environ(), append([]string{"MAKEFLAGS=", "MAKELEVEL=", "IRONFLOW_PYTHON="}, environment...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	out, err := cmd.CombinedOutput()
	g.Expect(err).To(gomega.HaveOccurred(), "%s", out)
	var lines []string
	for line := range strings.Lines(string(out)) {
		// make adds a line of its own on the target that failed.
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "make") {
			lines = append(lines, line)
		}
	}
	g.Expect(lines).To(gomega.HaveLen(1), "one sentence, nothing built or started before:\n%s", out)
	return lines[0]
}

// path makes a folder with the programs that make and its scripts use, where the given ones are replaced, or missing where the text is empty.
func path(t *testing.T, replaced map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	usual := []string{"sh", "bash", "make", "git", "grep", "sed", "sort", "head", "dirname", "id", "go", "python3", "awk", "env", "printf"}
	for _, tool := range append(usual, slices.Sorted(maps.Keys(replaced))...) {
		script, isReplaced := replaced[tool]
		switch {
		case !isReplaced:
			if program, err := exec.LookPath(tool); err == nil {
				link(t, program, filepath.Join(dir, tool))
			}
		case script != "":
			if err := os.WriteFile(filepath.Join(dir, tool), []byte(script), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

func link(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Symlink(from, to); err != nil {
		t.Fatal(err)
	}
}

// labProgram is the ironflow-lab that make has built.
func labProgram(t *testing.T) string {
	t.Helper()
	bin := os.Getenv("IRONFLOW_BIN")
	if bin == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("IRONFLOW_BIN is not set: run this by `make test`")
		}
		t.Skip("IRONFLOW_BIN is not set: run this by `make test`, which builds the programs first")
	}
	return filepath.Join(bin, "ironflow-lab")
}
