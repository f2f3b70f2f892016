package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/ironflow/ironflow/api/commands/settings"
	"github.com/ironflow/ironflow/api/config/topics"
	"github.com/ironflow/ironflow/api/config/v1alpha1"
	"github.com/ironflow/ironflow/hub/backup"
	"github.com/ironflow/ironflow/hub/configured"
	"github.com/ironflow/ironflow/hub/store"
)

// place is where a hub's records and keys are.
func place(s v1alpha1.Store) backup.Options {
	return backup.Options{DataDir: s.DataDir, Place: configured.Place(s)}
}

// NewBackup copies a hub's records and keys to a file.
func NewBackup() *cobra.Command {
	var s v1alpha1.IronflowConfiguration
	cmd := &cobra.Command{
		Use:   "backup FILE",
		Short: "Copy the hub's records and keys to a file; the hub can be running",
		Long: `Writes a consistent copy of the hub's records to FILE, with the keys by which agents, images and certificates stay valid. The
hub can be running meanwhile. An older FILE is replaced once the new one is complete. Logs that hosts sent are not in it.
FILE holds secrets: only its owner can read it.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			rows, err := writeBackup(cmd.Context(), place(s.Store), args[0])
			if err != nil {
				return fmt.Errorf("backup: %w", err)
			}
			return sayRows(cmd.OutOrStdout(), "copied", rows)
		},
	}
	settings.Add(cmd, topics.Schema(&s), []settings.Group{topics.Store(&s.Store)})
	return cmd
}

// writeBackup makes the file under another name first, so that one that is there is whole.
func writeBackup(ctx context.Context, o backup.Options, path string) (store.Rows, error) {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-")
	if err != nil {
		return nil, err
	}
	defer os.Remove(file.Name()) // nothing, once it has its name
	rows, err := backup.Write(ctx, o, time.Now(), file)
	if err == nil {
		err = file.Sync()
	}
	if err != nil {
		_ = file.Close() // it is of no use
		return nil, err
	}
	if err := file.Close(); err != nil {
		return nil, err
	}
	return rows, os.Rename(file.Name(), path)
}

// NewRestore puts back what NewBackup's command has copied.
func NewRestore() *cobra.Command {
	var s v1alpha1.IronflowConfiguration
	cmd := &cobra.Command{
		Use:   "restore FILE",
		Short: "Restore a backup of the hub into an empty database",
		Long: `Restores what "ironflow hub backup" wrote: the records into an empty database, and the keys into the data folder where they are
missing. Stop the hub first. If there are records or other keys already, nothing is changed.
A backup of SQLite can be restored into PostgreSQL, and the other way round.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			file, err := os.Open(args[0])
			if err != nil {
				return fmt.Errorf("restore: %w", err)
			}
			defer file.Close()
			rows, err := backup.Restore(cmd.Context(), place(s.Store), file)
			if err != nil {
				return fmt.Errorf("restore: %w", err)
			}
			return sayRows(cmd.OutOrStdout(), "put back", rows)
		},
	}
	settings.Add(cmd, topics.Schema(&s), []settings.Group{topics.Store(&s.Store)})
	return cmd
}

func sayRows(out io.Writer, done string, rows store.Rows) error {
	_, err := fmt.Fprintf(out, "%s %d infra-envs, %d clusters, %d hosts and %d events\n", done, rows["infra_envs"], rows["clusters"], rows["hosts"], rows["events"])
	return err
}
