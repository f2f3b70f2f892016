package model

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/bits"
	"slices"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/plan"
	"github.com/ironflow/ironflow/ironic"
)

// hash tells worlds apart. Clocks, versions and counters that nothing is decided by do
// not count: of times, only which of those that are compared is the later.
func (w *World) hash() uint64 {
	var b bytes.Buffer
	var times []time.Time
	for _, id := range sortedKeys(w.nodes) {
		n := w.nodes[id]
		times = append(times, n.UpdatedAt, n.ProvisionUpdatedAt, n.InspectionFinishedAt)
	}
	for _, key := range w.hosts() {
		times = append(times, w.host(key).Status.OperationHistory.Inspect.Start.Time)
		times = append(times, timesIn(w.host(key).Annotations["ironflow.io/rebooting"])...)
	}
	slices.SortFunc(times, time.Time.Compare)
	rank := func(t time.Time) int { return slices.IndexFunc(times, func(o time.Time) bool { return o.Equal(t) }) }
	out := json.NewEncoder(&b)
	for _, key := range w.hosts() {
		h := w.host(key)
		fmt.Fprintln(&b, key.Name, h.UID, h.DeletionTimestamp != nil, h.Finalizers, w.woken[key], w.asked[key], w.before[key] != nil,
			rank(h.Status.OperationHistory.Inspect.Start.Time), w.errors[key])
		if due, is := w.timers[key]; is {
			fmt.Fprintln(&b, bits.Len(uint(max(due.Sub(w.Now), 0)/time.Minute)))
		}
		for _, t := range timesIn(h.Annotations["ironflow.io/rebooting"]) {
			fmt.Fprintln(&b, rank(t))
		}
		_ = out.Encode([]map[string]string{h.Annotations, h.Labels})
		_ = out.Encode(h.Spec)
		_ = out.Encode(bare(h))
		_ = out.Encode(w.memories[key])
		fmt.Fprintln(&b, w.memories[key].Off.From.After(w.Now))
	}
	for _, id := range sortedKeys(w.nodes) {
		n := *w.nodes[id]
		fmt.Fprintln(&b, rank(n.UpdatedAt), rank(n.ProvisionUpdatedAt), rank(n.InspectionFinishedAt), n.password, n.silent, n.wish, n.inspect, n.restarts, n.chosen, n.abandoned, n.address, n.unseen, n.unabortable, n.begun)
		if order := plan.OrderOf(&n.Node); order != nil {
			fmt.Fprintln(&b, order.Moved(&n.Node), order.Since.Before(n.ProvisionUpdatedAt))
		}
		n.UpdatedAt, n.ProvisionUpdatedAt, n.InspectionFinishedAt, n.CreatedAt = time.Time{}, time.Time{}, time.Time{}, time.Time{}
		n.Agent = ironic.AgentInfo{}
		_ = out.Encode(n.Node)
	}
	for _, address := range sortedKeys(w.machines) {
		fmt.Fprintln(&b, address, w.machines[address])
	}
	for _, key := range w.hosts() {
		h := w.host(key)
		if n := w.nodes[h.Status.Provisioning.ID]; n != nil {
			fmt.Fprintln(&b, nodespec.OfAnotherTime(h, &n.Node))
			if order := plan.OrderOf(&n.Node); order != nil {
				fmt.Fprintln(&b, order.Taken(&h.Status), order.Since.Equal(w.memories[key].Unasked))
			}
		}
	}
	fmt.Fprintln(&b, w.users, w.faults, w.ports, w.redirect, w.tenants, w.rows != nil, w.doubt, w.firmware, w.only, w.limited, w.resumed, w.line)
	w.hashBehind(&b)
	w.hashSecrets(&b)
	sum := fnv.New64a()
	_, _ = sum.Write(withoutTimes(b.Bytes())) // a hash takes everything
	return sum.Sum64()
}

// hashBehind is what backups hold, and what a watch shows that is behind.
func (w *World) hashBehind(b *bytes.Buffer) {
	out := json.NewEncoder(b)
	for _, key := range w.hosts() {
		for _, state := range backedUp {
			if copied := w.saved[backup{key, state}]; copied.host != nil {
				old := copied.host
				fmt.Fprintln(b, state, old.UID, copied.destroy, copied.installs == w.installs[systemOf(old)], copied.works == w.works[key], w.fresh[key])
				for _, id := range sortedKeys(w.nodes) {
					fmt.Fprintln(b, nodespec.OfAnotherTime(old, &w.nodes[id].Node))
				}
				_ = out.Encode([]map[string]string{old.Annotations, old.Labels})
				_ = out.Encode(old.Spec)
				_ = out.Encode(bare(old))
			}
		}
	}
	for _, id := range sortedKeys(w.rows) {
		row := w.rows[id]
		row.Agent = ironic.AgentInfo{}
		_ = out.Encode(row)
	}
}

func (w *World) hashSecrets(b *bytes.Buffer) {
	for _, name := range []string{"bmc", "bmc-b"} {
		if s, found := w.objects[objectKey{"Secret", named(name)}]; found {
			fmt.Fprintln(b, name, s.GetResourceVersion(), s.GetFinalizers())
		}
	}
	for _, key := range w.hosts() {
		fmt.Fprintln(b, w.objects[objectKey{"HardwareData", key}] != nil)
	}
}

// bare is a status without what is only told.
func bare(h *metal3.BareMetalHost) *metal3.BareMetalHostStatus {
	s := h.Status
	s.OperationHistory = metal3.OperationHistory{}
	if s.LastUpdated != nil {
		s.LastUpdated = &metav1.Time{}
	}
	s.Conditions = slices.Clone(s.Conditions)
	for i := range s.Conditions {
		c := &s.Conditions[i]
		c.ObservedGeneration -= h.Generation
		c.LastTransitionTime = metav1.Time{}
	}
	return &s
}

// stampLength is that of a time up to its seconds.
const stampLength = len("2026-01-02T12:00:00")

// timeAt is how long the time is that begins at i; 0 for none.
func timeAt(text []byte, i int) int {
	if i+stampLength >= len(text) || text[i] != '2' || text[i+1] != '0' || text[i+4] != '-' || text[i+7] != '-' || text[i+10] != 'T' {
		return 0
	}
	for n := i + stampLength; n < len(text); n++ {
		if text[n] == 'Z' {
			return n + 1 - i
		}
		if text[n] != '.' && (text[n] < '0' || text[n] > '9') {
			return 0
		}
	}
	return 0
}

// withoutTimes is a text with all times the same.
func withoutTimes(text []byte) []byte {
	out := text[:0]
	for i := 0; i < len(text); {
		if n := timeAt(text, i); n > 0 {
			out = append(out, 'T')
			i += n
			continue
		}
		out = append(out, text[i])
		i++
	}
	return out
}

// timesIn are the times in a text.
func timesIn(text string) []time.Time {
	var list []time.Time
	raw := []byte(text)
	for i := range raw {
		if n := timeAt(raw, i); n > 0 {
			if t, err := time.Parse(time.RFC3339Nano, string(raw[i:i+n])); err == nil {
				list = append(list, t)
			}
		}
	}
	return list
}
