// Package hostconfig is the list of the hosts that have the role, the disk and all else that the
// image says of them. Who sets these at the hub writes it, who starts the installation reads it: a
// host that was removed from the hub and has registered again has none of it, and must not be
// installed before.
package hostconfig

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/hub/wire"
)

// Record is a host as a hub has it: one that was removed and has registered again is another.
type Record string

// Of returns the host's record.
func Of(h *wire.Host) Record {
	return Record(h.ID + " " + h.CreatedAt.UTC().Format(time.RFC3339Nano))
}

// Applied are the hosts that have it all; nil where nobody keeps the list.
type Applied map[Record]bool

// Read returns those that were written; nil before.
func Read(dir hostfile.Dir) (Applied, error) {
	raw, err := os.ReadFile(dir.Path(places.HostConfigApplied))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // nobody keeps it, which is an answer
	}
	if err != nil {
		return nil, err
	}
	all := Applied{}
	for line := range strings.Lines(string(raw)) {
		all[Record(strings.TrimSpace(line))] = true
	}
	return all, nil
}

// Write replaces the list.
func (a Applied) Write(dir hostfile.Dir) error {
	var lines []string
	for record := range a {
		lines = append(lines, string(record)+"\n")
	}
	slices.Sort(lines)
	return places.Write(dir, places.HostConfigApplied, []byte(strings.Join(lines, "")), 0o644)
}

// Missing are the hosts that have not got all of it; none where nobody knows.
func (a Applied) Missing(hosts []wire.Host) (missing []*wire.Host) {
	for i := range hosts {
		if a != nil && !a[Of(&hosts[i])] {
			missing = append(missing, &hosts[i])
		}
	}
	return missing
}
