package settle

import (
	"github.com/ironflow/ironflow/hub/operators"
	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// supervise notes who reports the end of the installation that begins, and where its hosts are configured from: the source
// said so when it made the cluster's files.
func (w *Work) supervise(c *store.Cluster, p *proven) {
	c.Supervised, c.Routed, c.Completed, c.API.MonitoredOperators = p.ending == sources.EndsInside, false, false, nil
	c.Stays, c.Served = c.Supervised && p.stays, p.served
	if !c.Supervised || c.API.OpenshiftVersion == "" {
		return // only a release has operators of its own
	}
	c.API.MonitoredOperators = append(operators.Own(c.API.ID), w.chosen(c)...)
}

// chosen are the operators beside the release that the cluster gets, not reported on yet.
func (w *Work) chosen(c *store.Cluster) []wire.MonitoredOperator {
	all, _ := w.OperatorsOf(c)
	return w.Operators.Monitored(c.API.ID, all)
}

// NoteOperators writes into the record which operators beside the release the cluster gets.
// It is for clusters whose installation has not begun.
func (w *Work) NoteOperators(c *store.Cluster) { c.API.MonitoredOperators = w.chosen(c) }
