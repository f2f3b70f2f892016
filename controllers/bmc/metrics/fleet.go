package metrics

import (
	"context"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	kclient "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
)

// figure is one of the fleet's: what a BMC counts for, by the values of the labels.
type figure struct {
	name, help string
	labels     []string
	of         func(b *v1alpha1.BMC) [][]string
}

// figures are counted when somebody asks: from the cache, so that they are never wrong
// after a restart and cost nothing in between.
var figures = []figure{
	{"ironflow_bmcs", "BMCs by status and reason of their condition Ready.", []string{"status", "reason"}, func(b *v1alpha1.BMC) [][]string {
		return condition(b, v1alpha1.Ready)
	}},
	{"ironflow_bmcs_health", "BMCs by status and reason of their condition Healthy, and by the domain of parts that is worst.", []string{"status", "reason", "domain"}, health},
	{"ironflow_bmcs_in_sync", "BMCs by whether what was asked for is what Ironic and the BMC show; False is drift.", []string{"status"}, func(b *v1alpha1.BMC) [][]string {
		return cut(condition(b, v1alpha1.InSync), 1)
	}},
	{"ironflow_bmcs_mismatches", "Wishes of hosts that their hardware cannot fulfil, by reason; overridden says that a person lets the host go on.", []string{"reason", "overridden"}, mismatches},
}

// condition is the status and reason of a condition, if the BMC has it.
func condition(b *v1alpha1.BMC, kind string) [][]string {
	c := meta.FindStatusCondition(b.Status.Conditions, kind)
	if c == nil {
		return nil
	}
	return [][]string{{string(c.Status), c.Reason}}
}

// cut keeps the first values of each.
func cut(list [][]string, n int) [][]string {
	for i := range list {
		list[i] = list[i][:n]
	}
	return list
}

// health adds the domain to the condition: the first one whose state is the reason.
func health(b *v1alpha1.BMC) [][]string {
	list := condition(b, v1alpha1.Healthy)
	for i := range list {
		domain := ""
		for _, d := range b.Status.Health {
			if string(d.State) == list[i][1] {
				domain = d.Domain
				break
			}
		}
		list[i] = append(list[i], domain)
	}
	return list
}

func mismatches(b *v1alpha1.BMC) [][]string {
	p := b.Status.Preflight
	if p == nil {
		return nil
	}
	list := make([][]string, 0, len(p.Mismatches))
	for _, m := range p.Mismatches {
		list = append(list, []string{m.Reason, fmt.Sprint(p.Overridden)})
	}
	return list
}

// fleet counts the BMCs.
type fleet struct {
	client kclient.Reader
	descs  []*prometheus.Desc
}

// RegisterFleet registers the figures of the fleet; c reads from a cache.
func RegisterFleet(r prometheus.Registerer, c kclient.Reader) error {
	f := &fleet{client: c}
	for _, one := range figures {
		f.descs = append(f.descs, prometheus.NewDesc(one.name, one.help, one.labels, nil))
	}
	if err := r.Register(f); err != nil {
		return fmt.Errorf("register metrics of the BMCs of the fleet: %w", err)
	}
	return nil
}

// Describe implements prometheus.Collector.
func (f *fleet) Describe(to chan<- *prometheus.Desc) {
	for _, d := range f.descs {
		to <- d
	}
}

// Collect implements prometheus.Collector. A cache that cannot answer (yet) gives
// no figures rather than wrong ones.
func (f *fleet) Collect(to chan<- prometheus.Metric) {
	var list v1alpha1.BMCList
	if err := f.client.List(context.Background(), &list, kclient.UnsafeDisableDeepCopy); err != nil {
		return
	}
	for i, one := range figures {
		counts := map[[3]string]int{}
		for j := range list.Items {
			for _, values := range one.of(&list.Items[j]) {
				var key [3]string
				copy(key[:], values)
				counts[key]++
			}
		}
		for key, n := range counts {
			to <- prometheus.MustNewConstMetric(f.descs[i], prometheus.GaugeValue, float64(n), key[:len(one.labels)]...)
		}
	}
}
