package fleet

import (
	"context"
	"encoding/json"

	"github.com/ironflow/ironflow/hub/settle"
	"github.com/ironflow/ironflow/hub/store"
)

// HostNames returns the names that the hosts have told of themselves; hosts that have not
// are left out. A list of hosts needs no more of their inventories.
func (f *Fleet) HostNames(ctx context.Context, keys []store.HostKey) (map[store.HostKey]string, error) {
	names := map[store.HostKey]string{}
	err := f.units.View(ctx, func(w *settle.Work) error {
		inventories, err := w.Reader.Inventories(keys)
		for key, text := range inventories {
			var told struct {
				Hostname string `json:"hostname"`
			}
			if json.Unmarshal([]byte(text), &told) == nil && told.Hostname != "" {
				names[key] = told.Hostname
			}
		}
		return err
	})
	return names, err
}
