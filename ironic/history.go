package ironic

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// historyDepth is how many of the newest entries are read: an operation that
// fails leaves two to four.
const historyDepth = 20

// historyEntry is one event of a node's history (API 1.78).
type historyEntry struct {
	CreatedAt time.Time `json:"created_at"`
	Severity  string    `json:"severity"`
	EventType string    `json:"event_type"`
	Event     string    `json:"event"`
}

// FailureReason returns the text of the node's newest error that was recorded
// after since (by Ironic's clock), in full length; empty when there is none. It
// knows what last_error often does not: that field is cut, and erased when the
// clean-up powers a machine with virtual media off.
func (g *Gateway) FailureReason(ctx context.Context, uuid string, since time.Time) (string, error) {
	query := url.Values{
		"detail": {"true"}, "sort_key": {"created_at"}, "sort_dir": {"desc"},
		"limit": {strconv.Itoa(historyDepth)},
	}
	var answer struct {
		History []historyEntry `json:"history"`
	}
	err := g.do(ctx, call{
		op: "get history", node: uuid, method: http.MethodGet,
		path: nodePath(uuid, "history") + "?" + query.Encode(), into: &answer,
	})
	if err != nil {
		return "", err
	}
	return g.redactor.clean(newestError(answer.History, since), nil), nil
}

// newestError picks the newest entry of severity ERROR after since. Order and
// equal times are not relied on: of equal ones the first listed wins.
func newestError(entries []historyEntry, since time.Time) string {
	var newest historyEntry
	for _, e := range entries {
		if e.Severity == "ERROR" && e.isAfter(since) && e.CreatedAt.After(newest.CreatedAt) {
			newest = e
		}
	}
	return newest.Event
}

// isAfter compares with the precision that the entry has: some databases keep
// whole seconds only.
func (e historyEntry) isAfter(since time.Time) bool {
	if e.CreatedAt.Nanosecond() == 0 {
		return !e.CreatedAt.Before(since.Truncate(time.Second))
	}
	return e.CreatedAt.After(since)
}

// restartText is in the error of operations that a starting conductor failed,
// because it found them cut off by its own end.
const restartText = "state can't be resumed by conductor"

// syncText begins the error of Ironic's own queries of power, which it makes every minute.
const syncText = "During sync_power_state"

// LostSight reports whether an error text says that Ironic does not learn from the BMC any more whether the
// machine is on. It takes the place of any other text, and stays when the BMC answers again: it says
// nothing about a change of power that Ironic was asked for before.
func LostSight(text string) bool { return strings.HasPrefix(text, syncText) }

// maintenanceText ends the error of an operation that Ironic has failed because it found its node in maintenance.
const maintenanceText = "aborted as node is in maintenance mode"

// FailedByMaintenance reports whether an error text says that an operation failed because its node was in
// maintenance: it was so before.
func FailedByMaintenance(text string) bool { return strings.HasSuffix(text, maintenanceText) }

// FailedByRestart reports whether an error text says that an operation was cut
// off by a restart of Ironic's conductor: nothing is wrong with the machine, and
// the operation can be asked for again at once.
func FailedByRestart(text string) bool { return strings.Contains(text, restartText) }
