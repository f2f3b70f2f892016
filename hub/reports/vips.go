package reports

import (
	"slices"

	"github.com/ironflow/ironflow/hub/clustermachine"
	"github.com/ironflow/ironflow/hub/settle"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// storeVIPs notes whether the cluster's virtual addresses are free. Once the
// installation has begun, the cluster itself has them.
func storeVIPs(w *settle.Work, host *store.Host, reply wire.StepReply) error {
	var found wire.VerifyVIPsResponse
	if err := decode(reply, &found); err != nil {
		return err
	}
	c, err := w.ClusterOf(host)
	if err != nil || c == nil || !slices.Contains(clustermachine.Open, c.API.Status) {
		return err
	}
	changed := false
	note := func(ip wire.IP, was **wire.VIPVerification) {
		i := slices.IndexFunc(found, func(v wire.VerifiedVIP) bool { return v.VIP == ip })
		if i >= 0 && found[i].Verification != nil && (*was == nil || **was != *found[i].Verification) {
			*was, changed = found[i].Verification, true
		}
	}
	for i := range c.API.APIVIPs {
		note(c.API.APIVIPs[i].IP, &c.API.APIVIPs[i].Verification)
	}
	for i := range c.API.IngressVIPs {
		note(c.API.IngressVIPs[i].IP, &c.API.IngressVIPs[i].Verification)
	}
	if changed {
		w.TouchCluster(c)
	}
	return nil
}
