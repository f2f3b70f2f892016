//go:build e2e

package e2e

import (
	"database/sql"
	"path/filepath"
	"regexp"
	"time"

	. "github.com/onsi/gomega"
	_ "modernc.org/sqlite" // the driver of the hub's store
)

// moments are points of time in a stored document.
var moments = regexp.MustCompile(`"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)"`)

// columns are the points of time that have a column of their own, in microseconds.
var columns = []string{
	`UPDATE host_check_ins SET at = at - ? WHERE at > 0`, `UPDATE hosts SET due_at = due_at - ? WHERE due_at > 1`,
	`UPDATE clusters SET due_at = due_at - ? WHERE due_at > 1`, `UPDATE events SET at = at - ?`,
}

// age makes everything in the store of a hub that does not run older, and returns
// how many points of time it found in the documents.
func (w *world) age(by time.Duration) (found int) {
	w.Helper()
	db, err := sql.Open("sqlite", filepath.Join(w.hub.Data, "hub.sqlite"))
	w.Expect(err).NotTo(HaveOccurred())
	defer func() { w.Expect(db.Close()).To(Succeed()) }()
	for _, statement := range columns {
		_, err := db.ExecContext(w.Context(), statement, by.Microseconds())
		w.Expect(err).NotTo(HaveOccurred())
	}
	older := func(text string) string {
		at, err := time.Parse(`"`+time.RFC3339Nano+`"`, text)
		w.Expect(err).NotTo(HaveOccurred())
		if at.Year() < 2000 { // no time at all
			return text
		}
		found++
		return at.Add(-by).Format(`"` + time.RFC3339Nano + `"`)
	}
	for _, table := range []string{"hosts", "clusters", "host_reports", "events", "jobs"} {
		for row, doc := range w.documents(db, table) {
			_, err := db.ExecContext(w.Context(), `UPDATE `+table+` SET doc = ? WHERE rowid = ?`, moments.ReplaceAllStringFunc(doc, older), row)
			w.Expect(err).NotTo(HaveOccurred())
		}
	}
	return found
}

// documents are those of a table by their rows.
func (w *world) documents(db *sql.DB, table string) map[int64]string {
	w.Helper()
	rows, err := db.QueryContext(w.Context(), `SELECT rowid, doc FROM `+table)
	w.Expect(err).NotTo(HaveOccurred())
	defer func() { w.Expect(rows.Close()).To(Succeed()) }()
	all := map[int64]string{}
	for rows.Next() {
		var row int64
		var doc string
		w.Expect(rows.Scan(&row, &doc)).To(Succeed())
		all[row] = doc
	}
	w.Expect(rows.Err()).NotTo(HaveOccurred())
	return all
}
