// Package foreign is the step's side of an installer that is not ours: it runs in a
// container on the host, stops the agent's unit when it is done, as ours does, but
// writes no done marker. The exit status of its container, which it leaves within a
// minute, takes the marker's place; and whoever gives up ends the container, because
// it outlives the agent's unit. The main type is [Installer].
package foreign

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	// container is the name that agents of this protocol give to their installer.
	container = "assisted-installer"
	// unit runs what is asked of the host's container engine on the host, where
	// podman sees its containers.
	unit = "ironflow-ask-installer.service"
	// limit is how long the installer may take to end after it has stopped the agent.
	limit = time.Minute
	// stopGrace is what it gets to stop before it is killed, stopLimit what podman gets.
	stopGrace = 5 * time.Second
	stopLimit = 30 * time.Second
)

// Host runs a command on the host, outside of any container.
type Host interface {
	// Run runs the command under the unit's name and tells whether it ended with
	// exit status 0 within the limit.
	Run(ctx context.Context, unit string, argv []string, limit time.Duration) (bool, error)
}

// Installer is the container of a foreign installer on a host. A host without podman
// has none.
type Installer struct {
	Host Host
}

// errPodman is for a container engine that does not do what it is told.
var errPodman = fmt.Errorf("podman failed to stop the container %s, or took longer than %v", container, stopLimit)

// Installed tells whether an installer that began after the given moment ended
// with exit status 0. A host without podman, without such a container, or one
// that cannot be asked has none.
func (i Installer) Installed(ctx context.Context, began time.Time) bool {
	ok, err := i.run(ctx, ended(began), limit+10*time.Second)
	return ok && err == nil
}

// Stop ends the installer, whatever it is doing. Its container stays, with its last
// words for the logs.
func (i Installer) Stop(ctx context.Context) error { return i.order(ctx, stop) }

// Remove ends the installer and removes its container, so that nothing of it can be
// taken for a later one's.
func (i Installer) Remove(ctx context.Context) error {
	return i.order(ctx, stop+" && podman rm --force --ignore "+container)
}

func (i Installer) order(ctx context.Context, script string) error {
	ok, err := i.run(ctx, "command -v podman >/dev/null || exit 0; "+script, stopLimit)
	if err == nil && !ok {
		err = errPodman
	}
	return err
}

func (i Installer) run(ctx context.Context, script string, limit time.Duration) (bool, error) {
	if i.Host == nil {
		return false, errors.ErrUnsupported
	}
	return i.Host.Run(ctx, unit, []string{"/bin/sh", "-c", script}, limit)
}

var stop = fmt.Sprintf("podman stop --ignore --time %d %s", int(stopGrace.Seconds()), container)

// ended waits for the container and succeeds if it began after the moment and ended
// with 0. The name may be taken by the container of an earlier attempt, for which
// podman answers at once. One that is gone already, because it was started with
// --rm, is found among the events. systemd itself replaces what is in curly brackets
// behind a dollar sign, so there is none.
func ended(began time.Time) string {
	return fmt.Sprintf(`code=$(timeout %d podman wait %[2]s) && began=$(podman inspect --format '{{.State.StartedAt.Unix}}' %[2]s) || `+
		`{ began=%[3]d; code=$(podman events --stream=false --since %[3]d `+
		`--filter container=%[2]s --filter event=died --format '{{.ContainerExitCode}}' | tail -n 1); }; `+
		`[ "$code" = 0 ] && [ "$began" -ge %[3]d ]`,
		int(limit.Seconds()), container, began.Unix())
}
