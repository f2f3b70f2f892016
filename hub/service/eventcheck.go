package service

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/wire"
)

// Bounds of an event that somebody else saw, in bytes. The hub's own have less than half.
const (
	// MaxMessage is the longest message.
	MaxMessage = 4 << 10
	// MaxProps is the longest list of properties.
	MaxProps  = 4 << 10
	maxName   = 128
	maxHeader = 128
)

// maxAhead is how far the clock of who saw an event may be ahead of the hub's. An event of
// the far future would be on top of the timeline, and be kept, until then.
const maxAhead = 5 * time.Minute

var (
	severities = []string{wire.EventSeverityInfo, wire.EventSeverityWarning, wire.EventSeverityError, wire.EventSeverityCritical}
	categories = []string{"", wire.EventCategoryUser, wire.EventCategoryMetrics}
)

// ours are events by which the hub itself knows something: of a cluster that was removed
// nothing else is left. Nobody else may tell of it.
var ours = []string{"cluster_deregistered"}

// checkEvent refuses an event that the timeline should not keep: without message or with a
// severity that nobody can ask for, longer than any that says something, of a time that
// has not come.
func checkEvent(e wire.Event, now time.Time) error {
	switch {
	case slices.Contains(ours, e.Name):
		return apierror.BadRequest("the hub alone tells of %s; choose another name", e.Name)
	case e.Message == "" || e.Severity == "":
		return apierror.BadRequest("an event needs a message and a severity")
	case !slices.Contains(severities, e.Severity):
		return apierror.BadRequest("severity %.40q: want %s", e.Severity, strings.Join(severities, ", "))
	case !slices.Contains(categories, e.Category):
		return apierror.BadRequest("category %.40q: want user or metrics", e.Category)
	case e.EventTime.After(now.Add(maxAhead)):
		return apierror.BadRequest("event_time %s: it is %s here; set the clock of who sends it, or leave the time out", e.EventTime.UTC().Format(time.RFC3339), now.UTC().Format(time.RFC3339))
	case e.Props != "" && !isObject(e.Props):
		return apierror.BadRequest("props: want a JSON object")
	}
	for _, part := range []struct {
		name, text string
		most       int
	}{{"message", e.Message, MaxMessage}, {"props", e.Props, MaxProps}, {"name", e.Name, maxName}, {"request_id", e.RequestID, maxHeader}} {
		if len(part.text) > part.most {
			return apierror.BadRequest("%s has %d bytes, more than %d", part.name, len(part.text), part.most)
		}
	}
	for name, id := range map[string]*string{"cluster_id": e.ClusterID, "host_id": e.HostID, "infra_env_id": e.InfraEnvID} {
		if id != nil && (len(*id) != len(uuid.Nil.String()) || uuid.Validate(*id) != nil) {
			return apierror.BadRequest("%s %.40q is not a UUID", name, *id)
		}
	}
	return nil
}

func isObject(text string) bool {
	var o map[string]any
	return json.Unmarshal([]byte(text), &o) == nil && o != nil
}
