package store

import (
	"bufio"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

// dumpFormat is the version of what [Dump] writes: lines of JSON, a dumpHeader, a
// dumpRow for each row, and a dumpEnd.
const dumpFormat = 1

// dumped are the tables of a dump, each with the version of the tables that it
// exists from. Leases are left out: whoever holds one is not there any more.
var dumped = []dumpedTable{
	{"infra_envs", 1},
	{"clusters", 1},
	{"hosts", 1},
	{"host_reports", 1},
	{"host_macs", 1},
	{"events", 1},
	{"host_check_ins", 2},
	{"jobs", 4},
	{"cluster_files", 5},
}

type dumpedTable struct {
	name  string
	since int64
}

// Place is where records are: in a file, or in PostgreSQL where Postgres has a URL.
type Place struct {
	SQLite   string
	Postgres PostgresOptions
}

// Rows are how many rows of each table were copied.
type Rows map[string]int64

type dumpHeader struct {
	Format  int       `json:"format"`
	Tables  int64     `json:"tables"`
	MadeAt  time.Time `json:"made_at"`
	Product string    `json:"product"`
}

type dumpRow struct {
	Table string         `json:"table"`
	Row   map[string]any `json:"row"`
}

type dumpEnd struct {
	Rows Rows `json:"rows"`
}

// product marks a dump as ours.
const product = "ironflow hub"

// Dump writes one state of all records. Hubs that use them may go on. It changes
// nothing, and it does not bring tables of an older program up to date.
func Dump(ctx context.Context, p Place, now time.Time, w io.Writer) (Rows, error) {
	if p.Postgres.URL == "" {
		if _, err := os.Stat(p.SQLite); err != nil {
			return nil, fmt.Errorf("there is no store: %w", err)
		}
	}
	s, err := p.open()
	if err != nil {
		return nil, err
	}
	out, rows := json.NewEncoder(w), Rows{}
	err = s.View(ctx, func(r *Reader) error { return r.dump(out, now, rows) })
	return rows, errors.Join(err, s.Close())
}

func (r *Reader) dump(out *json.Encoder, now time.Time, rows Rows) error {
	version, err := r.tablesVersion()
	if err != nil {
		return err
	}
	if err := out.Encode(dumpHeader{Format: dumpFormat, Tables: version, MadeAt: now.UTC(), Product: product}); err != nil {
		return err
	}
	for _, table := range dumped {
		if table.since > version {
			continue
		}
		if rows[table.name], err = r.dumpTable(out, table.name); err != nil {
			return err
		}
	}
	return out.Encode(dumpEnd{Rows: rows})
}

func (r *Reader) dumpTable(out *json.Encoder, table string) (n int64, err error) {
	found, err := r.q.QueryContext(r.ctx, `SELECT * FROM `+table) //nolint:gosec // one of the table above
	if err != nil {
		return 0, fmt.Errorf("store: read %s: %w", table, err)
	}
	defer func() { err = errors.Join(err, found.Close()) }()
	columns, err := found.Columns()
	if err != nil {
		return 0, err
	}
	values, into := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	for ; found.Next(); n++ {
		if err := found.Scan(into...); err != nil {
			return n, fmt.Errorf("store: read %s: %w", table, err)
		}
		row := map[string]any{}
		for i, name := range columns {
			row[name] = values[i]
		}
		unmark(table, row)
		if err := out.Encode(dumpRow{Table: table, Row: row}); err != nil {
			return n, err
		}
	}
	return n, found.Err()
}

// open opens the records as they are.
func (p Place) open() (*sqlStore, error) {
	if p.Postgres.URL == "" {
		db, err := openSQLite(p.SQLite, 1, "deferred", busyTimeout)
		if err != nil {
			return nil, err
		}
		return &sqlStore{read: db, write: db, dialect: sqliteDialect()}, nil
	}
	config, err := p.Postgres.config()
	if err != nil {
		return nil, fmt.Errorf("database: %w", err)
	}
	config.RuntimeParams["statement_timeout"] = "0" // a table takes as long as it takes
	config.RuntimeParams["idle_in_transaction_session_timeout"] = "0"
	db := p.Postgres.open(config, 1)
	return &sqlStore{read: db, write: db, dialect: postgresDialect()}, nil
}

// Load puts what [Dump] wrote into an empty store, as a whole or not at all. The
// tables are made, and brought up to date after it where the dump is older. It
// fails where there are records already, for a dump of a newer program, and for a
// file that a program uses. finish, if it is not nil, is done before the whole counts:
// where it fails, nothing was loaded.
func Load(ctx context.Context, p Place, from io.Reader, finish func() error) (_ Rows, err error) {
	if p.Postgres.URL == "" {
		owner, err := own(p.SQLite)
		if err != nil {
			return nil, err
		}
		defer func() { _ = owner.Close() }() // which ends the lock
	}
	s, err := p.open()
	if err != nil {
		return nil, err
	}
	lines := json.NewDecoder(bufio.NewReaderSize(from, 1<<20))
	lines.UseNumber()
	var rows Rows
	err = s.inTx(ctx, s.write, &sql.TxOptions{}, func(t *tx) (err error) {
		if rows, err = t.load(lines); err != nil || finish == nil {
			return err
		}
		return finish()
	})
	return rows, errors.Join(err, s.Close())
}

func (t *tx) load(lines *json.Decoder) (Rows, error) {
	var header dumpHeader
	if err := lines.Decode(&header); err != nil || header.Product != product || header.Format != dumpFormat {
		return nil, errors.Join(errors.New("this is no backup of the hub that this program can read"), err)
	}
	if err := t.migrate(header.Tables); err != nil {
		return nil, err
	}
	if err := t.empty(header.Tables); err != nil {
		return nil, err
	}
	rows := Rows{}
	for {
		var line struct {
			dumpRow
			dumpEnd
		}
		if err := lines.Decode(&line); err != nil {
			return nil, fmt.Errorf("the backup ends too early or is damaged: %w", err)
		}
		if line.Table == "" {
			return rows, t.loaded(rows, line.Rows)
		}
		if err := t.insert(line.dumpRow); err != nil {
			return nil, err
		}
		rows[line.Table]++
	}
}

// empty makes sure that nothing is lost, and that the tables are as the dump wants them.
func (t *tx) empty(version int64) error {
	have, err := t.tablesVersion()
	if err != nil {
		return err
	}
	if have != version {
		return fmt.Errorf("the tables have version %d already, those of the backup have %d: remove the store, so that it is made anew; "+
			"where the backup is the newer one, use the program of its time", have, version)
	}
	for _, table := range []string{"infra_envs", "clusters", "hosts"} {
		var n int64
		if err := t.scanRow("count", `SELECT COUNT(*) FROM `+table, nil, &n); err != nil {
			return err
		}
		if n > 0 {
			return fmt.Errorf("the store has %d rows of %s already: stop the hub, and move its store away (hub.sqlite and the files beside it, or the database), so that nothing is lost", n, table)
		}
	}
	return t.exec("remove old events", `DELETE FROM events`)
}

func (t *tx) insert(line dumpRow) error {
	if !slices.ContainsFunc(dumped, func(d dumpedTable) bool { return d.name == line.Table }) {
		return fmt.Errorf("the backup has a table %q, which this program does not know", line.Table)
	}
	if err := putBack(line); err != nil {
		return err
	}
	names, places, values := "", "", []any(nil)
	for name, value := range line.Row {
		if !isColumn(name) {
			return fmt.Errorf("the backup has a column %q, which cannot be one", name)
		}
		if number, ok := value.(json.Number); ok {
			n, err := number.Int64()
			if err != nil {
				return fmt.Errorf("%s.%s of the backup: %w", line.Table, name, err)
			}
			value = n
		}
		if len(values) > 0 {
			names, places = names+", ", places+", "
		}
		values = append(values, value)
		names, places = names+name, places+fmt.Sprintf("$%d", len(values))
	}
	numbers := ""
	if line.Table == "events" {
		numbers = t.dialect.numbers
	}
	return t.exec("restore "+line.Table, `INSERT INTO `+line.Table+` (`+names+`) `+numbers+`VALUES (`+places+`)`, values...)
}

// restored begins the record of a host or a cluster that was put back; see [Host.Restored]. A copy of it is without.
const restored = `{"Restored":true,`

// putBack marks a record as one of a backup: what has happened since is not in it, and whoever has
// seen that can tell. An infra-env gets another [InfraEnv.Birth].
func putBack(line dumpRow) error {
	text, _ := line.Row["doc"].(string)
	switch rest, object := strings.CutPrefix(text, "{"); line.Table {
	case "infra_envs":
		return rebirth(line.Row)
	case "hosts", "clusters":
		if object && rest != "}" {
			line.Row["doc"] = restored + rest
		}
	}
	return nil
}

// unmark takes off what [putBack] has put on a record.
func unmark(table string, row map[string]any) {
	if text, is := row["doc"].(string); is && (table == "hosts" || table == "clusters") {
		if rest, marked := strings.CutPrefix(text, restored); marked {
			row["doc"] = "{" + rest
		}
	}
}

// rebirth gives an infra-env that is put back another [InfraEnv.Birth].
func rebirth(row map[string]any) error {
	text, _ := row["doc"].(string)
	env := map[string]json.RawMessage{}
	if err := json.Unmarshal([]byte(text), &env); err != nil {
		return fmt.Errorf("infra_envs.doc of the backup: %w", err)
	}
	if _, born := env["Birth"]; !born {
		return nil
	}
	env["Birth"], _ = json.Marshal(rand.Text()) // a text always can be
	doc, err := json.Marshal(env)
	row["doc"] = string(doc)
	return err
}

// isColumn reports whether the name can be a column's.
func isColumn(name string) bool {
	for _, r := range name {
		if (r < 'a' || r > 'z') && r != '_' {
			return false
		}
	}
	return name != ""
}

// loaded ends a load: all rows are there, and the tables become those of this program.
func (t *tx) loaded(have, want Rows) error {
	for table, n := range want {
		if have[table] != n {
			return fmt.Errorf("the backup is damaged: it has %d rows of %s, and says %d", have[table], table, n)
		}
	}
	if t.dialect.counter != "" {
		if err := t.exec("count events", t.dialect.counter); err != nil {
			return err
		}
	}
	if t.dialect.announce != nil { // a hub that was not stopped has to look anew
		if err := t.dialect.announce(t, []Change{{What: ChangedAll}}); err != nil {
			return err
		}
	}
	return t.migrate(newest)
}
