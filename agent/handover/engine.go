package handover

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/agent/probe/images"
	"github.com/ironflow/ironflow/api/hostfile"
)

const (
	// container is the name of the one that a program is copied out of.
	container = "ironflow-agent-upgrade"
	// removal bounds its removal, which must not hold up an agent that is stopped.
	removal = 5 * time.Second
	// maxProgram bounds the program of an image; the existing agent has 53 MB.
	maxProgram = 256 << 20
)

// Engine is the host's container engine.
type Engine struct {
	Dir      hostfile.Dir
	Commands command.Runner
}

// Pull pulls the image.
func (e Engine) Pull(ctx context.Context, image string) error {
	if err := e.run(ctx, nil, "pull", "--quiet", image); err != nil {
		return fmt.Errorf("pull %s: %w", image, err)
	}
	return nil
}

// Extract pulls the image and copies one of its programs to a host path.
func (e Engine) Extract(ctx context.Context, image, program, to string) (err error) {
	if err := e.Pull(ctx, image); err != nil {
		return err
	}
	if err := e.run(ctx, nil, "create", "--replace", "--name", container, "--pull=never", "--network=none", image, program); err != nil {
		return fmt.Errorf("look into %s: %w", image, err)
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removal)
		defer cancel()
		err = errors.Join(err, e.run(ctx, nil, "rm", "--force", container))
	}()
	reader, writer := io.Pipe()
	copied := make(chan error, 1)
	go func() {
		err := e.run(ctx, writer, "cp", container+":"+program, "-")
		_ = writer.CloseWithError(err) // never fails
		copied <- err
	}()
	err = unpack(reader, e.Dir.Path(to))
	_ = reader.CloseWithError(io.ErrClosedPipe) // frees the engine when the archive was refused
	if failed := <-copied; failed != nil && (err == nil || errors.Is(err, failed)) {
		err = failed
	}
	if err != nil {
		return fmt.Errorf("take %s out of %s: %w", program, image, err)
	}
	return nil
}

func (e Engine) run(ctx context.Context, out io.Writer, args ...string) error {
	return e.Commands.Run(ctx, command.Command{Name: "podman", Args: args, Env: images.Environment(), Stdout: out})
}

// unpack writes the only file of a tar archive, as a program, to the path. A
// reader of the path sees the old or the new program, never a part.
func unpack(r io.Reader, path string) error {
	archive := tar.NewReader(r)
	header, err := archive.Next()
	if err != nil {
		return err
	}
	if header.Typeflag != tar.TypeReg {
		return fmt.Errorf("%q is no file", header.Name)
	}
	if header.Size > maxProgram {
		return fmt.Errorf("%q has %d bytes, more than %d", header.Name, header.Size, maxProgram)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = io.Copy(tmp, archive) //nolint:gosec // the archive's reader gives no more than the size that was checked
	if err := errors.Join(err, tmp.Chmod(0o755), tmp.Close()); err != nil {
		return err
	}
	// To the end, so that the engine does not fail for a reader that has gone.
	if _, err := io.Copy(io.Discard, r); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}
