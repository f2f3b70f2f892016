package rules

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
)

// maxBad is how many bad parts of a domain are remembered.
const maxBad = 64

// Judge holds a reading against what was before. It returns a row for each of
// [Domains], in their order; what to give it the next time; and what is new for
// people. Another state is shown when two reads agree on it; that the BMC is silent
// or the host off, at once.
func Judge(now Reading, before Past) ([]v1alpha1.DomainHealth, Past, []Alert) {
	next := before.clone()
	var news []Entry
	if now.Silent == "" {
		news = readLogs(now, &next)
	}
	if now.Silent == "" && !now.Off {
		next.Turns, next.Groups, next.Storages, next.Touring = now.Turns, now.Groups, now.Storages, len(now.Unread) > 0
		findings(now, &next)
	}
	var rows []v1alpha1.DomainHealth
	var alerts []Alert
	for _, domain := range Domains {
		row := settle(next.Domains[domain], seen(domain, now, &next))
		row.Told, alerts = tell(domain, row, now, alerts)
		next.Domains[domain] = row
		rows = append(rows, v1alpha1.DomainHealth{Domain: string(domain), State: row.Shown, Message: row.Message})
	}
	return rows, next, append(alerts, told(news)...)
}

// findings brings the bad parts up to date.
func findings(now Reading, next *Past) {
	gone := func(domain Domain, id string) bool {
		return now.Whole[domain] || slices.ContainsFunc(now.Lists, func(list string) bool { return strings.HasPrefix(id, list) })
	}
	read := map[string]bool{}
	for _, p := range now.Parts {
		read[p.ID] = true
	}
	for domain, parts := range next.Bad {
		for id, f := range parts {
			if f.Now = false; gone(domain, id) && !read[id] {
				delete(parts, id)
			} else {
				parts[id] = f
			}
		}
	}
	for _, p := range now.Parts {
		parts := next.Bad[p.Domain]
		v, counts := Assess(p)
		if !counts || !bad(v.State) {
			delete(parts, p.ID)
			continue
		}
		if parts == nil {
			parts = map[string]Finding{}
			next.Bad[p.Domain] = parts
		}
		if known, is := parts[p.ID]; is || len(parts) < maxBad {
			parts[p.ID] = Finding{Verdict: v, Kind: p.Kind, Name: p.Name, Now: true, Times: known.Times + 1}
		}
	}
}

// sight is what one pass says of a domain.
type sight struct {
	state v1alpha1.HealthState // empty: the domain was not read in this pass
	part  string
	text  string
	// sure is true for what needs no second read.
	sure bool
}

// seen sums up a domain.
func seen(domain Domain, now Reading, next *Past) sight {
	switch {
	case now.Silent != "":
		return sight{state: v1alpha1.HealthUnknown, text: now.Silent, sure: true}
	case domain == Log:
		return logsSeen(now, next)
	case now.Off:
		return sight{state: v1alpha1.HealthUnknown, text: "the host is off", sure: true}
	case domain == System:
		return systemSeen(now, next)
	}
	if id, f := worst(proven(next.Bad[domain])); id != "" {
		return sight{state: f.State, part: id, text: f.Name + " " + f.Shows}
	}
	if len(next.Bad[domain]) > 0 {
		return sight{} // what was found bad once, and has not been read again, decides nothing
	}
	counted := slices.ContainsFunc(now.Parts, func(p Part) bool {
		_, counts := Assess(p)
		return p.Domain == domain && counts
	})
	switch reason, missing := now.Missing[domain]; {
	case missing:
		return sight{state: v1alpha1.HealthUnknown, text: reason}
	case now.Unread[domain] != "" && (counted || now.Unread[domain] != NotYet):
		return sight{state: v1alpha1.HealthUnknown, text: now.Unread[domain]}
	case counted:
		return sight{state: v1alpha1.HealthOK}
	case now.Whole[domain]:
		return sight{state: v1alpha1.HealthUnknown, text: "the BMC shows nothing of it", sure: true}
	}
	return sight{}
}

// proven are the parts that this pass shows to be bad, and those that two did.
func proven(parts map[string]Finding) map[string]Finding {
	out := maps.Clone(parts)
	maps.DeleteFunc(out, func(_ string, f Finding) bool { return !f.Now && f.Times < 2 })
	return out
}

// worst chooses the part to be named: the worst state, then a part rather than what
// sums up others, then the first by name.
func worst(parts map[string]Finding) (string, Finding) {
	ids := make([]string, 0, len(parts))
	for id := range parts {
		ids = append(ids, id)
	}
	if len(ids) == 0 {
		return "", Finding{}
	}
	id := slices.MinFunc(ids, func(a, b string) int {
		x, y := parts[a], parts[b]
		return cmp.Or(cmp.Compare(rank(y.State), rank(x.State)), cmp.Compare(general(x.Kind), general(y.Kind)), cmp.Compare(x.Name, y.Name), cmp.Compare(a, b))
	})
	return id, parts[id]
}

func general(k Kind) int {
	if k == Group || k == Whole {
		return 1
	}
	return 0
}

// systemSeen repeats no other domain: it is bad only when the BMC calls the system
// worse than any part that was found.
func systemSeen(now Reading, next *Past) sight {
	i := slices.IndexFunc(now.Parts, func(p Part) bool { return p.Kind == Whole })
	if i < 0 {
		if reason, missing := now.Missing[System]; missing {
			return sight{state: v1alpha1.HealthUnknown, text: reason}
		}
		return sight{}
	}
	v, counts := Assess(now.Parts[i])
	if !counts {
		return sight{state: v1alpha1.HealthUnknown, text: "the BMC says nothing of the system's health", sure: true}
	}
	if !bad(v.State) {
		return sight{state: v1alpha1.HealthOK}
	}
	for _, domain := range Domains {
		if domain == System || domain == Log {
			continue
		}
		if _, f := worst(next.Bad[domain]); !worse(v.State, f.State) {
			return sight{state: v1alpha1.HealthOK}
		}
	}
	return sight{state: v.State, part: now.Parts[i].ID, text: fmt.Sprintf("the BMC calls the system %s, and no part that shows why", v.State)}
}

// logsSeen is the worst of the bad entries of the last day. Entries need no second
// read: they stay.
func logsSeen(now Reading, next *Past) sight {
	if reason, missing := now.Missing[Log]; missing && len(now.Logs) == 0 {
		return sight{state: v1alpha1.HealthUnknown, text: reason}
	}
	if len(now.Logs) == 0 && !now.Whole[Log] {
		return sight{}
	}
	if len(next.Logs) == 0 {
		return sight{state: v1alpha1.HealthUnknown, text: "the BMC has no log", sure: true}
	}
	s := sight{state: v1alpha1.HealthOK, sure: true}
	for _, e := range next.Entries {
		if !worse(s.state, e.Severity) {
			s = sight{state: e.Severity, part: e.Service + " " + e.ID, text: e.Message, sure: true}
		}
	}
	if s.state == v1alpha1.HealthOK {
		s.part, s.text = "", ""
	}
	return s
}

// tell makes an alert of a change that is shown, against what was told last: a host
// that was off in between is not told of anew.
func tell(domain Domain, row Row, now Reading, alerts []Alert) (v1alpha1.HealthState, []Alert) {
	was := row.Told
	if was == "" {
		was = v1alpha1.HealthOK
	}
	// Entries are told one by one.
	if rank(row.Shown) == 0 || row.Shown == was || domain == Log {
		return was, alerts
	}
	text := row.Message
	if row.Shown == v1alpha1.HealthOK {
		text = "is well again"
	}
	return row.Shown, append(alerts, Alert{Domain: domain, Severity: row.Shown, Message: string(domain) + ": " + text, Time: now.Time})
}

// told makes alerts of log entries, the latest ones if there are too many.
func told(news []Entry) []Alert {
	var alerts []Alert
	if left := len(news) - maxAlerts; left > 0 {
		alerts = append(alerts, Alert{Domain: Log, Severity: v1alpha1.HealthWarning, Message: fmt.Sprintf("%d more bad entries before these", left), Time: news[left].Created})
		news = news[left:]
	}
	for _, e := range news {
		alerts = append(alerts, Alert{Domain: Log, Severity: e.Severity, Message: e.Message, Time: e.Created, ID: e.ID})
	}
	return alerts
}
