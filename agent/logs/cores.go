package logs

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const (
	// coreFolder is where systemd keeps core dumps, compressed, as core.COMMAND.UID.BOOT.PID.TIME[.zst].
	coreFolder = "/var/lib/systemd/coredump"
	// maxCore is the largest core dump that is sent, in bytes.
	maxCore = 1 << 30
	// maxCores bounds how many are sent, the newest first.
	maxCores = 20
)

// secretive are programs whose memory holds tokens, pull secrets, keys or an Ignition: nothing can
// be redacted in a core dump, so theirs stay on the host. The kernel cuts
// names after 15 characters.
var secretive = []string{
	"ironflow-agent", "agent", "next_step_runne", "logs_sender", "ironflow-step", "ironic-python-a", "coreos-installe", "ignition", "assisted-instal",
	"podman", "conmon", "skopeo", "crio", "kubelet", "sshd", "sshd-session", "ssh",
}

// oddRunes are what does not go into a file's name.
var oddRunes = regexp.MustCompile(`[^\w+-]+`)

// core is a core dump by its file.
type core struct {
	command, pid, ending string
	time                 uint64
	file                 string
}

// parseCore reads the name of a core dump's file.
func parseCore(file string) (core, bool) {
	fields := strings.Split(file, ".")
	if len(fields) < 6 || len(fields) > 7 || fields[0] != "core" || fields[1] == "" {
		return core{}, false
	}
	pid, err1 := strconv.ParseUint(fields[4], 10, 32)
	at, err2 := strconv.ParseUint(fields[5], 10, 64)
	if err1 != nil || err2 != nil {
		return core{}, false
	}
	c := core{command: fields[1], pid: strconv.FormatUint(pid, 10), time: at, file: file}
	if len(fields) == 7 {
		c.ending = "." + oddRunes.ReplaceAllString(fields[6], "_")
	}
	return c, true
}

// name is the dump's name in the archive; it says how it is compressed.
func (c core) name() string {
	return "coredump_exe_" + oddRunes.ReplaceAllString(c.command, "_") + "_pid_" + c.pid + c.ending
}

// coreDumps lists the core dumps of the host, and what is left out of them.
func (s Sources) coreDumps() (files []File, leftOut error) {
	folder := s.Dir.Path(coreFolder)
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var cores []core
	for _, entry := range entries {
		if c, ok := parseCore(entry.Name()); ok && entry.Type().IsRegular() {
			cores = append(cores, c)
		}
	}
	slices.SortFunc(cores, func(a, b core) int { return cmp.Or(cmp.Compare(b.time, a.time), cmp.Compare(a.file, b.file)) })
	errs := []error{err}
	for _, c := range cores {
		info, err := os.Lstat(filepath.Join(folder, c.file))
		switch {
		case err != nil:
			errs = append(errs, err)
		case slices.Contains(secretive, c.command):
			errs = append(errs, fmt.Errorf("%s (%d bytes) stays on the host: it may hold secrets", c.name(), info.Size()))
		case info.Size() > maxCore:
			errs = append(errs, fmt.Errorf("%s is too large: %d bytes", c.name(), info.Size()))
		case len(files) == maxCores:
			errs = append(errs, fmt.Errorf("%s stays on the host: only the newest %d are sent", c.name(), maxCores))
		default:
			files = append(files, diskFile(c.name(), filepath.Join(folder, c.file), info.Size()))
		}
	}
	return files, errors.Join(errs...)
}

// diskFile is a file of the host as it is.
func diskFile(name, path string, size int64) File {
	return File{Name: name, Size: size, Open: func() (io.ReadCloser, error) { return os.Open(path) }}
}
