package service_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/filestore"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// cutStore is a store that can be away. As PostgreSQL does, it tells when announcements
// may have been missed.
type cutStore struct {
	store.Store
	away atomic.Bool
	tell func([]store.Change)
}

var errAway = errors.New("the database is away")

func (s *cutStore) View(ctx context.Context, f func(*store.Reader) error) error {
	if s.away.Load() {
		return errAway
	}
	return s.Store.View(ctx, f)
}

func (s *cutStore) Commit(ctx context.Context, u *store.Unit) error {
	if s.away.Load() {
		return errAway
	}
	return s.Store.Commit(ctx, u)
}

func (s *cutStore) Watch(f func([]store.Change)) func() {
	before := s.tell
	s.tell = func(changes []store.Change) {
		if before != nil {
			before(changes)
		}
		f(changes)
	}
	return s.Store.Watch(f)
}

func (s *cutStore) set(away bool) {
	s.away.Store(away)
	s.tell([]store.Change{{What: store.ChangedAll}})
}

// beginOver starts the hub's program over such a store, and with that clock.
func beginOver(t *testing.T, now func() time.Time) (*program, *cutStore) {
	t.Helper()
	g := NewWithT(t)
	dir := t.TempDir()
	records, err := store.OpenSQLite(t.Context(), filepath.Join(dir, "hub.sqlite"))
	g.Expect(err).NotTo(HaveOccurred())
	root, err := filestore.OpenDirectory(dir)
	g.Expect(err).NotTo(HaveOccurred())
	s := &cutStore{Store: records}
	hub, err := service.New(service.Options{Store: s, Files: root, Keys: testhub.Keys(), Now: now})
	g.Expect(err).NotTo(HaveOccurred())
	p := &program{world: &world{Hub: hub, WithT: g, t: t, ctx: t.Context()}, dir: dir}
	stop := p.watch()
	p.end = func() {
		stop()
		p.Expect(records.Close()).To(Succeed())
		p.Expect(root.Close()).To(Succeed())
	}
	return p, s
}

// TestClockThatJumps: a program that was suspended, or its machine, finds that minutes
// have passed in which it could hear nobody; so does one whose clock was set.
func TestClockThatJumps(t *testing.T) {
	for name, by := range map[string]time.Duration{
		"suspended for longer than a silence":   4 * time.Minute,
		"suspended for longer than a bootstrap": 6 * time.Minute,
		"suspended overnight":                   10 * time.Hour,
		"a clock that was an hour ahead":        -time.Hour,
		"a clock that was minutes ahead":        -4 * time.Minute,
	} {
		for kind, jump := range map[string]func(time.Time) time.Time{
			"with the program": func(t time.Time) time.Time { return t.Add(by) },
			"the wall clock":   func(t time.Time) time.Time { return t.Round(0).Add(by) },
		} {
			t.Run(name+", "+kind, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var jumped atomic.Bool
					p, _ := beginOver(t, func() time.Time {
						if jumped.Load() {
							return jump(time.Now())
						}
						return time.Now()
					})
					defer p.end()
					hosts := p.threeInstalling()
					pass(30 * time.Second)
					for _, h := range hosts {
						p.poll(h)
					}
					pass(20 * time.Second)
					jumped.Store(true)
					for range 10 {
						pass(50 * time.Second)
						p.Expect(p.statuses(hosts)).To(HaveEach(wire.HostStatusInstallingInProgress), p.info(hostB))
						for _, h := range hosts {
							p.poll(h)
							p.Expect(p.stage(h, wire.HostStageRebooting)).To(Succeed()) // what could not be told meanwhile
						}
					}
				})
			})
		}
	}
}

// TestStoreThatWasAway: while the store is away, polls are refused and nobody is
// heard; that is not held against the hosts, and whoever has died meanwhile is found after it.
func TestStoreThatWasAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, s := beginOver(t, nil)
		defer p.end()
		hosts := p.threeInstalling()
		s.set(true)
		for range 6 {
			pass(50 * time.Second)
			_, err := p.Instructions(p.ctx, key(hostA), service.Poll{})
			p.Expect(err).To(MatchError(errAway))
		}
		s.set(false)
		pass(50 * time.Second)
		p.Expect(p.statuses(hosts)).To(HaveEach(wire.HostStatusInstallingInProgress), p.info(hostB))
		pass(100 * time.Second)
		p.Expect(p.statuses(hosts)).To(HaveEach(wire.HostStatusInstallingInProgress), p.info(hostB))
		p.poll(hostA)
		pass(40 * time.Second)
		p.Expect(p.status(hostC)).To(Equal(wire.HostStatusError))
	})
}

// TestReplicaThatStartsAndDiesAllTheTime: what is lost with it are seconds, so it does not
// hide for ever that hosts are silent, and that limits are over.
func TestReplicaThatStartsAndDiesAllTheTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, s := beginOver(t, nil)
		defer p.end()
		p.threeInstalling()
		for life := range 3 * 25 {
			name := fmt.Sprint("life-", life)
			p.Expect(s.Commit(t.Context(), &store.Unit{Leases: []*store.Lease{{Name: "member/" + name, Holder: name}}})).To(Succeed())
			pass(20 * time.Second)
			if life < 6 {
				p.Expect(p.status(hostC)).To(Equal(wire.HostStatusInstallingInProgress))
			}
		}
		p.Expect(p.status(hostC)).To(Equal(wire.HostStatusError))
	})
}
