package store

import (
	"encoding/json"
	"time"
)

// Job is slow work that is to be done outside of every transaction. It is stored
// with the unit that wants it and removed by the unit that applies its outcome, so
// that the outcome is applied once however often the work is done.
type Job struct {
	// Version is what the store has; zero for a job that was never stored.
	Version int64 `json:"-"`
	// ID names the work, such as prepare/CLUSTER_ID: there is one of it at a time.
	ID string `json:"-"`
	// Kind says who can do it; Subject for what it is done, such as a cluster's id.
	Kind, Subject string
	// Holder is the program that does it, as long as that has a lease; empty while it waits.
	Holder string `json:"-"`
	// NotBefore is when it may be begun.
	NotBefore time.Time `json:"-"`
	// Attempts counts how often it was begun.
	Attempts int
	// Reason is why the last attempt failed.
	Reason string
}

// Ref returns the job's name and version.
func (j *Job) Ref() Ref { return Ref{Kind: KindJob, ID: j.ID, Version: j.Version} }

const jobColumns = `SELECT id, version, holder, not_before, doc FROM jobs `

// Job returns the job, or [ErrNotFound].
func (r *Reader) Job(id string) (*Job, error) {
	return one(r, "job "+id, jobColumns+`WHERE id = $1`, []any{id}, scanJob)
}

// JobsOf returns what the holder does.
func (r *Reader) JobsOf(holder string) ([]*Job, error) {
	return all(r, "list jobs", jobColumns+`WHERE holder = $1 ORDER BY id`, []any{holder}, scanJob)
}

// WaitingJobs returns at most limit jobs that nobody does, by the time when they may
// be begun. A holder without a lease is gone, and does nothing.
func (r *Reader) WaitingJobs(limit int) ([]*Job, error) {
	return all(r, "list jobs", jobColumns+`WHERE holder NOT IN (SELECT holder FROM leases) ORDER BY not_before, id LIMIT $1`, []any{limit}, scanJob)
}

func scanJob(scan func(...any) error) (*Job, error) {
	j := &Job{}
	var doc []byte
	var notBefore int64
	if err := scan(&j.ID, &j.Version, &j.Holder, &notBefore, &doc); err != nil {
		return nil, err
	}
	j.NotBefore = fromUnix(notBefore)
	return j, json.Unmarshal(doc, j)
}

// putJob writes the job.
func putJob(j *Job) (operation, error) {
	bare := *j
	bare.Reason = clean(j.Reason)
	doc, err := json.Marshal(&bare)
	if err != nil {
		return operation{}, err
	}
	ref, next := j.Ref(), nextVersion(j.Version)
	return operation{ref: ref, stored: func() { j.Version = next }, do: func(t *tx) error {
		if ref.Version == 0 {
			return t.change("make job", `INSERT INTO jobs (id, version, holder, not_before, doc) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`,
				ref.ID, next, j.Holder, unix(j.NotBefore), string(doc))
		}
		return t.change("write job", `UPDATE jobs SET version = $1, holder = $2, not_before = $3, doc = $4 WHERE id = $5 AND version = $6`,
			next, j.Holder, unix(j.NotBefore), string(doc), ref.ID, ref.Version)
	}}, nil
}
