package configured

import (
	"context"
	"path/filepath"

	"github.com/ironflow/ironflow/api/config/v1alpha1"
	"github.com/ironflow/ironflow/hub/store"
)

// Place is where the records are: PostgreSQL where it is set, a file in the data folder otherwise.
func Place(c v1alpha1.Store) store.Place {
	return store.Place{
		SQLite:   filepath.Join(c.DataDir, "hub.sqlite"),
		Postgres: store.PostgresOptions{URL: c.Database, PasswordFile: c.DatabasePasswordFile},
	}
}

// OpenStore opens the records.
func OpenStore(ctx context.Context, c v1alpha1.Store) (store.Store, error) {
	place := Place(c)
	if c.Database != "" {
		return store.OpenPostgres(ctx, place.Postgres)
	}
	return store.OpenSQLite(ctx, place.SQLite)
}

// OpenStoreBeside opens the records for a program that works beside the hub.
func OpenStoreBeside(ctx context.Context, c v1alpha1.Store) (store.Store, error) {
	if c.Database != "" {
		return OpenStore(ctx, c)
	}
	return store.OpenSQLiteBeside(ctx, Place(c).SQLite)
}
