package polls_test

import (
	"context"
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/polls"
	"github.com/ironflow/ironflow/hub/store"
)

// table notes what is stored.
type table struct {
	store.Store
	units []*store.Unit
	err   error
}

func (t *table) Commit(_ context.Context, u *store.Unit) error {
	if t.err == nil {
		t.units = append(t.units, u)
	}
	return t.err
}

func TestFlushStoresWhatMoved(t *testing.T) {
	g := NewWithT(t)
	var b polls.CheckIns
	s := &table{}
	now := time.Unix(1000, 0).UTC()
	one, other := store.HostKey{InfraEnvID: "e", HostID: "1"}, store.HostKey{InfraEnvID: "e", HostID: "2"}
	_, known := b.Last(one)
	g.Expect(known).To(BeFalse())
	b.Note(one, now, 7)
	b.Note(other, now, 0)
	b.Note(one, now.Add(time.Second), 0)
	last, _ := b.Last(one)
	g.Expect(last).To(Equal(store.CheckIn{Host: one, At: now.Add(time.Second), Clock: 7}))
	g.Expect(b.Flush(t.Context(), s, now)).To(Succeed())
	g.Expect(s.units).To(HaveLen(1), "many hosts, one unit")
	g.Expect(s.units[0].CheckIns).To(ConsistOf(
		store.CheckIn{Host: one, At: now.Add(time.Second), Clock: 7}, store.CheckIn{Host: other, At: now}))
	g.Expect(b.Flush(t.Context(), s, now)).To(Succeed())
	g.Expect(s.units).To(HaveLen(1), "nothing has moved")

	b.Note(one, now.Add(time.Minute), 8)
	s.err = errors.New("away")
	g.Expect(b.Flush(t.Context(), s, now)).To(MatchError("away"))
	s.err = nil
	g.Expect(b.Flush(t.Context(), s, now)).To(Succeed())
	g.Expect(s.units[1].CheckIns).To(ConsistOf(store.CheckIn{Host: one, At: now.Add(time.Minute), Clock: 8}))
}

func TestHostsThatLeftAreForgotten(t *testing.T) {
	g := NewWithT(t)
	var b polls.CheckIns
	s := &table{}
	now := time.Unix(1000, 0).UTC()
	key := store.HostKey{InfraEnvID: "e", HostID: "1"}
	b.Note(key, now, 0)
	s.err = errors.New("away")
	g.Expect(b.Flush(t.Context(), s, now.Add(2*time.Hour))).NotTo(Succeed())
	_, known := b.Last(key)
	g.Expect(known).To(BeTrue(), "what is not stored is kept")
	s.err = nil
	g.Expect(b.Flush(t.Context(), s, now.Add(2*time.Hour))).To(Succeed())
	g.Expect(b.Flush(t.Context(), s, now.Add(2*time.Hour))).To(Succeed())
	_, known = b.Last(key)
	g.Expect(known).To(BeFalse())
}
