// Package realipa runs the real ironic-python-agent without a machine, so that
// whatever stands in for it can be held against it.
//
// The agent is an ordinary process of the user nobody in mount and pid
// namespaces of its own: no device but the harmless ones, an own /run, and a
// PATH that begins with stubs. poweroff and reboot tell the machine, all that
// touches disks or modules refuses. A hardware manager of its own
// (python/contract_manager.py) pretends the hardware and has the contract's
// steps. Root only, Linux only.
package realipa

import (
	"bufio"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/ironflow/ironflow/test/lab/guard"
	"github.com/ironflow/ironflow/test/machine/contract"
)

//go:embed python
var python embed.FS

//go:embed sandbox.sh
var sandbox string

// nobody is the user and group that the agent runs as.
const nobody = 65534

// system is the PATH behind the stubs.
const system = "/usr/sbin:/usr/bin:/sbin:/bin"

// refused are the programs that the agent must not find.
var refused = []string{
	"mount", "umount", "dd", "mdadm", "wipefs", "sgdisk", "parted", "partprobe", "partx", "hdparm", "nvme", "blkdiscard", "shred",
	"modprobe", "multipath", "multipathd", "iscsistart", "lvm", "vgs", "mkfs", "efibootmgr", "ipmitool", "hwclock", "chronyd",
}

// Agent is the real agent as a contract.Agent.
type Agent struct {
	// Venv is the folder of the Python environment with ironic-python-agent.
	Venv string
}

// Start implements contract.Agent.
func (a Agent) Start(t testing.TB, boot contract.Boot) (func(), error) {
	if os.Geteuid() != 0 {
		return nil, errors.New("the real agent's sandbox needs root")
	}
	if err := prepare(boot); err != nil {
		return nil, err
	}
	buttons, err := Listen(filepath.Join(boot.Dir, "buttons"), boot.Off, boot.Reboot)
	if err != nil {
		return nil, err
	}
	log, err := os.OpenFile(filepath.Join(boot.Dir, "ipa.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, errors.Join(err, buttons.Close())
	}
	defer log.Close()
	process, err := guard.Start(a.command(boot, log))
	if err != nil {
		return nil, errors.Join(err, buttons.Close())
	}
	return func() {
		process.Kill()
		_ = buttons.Close()
		if t.Failed() {
			t.Logf("the end of the agent's log:\n%s", Tail(filepath.Join(boot.Dir, "ipa.log")))
		}
	}, nil
}

// command is the agent in its sandbox.
func (a Agent) command(boot contract.Boot, log *os.File) guard.Command {
	return guard.Command{
		Path: "unshare",
		Args: []string{
			"--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "/bin/sh", "-c", sandbox, "sandbox.sh",
			filepath.Join(a.Venv, "bin", "python"), "-c", "from ironic_python_agent.cmd import agent; agent.run()",
			"--config-file", filepath.Join(boot.Dir, "ipa.conf"),
		},
		Dir: boot.Dir,
		Env: []string{
			"PATH=" + system, "AGENT_PATH=" + filepath.Join(boot.Dir, "stubs") + ":" + system, "HOME=/run", "LANG=C.UTF-8",
			"PYTHONPATH=" + filepath.Join(boot.Dir, "python"), "PYTHONDONTWRITEBYTECODE=1", "PYTHONUNBUFFERED=1", "PYTHONNOUSERSITE=1",
			"PYTHONWARNINGS=ignore", "NO_PROXY=*", "CONTRACT_MAC=" + boot.MAC, "CONTRACT_DIR=" + filepath.Join(boot.Dir, "kept"),
		},
		Output: log,
	}
}

// prepare writes everything that the agent finds in its boot. The configuration
// is written anew each time: a token that was kept goes into it.
func prepare(boot contract.Boot) error {
	kept := filepath.Join(boot.Dir, "kept")
	if err := errors.Join(os.MkdirAll(kept, 0o700), os.Chown(kept, nobody, nobody)); err != nil {
		return err
	}
	files := map[string]string{}
	err := fs.WalkDir(python, "python", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		raw, err := python.ReadFile(name)
		files[name] = string(raw)
		return err
	})
	if err != nil {
		return err
	}
	for name, text := range Stubs(filepath.Join(boot.Dir, "buttons")) {
		files["stubs/"+name] = text
	}
	if files["ipa.conf"], err = configuration(boot, kept); err != nil {
		return err
	}
	for name, text := range files {
		path := filepath.Join(boot.Dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o755)); err != nil {
			return err
		}
	}
	return nil
}

// Stubs are the programs that come first in the agent's PATH, by name: those
// that touch disks or modules refuse, and poweroff and reboot press the machine's
// buttons (see [Listen]).
func Stubs(buttons string) map[string]string {
	stubs := map[string]string{}
	for _, name := range refused {
		stubs[name] = "#!/bin/sh\necho '" + name + " is refused in this sandbox' >&2\nexit 1\n"
	}
	for _, name := range []string{"poweroff", "reboot"} {
		stubs[name] = "#!/bin/sh\necho " + name + " >'" + buttons + "'\n"
	}
	return stubs
}

// configuration renders the agent's configuration file.
func configuration(boot contract.Boot, kept string) (string, error) {
	port, err := Port(filepath.Join(boot.Dir, "port"))
	if err != nil {
		return "", err
	}
	options := []string{
		"[DEFAULT]", "api_url = " + boot.Ironic, "cafile = " + boot.CAFile, "inspection_collectors = default",
		"listen_host = 127.0.0.1", "advertise_host = 127.0.0.1", "listen_port = " + port, "advertise_port = " + port,
		"lookup_interval = 1", "disk_wait_attempts = 1", "disk_wait_delay = 0", "use_stderr = True",
	}
	token, err := os.ReadFile(filepath.Join(kept, "token"))
	if err == nil {
		options = append(options, "agent_token = "+string(token))
	}
	return strings.Join(append(options, ""), "\n"), nil
}

// Port is a free port on loopback, the same one as long as the file exists, in
// which it is kept: an agent that is restarted must come back at its address.
func Port(file string) (string, error) {
	if raw, err := os.ReadFile(file); err == nil {
		return string(raw), nil
	}
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	text := strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
	return text, errors.Join(listener.Close(), os.WriteFile(file, []byte(text), 0o600))
}

// Listen hears the stubs of poweroff and reboot over a named pipe that it makes,
// until that is closed.
func Listen(path string, off, reboot func()) (io.Closer, error) {
	if err := syscall.Mkfifo(path, 0o622); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := os.Chmod(path, 0o622); err != nil { // whatever the umask is
		return nil, err
	}
	pipe, err := os.OpenFile(path, os.O_RDWR, 0) // for writing too: the end of one writer is not the end
	if err != nil {
		return nil, err
	}
	go func() {
		for lines := bufio.NewScanner(pipe); lines.Scan(); {
			switch lines.Text() {
			case "poweroff":
				off()
			case "reboot":
				reboot()
			}
		}
	}()
	return pipe, nil
}

// Tail is the end of a log, without the tokens that the agent writes there.
func Tail(path string) string {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(string(raw), "\n")
	lines = lines[max(0, len(lines)-40):]
	for i, line := range lines {
		if before, _, ok := strings.Cut(line, "agent_token="); ok {
			lines[i] = before + "agent_token=…"
		}
	}
	return strings.Join(lines, "\n")
}

// Missing says what the sandbox lacks on this machine, empty if nothing.
func Missing() string {
	if os.Geteuid() != 0 {
		return "the real agent's sandbox needs root"
	}
	for _, name := range []string{"unshare", "setpriv", "lscpu"} {
		if _, err := exec.LookPath(name); err != nil {
			return "the real agent's sandbox needs " + name + " (Debian: util-linux)"
		}
	}
	return ""
}
