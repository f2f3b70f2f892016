// Command record takes the inventory of the machine that it runs on and writes
// what was read for it: into a folder as a recording, or as one piece of JSON
// into a file that is there already, such as a device that leads out of a
// virtual machine. It is static, so that it can be the only program there.
//
//	record FOLDER|FILE
//	record --unpack FILE FOLDER    turn the one piece into a recording
//	record --compare               hold what ioctls answer against what files and netlink say
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/ironflow/ironflow/agent/inventory"
	"github.com/ironflow/ironflow/agent/inventory/gpus"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/source"
	"github.com/ironflow/ironflow/test/machines"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 1 && args[0] == "--compare":
		return compare(os.Stdout, source.Live(hostfile.Dir{}))
	case len(args) == 1:
		bundle, err := record()
		if err != nil {
			return err
		}
		return write(bundle, args[0])
	case len(args) == 3 && args[0] == "--unpack":
		return unpack(args[1], args[2]) //nolint:gosec // there are three
	default:
		return errors.New("usage: record FOLDER|FILE, record --unpack FILE FOLDER, or record --compare")
	}
}

func record() (machines.Bundle, error) {
	recorder := machines.NewRecorder(source.Live(hostfile.Dir{}))
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	if _, err := inventory.Gather(context.Background(), inventory.Machine(recorder.Machine(), gpus.Defaults()), log); err != nil {
		return machines.Bundle{}, err
	}
	return recorder.Bundle(), nil
}

// unpack turns a bundle in one piece into a recording.
func unpack(from, to string) error {
	raw, err := os.ReadFile(from) //nolint:gosec // the caller names the file
	if err != nil {
		return err
	}
	var bundle machines.Bundle
	if err := json.Unmarshal(raw, &bundle); err != nil {
		return err
	}
	return write(bundle, to)
}

// write writes one piece into a file that is there, else a recording.
func write(bundle machines.Bundle, to string) error {
	to = filepath.Clean(to)
	if info, err := os.Stat(to); err == nil && !info.IsDir() { //nolint:gosec // the caller names the file
		raw, err := json.Marshal(bundle)
		if err != nil {
			return err
		}
		return os.WriteFile(to, append(raw, '\n'), 0o600) //nolint:gosec // as above
	}
	kernel, err := bundle.KernelJSON()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o755); err != nil { //nolint:gosec // as above
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(to, machines.FilesName), []byte(bundle.Files), 0o644), //nolint:gosec // as above
		os.WriteFile(filepath.Join(to, machines.KernelName), kernel, 0o644),              //nolint:gosec // as above
	)
}
