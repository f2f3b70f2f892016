package machine

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/ironflow/ironflow/api/names"
)

// Figures of the plugin: progress becomes a heartbeat at a new stage and each
// 10 %, but not more often than every 10 s.
const (
	beatEvery   = 10 * time.Second
	beatPercent = 10
	maxMessage  = 255
)

// heardByHub are the steps whose agent the hub hears itself; heartbeats would
// only cost Ironic time.
var heardByHub = map[string]bool{names.StartAssistedInstall: true, names.ConfirmInstall: true}

// beats chooses which lines of progress become heartbeats.
type beats struct {
	// mark tells one deployment's text from the next one's: Ironic keeps it.
	mark    string
	sent    time.Time
	stage   string
	percent int
}

func newBeats(node json.RawMessage, now time.Time) *beats {
	var ids struct {
		Instance string `json:"instance_uuid"`
		UUID     string `json:"uuid"`
	}
	_ = json.Unmarshal(node, &ids) // a node without an id has an empty mark
	id := ids.Instance
	if id == "" {
		id = ids.UUID
	}
	return &beats{mark: fmt.Sprintf("%.8s %s", id, now.UTC().Format("15:04:05Z"))}
}

// message returns the heartbeat's text for the line, if it is due.
func (b *beats) message(now time.Time, stage string, percent int, text string) (string, bool) {
	if !b.sent.IsZero() {
		if now.Sub(b.sent) < beatEvery || stage == b.stage && percent < b.percent+beatPercent {
			return "", false
		}
	}
	b.sent, b.stage, b.percent = now, stage, percent
	return cut(fmt.Sprintf("%s %d%% %s [%s]", stage, percent, text, b.mark), maxMessage), true
}
