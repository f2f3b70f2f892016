// Package foreign asks the host's container engine how an installer that is not
// ours has ended. Such an installer stops the agent's unit when it is done, as
// ours does, but writes no done marker: the exit status of its container, which
// it leaves within a minute, takes the marker's place.
package foreign

import (
	"context"
	"fmt"
	"time"
)

const (
	// container is the name that agents of this protocol give to their installer.
	container = "assisted-installer"
	// unit runs the question on the host, where podman sees its containers.
	unit = "ironflow-ask-installer.service"
	// limit is how long the installer may take to end after it has stopped the agent.
	limit = time.Minute
)

// Host runs a command on the host, outside of any container.
type Host interface {
	// Run runs the command under the unit's name and tells whether it ended with
	// exit status 0 within the limit.
	Run(ctx context.Context, unit string, argv []string, limit time.Duration) (bool, error)
}

// Installed tells whether an installer that began after the given moment ended
// with exit status 0. A host without podman, without such a container, or one
// that cannot be asked has none.
func Installed(ctx context.Context, host Host, began time.Time) bool {
	ok, err := host.Run(ctx, unit, []string{"/bin/sh", "-c", script(began)}, limit+10*time.Second)
	return ok && err == nil
}

// script waits for the container. One that is gone already, because it was
// started with --rm, is found among the events.
func script(began time.Time) string {
	return fmt.Sprintf(`code=$(timeout %d podman wait %[2]s) || code=$(podman events --stream=false --since %[3]d `+
		`--filter container=%[2]s --filter event=died --format '{{.ContainerExitCode}}' | tail -n 1); [ "$code" = 0 ]`,
		int(limit.Seconds()), container, began.Unix())
}
