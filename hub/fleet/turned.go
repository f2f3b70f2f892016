package fleet

import (
	"context"
	"errors"
	"net/http"
	"sync"

	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/unit"
	"github.com/ironflow/ironflow/hub/wire"
)

// closed puts off a host of a cluster that is being installed: agents ask again. Those of the
// existing kind stop for ever at 409, which other clients know for it.
func closed(r Registration, c *store.Cluster) error {
	if r.AgentVersion == "" { // each agent says its own
		return apierror.Conflict("cluster %s takes no new hosts: it is %s; register the host again once the cluster is installed and takes more, or is reset", c.API.Name, c.API.Status)
	}
	return apierror.Later("cluster %s takes no new hosts: it is %s; the host asks again until the cluster is installed and takes more, or is reset", c.API.Name, c.API.Status)
}

// mostTurned bounds how many hosts are remembered.
const mostTurned = 4096

// turned remembers what was said of hosts that may not register: their agents ask again
// every minute, and the timeline would be full of it. It is memory alone: after a restart
// it is said once more.
type turned struct {
	mu   sync.Mutex
	said map[store.HostKey]string
}

// news tells whether that was not said last of this host.
func (t *turned) news(key store.HostKey, text string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.said[key] == text {
		return false
	}
	if t.said == nil || len(t.said) >= mostTurned {
		t.said = map[store.HostKey]string{}
	}
	t.said[key] = text
	return true
}

func (t *turned) forget(key store.HostKey) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.said, key)
}

// turnedAway puts a registration on the timeline that was refused, or put off since the
// cluster is closed: else nobody learns that a machine waits, and for what.
func (f *Fleet) turnedAway(ctx context.Context, key store.HostKey, why error) {
	code := apierror.Code(why)
	if _, full := errors.AsType[*fullError](why); full {
		key.HostID = "" // said once for all of them: their ids may be made up
	}
	switch later := apierror.IsLater(why); {
	case why == nil:
		f.turned.forget(key)
	case !later && (code >= http.StatusInternalServerError || code == http.StatusNotFound), !f.turned.news(key, why.Error()):
	case later:
		e := wire.Event{Name: "host_registration_put_off", InfraEnvID: &key.InfraEnvID, Message: "New hosts wait"}
		if key.HostID != "" {
			e.HostID, e.Message = &key.HostID, "Host "+key.HostID+": it waits"
		}
		f.units.PutOff(ctx, why, e, unit.Props{"message": why.Error()})
	default:
		f.refused(ctx, key, why, wire.Event{Name: "host_registration_failed", Message: "registration refused"}, "message")
	}
}
