package coreos

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/coreosinstaller"
	"github.com/ironflow/ironflow/customdeploy/hostexec"
	"github.com/ironflow/ironflow/customdeploy/step"
)

// imageDir is where coreos-installer finds the image that the live system brings
// along, for --offline.
const imageDir = "/run/coreos-installer/osmet"

// errNoImage means that the live system cannot install itself.
var errNoImage = errors.New("this live image brings no image to install along (nothing in " + imageDir + "); set an image in the host's specification")

// ready is all that an installation needs, tried out: what is missing is found
// out before anything on a disk is touched.
type ready struct {
	plan         Plan
	ignitionFile string
	relay        *relay // nil without an image URL
	remove       func()
}

// makeReady tries out everything that the installation depends on: the program,
// the place for the Ignition config, the image.
func (s *Step) makeReady(ctx context.Context, req *step.Request, plan Plan) (*ready, error) {
	_, err := hostexec.Output(ctx, s.Exec, "coreos-installer", "--version")
	switch {
	case hostexec.Missing(err):
		return nil, coreosinstaller.ErrMissing
	case err != nil:
		return nil, err
	}
	r := &ready{plan: plan}
	if r.ignitionFile, r.remove, err = writeIgnition(req.Host, plan.Ignition); err != nil {
		return nil, fmt.Errorf("write the Ignition config: %w", err)
	}
	if plan.ImageURL == "" {
		err = hasImage(req.Host)
	} else if r.relay, err = newRelay(plan, req.Host); err == nil {
		err = r.relay.probe(ctx)
	}
	if err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

// hasImage looks for the live system's own image.
func hasImage(host hostfile.Dir) error {
	entries, err := os.ReadDir(host.Path(imageDir))
	if err != nil || len(entries) == 0 {
		return errNoImage
	}
	return nil
}

// args is coreos-installer's command line.
func (r *ready) args(disk string) []string {
	url := ""
	if r.relay != nil {
		url = r.relay.url
	}
	return r.plan.Args(disk, r.ignitionFile, url)
}

// imageFailure is what went wrong on the image's side of a failed installation.
func (r *ready) imageFailure(err error) error {
	if err == nil || r.relay == nil {
		return nil
	}
	return r.relay.failure()
}

func (r *ready) close() {
	if r.relay != nil {
		r.relay.close()
	}
	r.remove()
}

// writeIgnition puts the config, which may hold secrets, into a private file.
func writeIgnition(host hostfile.Dir, config []byte) (path string, remove func(), err error) {
	dir := host.Path(hostfile.RunDir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", nil, err
	}
	f, err := os.CreateTemp(dir, "config-*.ign") // mode 0600
	if err != nil {
		return "", nil, err
	}
	_, err = f.Write(config)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", nil, errors.Join(err, os.Remove(f.Name()))
	}
	return filepath.Join(hostfile.RunDir, filepath.Base(f.Name())), func() { _ = os.Remove(f.Name()) }, nil
}
