package lab

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/ironflow/ironflow/test/lab/cache"
	"github.com/ironflow/ironflow/test/lab/prereq"
	"github.com/ironflow/ironflow/test/lab/progress"
)

// The pinned packages of the lab's own Python environments. They exclude each other:
// Ironic and its agent want different versions of what they share.
var (
	//go:embed ironic/requirements.txt
	ironicRequirements []byte
	//go:embed ipa/requirements.txt
	agentRequirements []byte
)

const (
	// installUsual is how long an environment takes to install.
	installUsual = 45 * time.Second
	// schemaFile is the empty database in an environment: making one takes three
	// seconds, copying it none.
	schemaFile = "empty.sqlite"
)

// IronicEnvironment returns the folder of the Python environment with Ironic, the
// release that $IRONFLOW_LAB_IRONIC chooses or the lab's own, installed at the first
// call and kept in the cache. An empty cacheDir is the default one.
func IronicEnvironment(ctx context.Context, cacheDir string, report progress.Func) (string, error) {
	release, packages, err := otherIronic()
	if err != nil {
		return "", err
	}
	if release == "" {
		return ownEnvironment(ctx, cacheDir, report)
	}
	if err := runsOtherIronics(ctx, release); err != nil {
		return "", err
	}
	return environment(ctx, "ironic-"+release, cacheDir, packages, report, ironicSchema)
}

// ownEnvironment has the lab's own Ironic, and sushy-tools for the BMCs in any case.
func ownEnvironment(ctx context.Context, cacheDir string, report progress.Func) (string, error) {
	return environment(ctx, "ironic", cacheDir, ironicRequirements, report, ironicSchema)
}

// ironicSchema keeps Ironic's empty database.
var ironicSchema = schemaBy("ironic-dbsync", "create_schema")

// AgentEnvironment returns the folder of the Python environment with the real
// ironic-python-agent.
func AgentEnvironment(ctx context.Context, cacheDir string, report progress.Func) (string, error) {
	return environment(ctx, "ironic-python-agent", cacheDir, agentRequirements, report, nil)
}

// environment installs pinned packages, checked by their hashes, into a new
// environment, and then calls finish on it.
func environment(
	ctx context.Context, name, cacheDir string, requirements []byte, report progress.Func,
	finish func(ctx context.Context, dir string) error,
) (string, error) {
	if cacheDir == "" {
		var err error
		if cacheDir, err = cache.DefaultDir(); err != nil {
			return "", err
		}
	}
	python, err := prereq.FindPython(ctx, prereq.Local())
	if err != nil {
		return "", err
	}
	path, err := exec.LookPath(python.Path)
	if err != nil {
		return "", fmt.Errorf("find %s: %w", python.Path, err)
	}
	entry := cache.Entry{Dir: cacheDir, Name: name, Key: cache.Key(requirements, []byte(python.Version), []byte(path))}
	waiting := func() { report.Say(name, "waiting for another process that installs it") }
	return entry.Get(ctx, waiting, func(ctx context.Context, dir string) error {
		return report.Track(name, "installing it from the Python package index, once per version", installUsual, func() error {
			return install(ctx, path, dir, requirements, finish)
		})
	})
}

// install makes the environment in dir.
func install(ctx context.Context, python, dir string, requirements []byte, finish func(context.Context, string) error) error {
	list := filepath.Join(dir, "requirements.txt")
	if err := os.WriteFile(list, requirements, 0o644); err != nil {
		return fmt.Errorf("write the list of packages: %w", err)
	}
	if err := runTool(ctx, python, "-m", "venv", dir); err != nil {
		return err
	}
	err := runTool(ctx, filepath.Join(dir, "bin", "python"), "-m", "pip", "install", "--quiet", "--no-input",
		"--disable-pip-version-check", "--no-deps", "--only-binary", ":all:", "--require-hashes", "-r", list)
	if err != nil {
		return fmt.Errorf("%w\nnext: see that the Python package index can be reached (pip config list), then start again", err)
	}
	if finish == nil {
		return nil
	}
	return finish(ctx, dir)
}

// schemaBy keeps an empty database of this version, as the environment's tool
// makes it.
func schemaBy(tool, command string) func(ctx context.Context, dir string) error {
	return func(ctx context.Context, dir string) error {
		database := filepath.Join(dir, schemaFile)
		config := filepath.Join(dir, "empty.conf")
		if err := os.WriteFile(config, []byte("[database]\nconnection = sqlite:///"+database+"\n"), 0o644); err != nil {
			return fmt.Errorf("configure the empty database: %w", err)
		}
		return runTool(ctx, filepath.Join(dir, "bin", tool), "--config-file", config, command)
	}
}

// runTool runs a program to its end; the error has the end of its output.
func runTool(ctx context.Context, path string, args ...string) error {
	return runToolIn(ctx, nil, path, args...)
}

// runToolIn is runTool with an environment; nil is the caller's.
func runToolIn(ctx context.Context, env []string, path string, args ...string) error {
	command := exec.CommandContext(ctx, path, args...)
	command.Env = env
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	if err := command.Run(); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return fmt.Errorf("run %s %s: %w\n%s", filepath.Base(path), strings.Join(args, " "), err, indent(lastLines(output.String(), tailLines)))
	}
	return nil
}
