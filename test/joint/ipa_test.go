//go:build e2e

package joint_test

import (
	_ "embed"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/test/lab/guard"
	"github.com/ironflow/ironflow/test/machine/realipa"
)

//go:embed sandbox.sh
var sandbox string

// system is the PATH behind IPA's own programs and the stubs.
const system = "/usr/sbin:/usr/bin:/sbin:/bin"

// ipa is a running ironic-python-agent.
type ipa struct {
	process *guard.Process
	buttons io.Closer
}

func (i *ipa) kill() {
	i.process.Kill()
	_ = i.buttons.Close()
}

// startIPA starts the real agent beside the booted machine, with our plugin or,
// in a stock image, with the existing one's behaviour.
func (m *machine) startIPA(b *boot) *ipa {
	config, err := m.writeIPA(b)
	if err != nil {
		m.t.Errorf("IPA: %v", err)
		return nil
	}
	buttons, err := realipa.Listen(filepath.Join(b.dir, "buttons"), m.off, func() { go m.cycle() })
	if err != nil {
		m.t.Errorf("IPA: %v", err)
		return nil
	}
	log, err := os.OpenFile(m.ipaLog(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		m.t.Errorf("IPA: %v", err)
		return nil
	}
	defer log.Close()
	enter, root := b.systemd.Beside()
	command := slices.Concat(enter,
		[]string{"unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "/bin/sh", "-c", sandbox, "sandbox.sh", root},
		m.launcher(), []string{"--config-file", "/mnt/coreos" + hostfile.IPAConfig, "--config-file", config})
	process, err := guard.Start(guard.Command{Path: command[0], Args: command[1:], Env: m.ipaEnvironment(b), Output: log})
	if err != nil {
		m.t.Errorf("IPA: %v", errors.Join(err, buttons.Close()))
		return nil
	}
	return &ipa{process: process, buttons: buttons}
}

func (m *machine) ipaLog() string { return filepath.Join(m.dir, "ipa.log") }

// launcher is how the image starts IPA: ours through the plugin's launcher.
func (m *machine) launcher() []string {
	python := filepath.Join(m.world.venv, "bin", "python")
	if m.stock {
		return []string{python, "-c", "from ironic_python_agent.cmd import agent; agent.run()"}
	}
	return []string{python, "-c", "from ironflow_ipa import launch; launch.main()"}
}

func (m *machine) ipaEnvironment(b *boot) []string {
	path := []string{filepath.Join(b.dir, "stubs"), filepath.Join(m.world.venv, "bin"), system}
	python := []string{m.world.python}
	env := []string{
		"PATH=" + system, "AGENT_PATH=" + strings.Join(path, ":"), "LANG=C.UTF-8", "PYTHONDONTWRITEBYTECODE=1", "PYTHONUNBUFFERED=1",
		"PYTHONNOUSERSITE=1", "PYTHONWARNINGS=ignore", "NO_PROXY=*", "JOINT_MAC=" + m.mac(),
	}
	if m.stock {
		env = append(env, "JOINT_STOCK=1")
	} else {
		python = append(python, m.world.plugin)
		env = append(env, hostfile.RootEnv+"=/mnt/coreos", "IRONFLOW_STEP="+m.world.step)
	}
	return append(env, "PYTHONPATH="+strings.Join(python, ":"))
}

// writeIPA writes the stubs and what is the lab's own in IPA's configuration:
// everything else is the image's.
func (m *machine) writeIPA(b *boot) (config string, err error) {
	port, err := realipa.Port(filepath.Join(b.dir, "port"))
	if err != nil {
		return "", err
	}
	files := map[string]string{"lab.conf": strings.Join([]string{
		"[DEFAULT]", "cafile = " + m.world.lab.CAFile, "inspection_collectors = default", "listen_host = 127.0.0.1", "advertise_host = 127.0.0.1",
		"listen_port = " + port, "advertise_port = " + port, "lookup_interval = 1", "disk_wait_attempts = 1", "disk_wait_delay = 0", "use_stderr = True", "",
	}, "\n")}
	for name, text := range realipa.Stubs(filepath.Join(b.dir, "buttons")) {
		files["stubs/"+name] = text
	}
	for name, text := range files {
		path := filepath.Join(b.dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o755)); err != nil {
			return "", err
		}
	}
	return filepath.Join(b.dir, "lab.conf"), nil
}
