package rest

import (
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// What one host may have the hub keep: an agent's word costs a write, events that stay for
// a month, and the time of all others. A host that is installed says some hundred things in
// half an hour; one that boots again and again, some dozen a minute.
const (
	// budgetBurst is how many reports of a host are taken one after the other.
	budgetBurst = 600
	// budgetEvery is how often there may be another one after that.
	budgetEvery = time.Second
	// budgetBytes is how long a reply may be that counts as one report: a longer one takes that much more of the hub's time.
	// Inventories and reports of connectivity of most hosts are shorter.
	budgetBytes = 512 << 10
	// budgetKept bounds how many hosts are remembered: whoever has a token can name any number.
	budgetKept = 1 << 16
)

// budgets count what hosts report. They are memory of this replica alone. The zero value is ready.
type budgets struct {
	mu    sync.Mutex
	spent map[store.HostKey]budget
}

// budget is of one host. Until is when all of it will be there again.
type budget struct {
	until time.Time
	told  bool // that it is used up, since it was whole
}

// take uses up one report of a host. It returns how long the host has to wait for that, and
// whether this is to be said: zero and false when there was one left.
func (b *budgets) take(key store.HostKey, now time.Time) (wait time.Duration, tell bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	one := b.spent[key]
	if one.until.Before(now) {
		one = budget{until: now}
	}
	if over := one.until.Add(budgetEvery).Sub(now) - budgetBurst*budgetEvery; over > 0 {
		tell, one.told = !one.told, true
		b.spent[key] = one
		return over, tell
	}
	one.until = one.until.Add(budgetEvery)
	if b.spent == nil {
		b.spent = map[store.HostKey]budget{}
	}
	if _, known := b.spent[key]; !known && len(b.spent) >= budgetKept {
		b.forget(now)
	}
	b.spent[key] = one
	return 0, false
}

// charge uses up more reports of a host, for one that was taken and turned out to be long.
func (b *budgets) charge(key store.HostKey, more int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if one, known := b.spent[key]; known {
		one.until = one.until.Add(time.Duration(more) * budgetEvery)
		b.spent[key] = one
	}
}

// forget drops the budgets that are whole, or all where that is not enough.
func (b *budgets) forget(now time.Time) {
	for key, one := range b.spent {
		if one.until.Before(now) {
			delete(b.spent, key)
		}
	}
	if len(b.spent) >= budgetKept {
		clear(b.spent)
	}
}

// spend uses up one report of a host, by its agent or by the program inside its cluster.
// They take 429 as a reason to ask again.
func (r *request) spend(key store.HostKey) error {
	return r.spendFrom(key, "host", func() { r.sayBudget(key) })
}

// spendOnRegistration is spend for a registration. It is paid for by who the token says that the caller is, not by who it
// says that it is: a host could use up the budget of any other. One that proves nothing has a budget of its own.
func (r *request) spendOnRegistration(key store.HostKey) error {
	from := key
	switch own := r.caller.agent; {
	case own.HostID != "":
		key.HostID = own.HostID
		from = key
	case own.Machine != "":
		from.HostID = own.Machine + " registers"
	default:
		from.HostID += " registers"
	}
	return r.spendFrom(from, "host", func() { r.sayBudget(key) })
}

// spendOnCluster uses up one report about a cluster: each may be a write and an event, as
// those about a host.
func (r *request) spendOnCluster(id string) error {
	own := store.HostKey{InfraEnvID: r.caller.scope(), HostID: "cluster " + id}
	return r.spendFrom(own, "cluster", func() { r.sayClusterBudget(id) })
}

// reportingCluster reads the cluster's id of a report, and counts it.
func (r *request) reportingCluster() (string, error) {
	id, err := r.cluster()
	if err != nil {
		return "", err
	}
	return id, r.spendOnCluster(id)
}

// spendFrom uses up one report of a budget. What it is of is for the reason, and say tells
// people that it is used up.
func (r *request) spendFrom(budget store.HostKey, of string, say func()) error {
	if r.caller.scope() == "" {
		return nil
	}
	wait, tell := r.limits.budgets.take(budget, time.Now())
	if wait == 0 {
		return nil
	}
	if tell {
		say()
	}
	seconds := int(wait/time.Second) + 1
	r.w.Header().Set("Retry-After", fmt.Sprint(seconds))
	return &service.Error{Code: http.StatusTooManyRequests, Reason: fmt.Sprintf(
		"the %s reports more than the hub keeps of one: %d reports, and one a second after that; wait %d s", of, budgetBurst, seconds)}
}

// sayBudget tells people, if there is such a host.
func (r *request) sayBudget(key store.HostKey) {
	host, err := r.hub.Host(r.Context(), key)
	if err != nil {
		return
	}
	e := wire.Event{
		Name: "host_reports_too_much", Severity: wire.EventSeverityWarning, Category: wire.EventCategoryUser,
		HostID: &key.HostID, InfraEnvID: &key.InfraEnvID, ClusterID: host.ClusterID,
		Message: fmt.Sprintf("Host %s: it reports more than %d things at once or one a second; what is beyond that is refused. Look at its agent, or remove the host", key.HostID, budgetBurst),
	}
	_ = r.hub.AddEvent(r.Context(), e) // the next time that it is used up, it is said again
}

// sayClusterBudget tells people of a cluster.
func (r *request) sayClusterBudget(id string) {
	e := wire.Event{
		Name: "cluster_reports_too_much", Severity: wire.EventSeverityWarning, Category: wire.EventCategoryUser, ClusterID: &id,
		Message: fmt.Sprintf("Cluster %s: it reports more than %d things at once or one a second; what is beyond that is refused. Look at the program inside it, or at its bootstrap host", id, budgetBurst),
	}
	_ = r.hub.AddEvent(r.Context(), e) // the next time that it is used up, it is said again
}

// maxUploads is how many log archives of one host, or of one cluster, arrive at the same
// time: each is a file of up to [maxUpload] on the hub's machine before it is stored. An
// agent sends one after the other, and another one when a connection broke off.
const maxUploads = 4

// uploads counts the archives that are arriving, by whose they are. The zero value is ready.
type uploads struct {
	mu    sync.Mutex
	under map[store.HostKey]int
}

// begin reports whether there may be one more, and counts it.
func (u *uploads) begin(of store.HostKey) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.under[of] >= maxUploads {
		return false
	}
	if u.under == nil {
		u.under = map[store.HostKey]int{}
	}
	u.under[of]++
	return true
}

func (u *uploads) end(of store.HostKey) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.under[of]--; u.under[of] <= 0 {
		delete(u.under, of)
	}
}

// beginUpload counts a log archive of the host, or of the cluster where there is none. It
// returns what to do when the archive has arrived.
func (r *request) beginUpload(cluster string, host store.HostKey) (end func(), err error) {
	of := host
	if host == (store.HostKey{}) {
		of = store.HostKey{InfraEnvID: r.caller.scope(), HostID: "cluster " + cluster}
		err = r.spendOnCluster(cluster)
	} else {
		err = r.spend(host)
	}
	if err != nil {
		return nil, err
	}
	if !r.limits.uploads.begin(of) {
		r.w.Header().Set("Retry-After", retryAfter)
		return nil, &service.Error{Code: http.StatusTooManyRequests, Reason: fmt.Sprintf("%d log archives of it are arriving already; send this one when they are there", maxUploads)}
	}
	return func() { r.limits.uploads.end(of) }, nil
}
