// Package reports brings to the hub, as events, what the console of this host says: who is
// far away reads the same as who stands before it. It lives apart from the programs that
// speak, because most of them end before there is a hub. The main type is [Program].
package reports

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/ironflow/ironflow/agent/agentbased/hubcalls"
	"github.com/ironflow/ironflow/agent/agentbased/messages"
	"github.com/ironflow/ironflow/agent/agentbased/pause"
	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/hub/wire"
)

const (
	every = 2 * time.Second
	// away is how long a hub that does not answer is left alone.
	away = 10 * time.Second
	// sent remembers, for this boot, what the hub has been told.
	sent = hostfile.RunDir + "/messages.sent.json"
)

// Hub takes events.
type Hub interface {
	AddEvent(ctx context.Context, e wire.Event) error
	// Close ends the connections: the hub is looked for anew with each news.
	Close()
}

// Program tells the hub of each message once.
type Program struct {
	Dir hostfile.Dir
	Log *slog.Logger
	// HostID and Hostname say who speaks; either may be empty for now.
	HostID   func() string
	Hostname func() string
	// Hub makes the hub of the settings; nil is the real one.
	Hub func(settings map[string]string) (Hub, error)
}

// Run looks until the context ends.
func (p Program) Run(ctx context.Context) error {
	told := map[string]messages.Note{}
	if err := p.Dir.Read(sent, &told); err != nil && !errors.Is(err, hostfile.ErrNoState) {
		p.Log.WarnContext(ctx, "what the hub has been told is not known; it is told again", "error", err)
		told = map[string]messages.Note{}
	}
	last := ""
	for {
		wait := every
		if err := p.tell(ctx, told); err != nil {
			if last != err.Error() {
				p.Log.InfoContext(ctx, "the hub is not told yet what the console says", "reason", err)
			}
			last, wait = err.Error(), away
		}
		if err := pause.For(ctx, wait); err != nil {
			return err
		}
	}
}

// tell sends what is new, in the order of the slots.
func (p Program) tell(ctx context.Context, told map[string]messages.Note) error {
	shown, err := p.shown()
	if err != nil {
		return err
	}
	// What was over and comes again is news.
	maps.DeleteFunc(told, func(slot string, _ messages.Note) bool { _, there := shown[slot]; return !there })
	var hub Hub
	var settings map[string]string
	for _, slot := range slices.Sorted(maps.Keys(shown)) {
		note := shown[slot]
		if told[slot] == note {
			continue
		}
		if hub == nil {
			if hub, settings, err = p.hub(); err != nil {
				return err
			}
			defer hub.Close()
		}
		e := p.event(note, settings)
		err := hub.AddEvent(ctx, e)
		if hubclient.Code(err) == http.StatusNotFound && e.HostID != nil {
			e.HostID = nil // it has not registered, and may be about to say why
			err = hub.AddEvent(ctx, e)
		}
		if code := hubclient.Code(err); err != nil && code != http.StatusBadRequest && code != http.StatusUnprocessableEntity {
			return err
		}
		if err != nil { // it will not take this one at any time
			p.Log.WarnContext(ctx, "the hub does not take a message of the console", "message", string(note.ID), "error", err)
		}
		told[slot] = note
		if err := p.Dir.Write(sent, told); err != nil {
			return err
		}
	}
	return nil
}

func (p Program) hub() (Hub, map[string]string, error) {
	settings, err := places.Settings(p.Dir)
	if err != nil {
		return nil, nil, err
	}
	if p.Hub != nil {
		h, err := p.Hub(settings)
		return h, settings, err
	}
	h, err := hubcalls.New(p.Dir, settings)
	return h, settings, err
}

// event is the message with the name of the host that says it.
func (p Program) event(n messages.Note, settings map[string]string) wire.Event {
	e := wire.Event{
		Name: messages.EventPrefix + string(n.ID), Category: wire.EventCategoryUser,
		Severity: string(n.Severity), Message: n.Text, EventTime: wire.At(time.Now()),
	}
	if name := p.Hostname(); name != "" {
		e.Message = "Host " + name + ": " + n.Text
	}
	cluster := settings[places.ClusterID]
	if places.Exists(p.Dir, places.AddNodes) {
		cluster = "" // it is what the running cluster calls itself; the hub knows it by another id
	}
	for _, id := range []struct {
		value string
		to    **string
	}{{p.HostID(), &e.HostID}, {settings[places.InfraEnvID], &e.InfraEnvID}, {cluster, &e.ClusterID}} {
		if id.value != "" {
			*id.to = new(id.value)
		}
	}
	return e
}

// shown are the messages that the console shows now.
func (p Program) shown() (map[string]messages.Note, error) {
	files, err := os.ReadDir(p.Dir.Path(messages.Notes))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	notes := map[string]messages.Note{}
	for _, f := range files {
		if f.Name()[0] == '.' {
			continue // being written
		}
		var note messages.Note
		if err := p.Dir.Read(messages.Notes+"/"+f.Name(), &note); err != nil {
			continue // cleared meanwhile; what is broken will be written anew
		}
		notes[f.Name()] = note
	}
	return notes, nil
}
