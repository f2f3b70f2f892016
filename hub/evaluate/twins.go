package evaluate

import (
	"time"

	"github.com/ironflow/ironflow/hub/store"
)

// TwinTime is how long two machines that say that they are one host are remembered after
// they were last seen to be two.
const TwinTime = 10 * time.Minute

// Twin tells why the host is two machines; empty where it is one.
func (e Evaluator) Twin(h *store.Host) string {
	if h.Twin == nil || e.Now.Sub(h.Twin.SeenAt) > TwinTime {
		return ""
	}
	return h.Twin.Why
}
