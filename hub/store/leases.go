package store

// Lease says who does what only one program does at a time, or that a program is
// alive. It is renewed by being written again: whoever sees a version that has not
// changed for long enough, by its own clock, may take it over. So the clocks of
// programs are never compared.
type Lease struct {
	// Version is what the store has; zero for a lease that was never stored.
	Version int64
	// Name is what is held.
	Name string
	// Holder is the program that holds it.
	Holder string
}

// Ref returns the lease's name and version.
func (l *Lease) Ref() Ref { return Ref{Kind: KindLease, ID: l.Name, Version: l.Version} }

// Leases returns all leases by name.
func (r *Reader) Leases() ([]*Lease, error) {
	return all(r, "list leases", `SELECT name, version, holder FROM leases ORDER BY name`, nil, func(scan func(...any) error) (*Lease, error) {
		l := &Lease{}
		return l, scan(&l.Name, &l.Version, &l.Holder)
	})
}

// putLease writes the lease.
func putLease(l *Lease) operation {
	ref, next := l.Ref(), nextVersion(l.Version)
	return operation{ref: ref, stored: func() { l.Version = next }, do: func(t *tx) error {
		if ref.Version == 0 {
			return t.change("make lease", `INSERT INTO leases (name, version, holder) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`, ref.ID, next, l.Holder)
		}
		return t.change("write lease", `UPDATE leases SET version = $1, holder = $2 WHERE name = $3 AND version = $4`, next, l.Holder, ref.ID, ref.Version)
	}}
}

// leaveNobody frees what programs held that are gone: a file has one program, so
// whoever opens it is alone.
func leaveNobody(t *tx) error { return t.exec("free leases", `DELETE FROM leases`) }
