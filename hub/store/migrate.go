package store

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

// migrationFiles are applied in the order of their names, each once and as a
// whole. A file that has been released is never changed; write a new one.
//
//go:embed migrations/*.sql
var migrationFiles embed.FS

// migrate brings the tables up to date.
func migrate(ctx context.Context, db *sql.DB) error {
	if _, err := db.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS schema_version (version BIGINT PRIMARY KEY)`); err != nil {
		return fmt.Errorf("open: %w", err)
	}
	var have int64
	if err := db.QueryRowContext(ctx, `SELECT COALESCE(MAX(version), 0) FROM schema_version`).Scan(&have); err != nil {
		return fmt.Errorf("read the schema's version: %w", err)
	}
	names, err := fs.Glob(migrationFiles, "migrations/*.sql")
	if err != nil {
		return err
	}
	slices.Sort(names)
	for i, name := range names {
		version, err := versionOf(name)
		if err != nil {
			return err
		}
		if i == len(names)-1 && have > version {
			return fmt.Errorf("its tables have version %d, this program knows %d: start the newer program, or restore a backup", have, version)
		}
		if version <= have {
			continue
		}
		if err := apply(ctx, db, name, version); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func versionOf(name string) (int64, error) {
	number, _, _ := strings.Cut(strings.TrimPrefix(name, "migrations/"), "_")
	version, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s: its name must begin with a number: %w", name, err)
	}
	return version, nil
}

func apply(ctx context.Context, db *sql.DB, name string, version int64) error {
	script, err := migrationFiles.ReadFile(name)
	if err != nil {
		return err
	}
	return inTx(ctx, db, nil, func(tx *Tx) error {
		for statement := range strings.SplitSeq(string(script), ";") {
			if strings.TrimSpace(statement) == "" {
				continue
			}
			if err := tx.exec("migrate", statement); err != nil {
				return err
			}
		}
		return tx.exec("migrate", `INSERT INTO schema_version (version) VALUES ($1)`, version)
	})
}
