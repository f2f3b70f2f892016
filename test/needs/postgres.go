package needs

import (
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// Postgres returns the folder of PostgreSQL's programs.
func Postgres(t testing.TB) string {
	t.Helper()
	if found := PostgresPrograms(); found != "" {
		return found
	}
	return filepath.Dir(Program(t, "postgres", "postgresql"))
}

// PostgresPrograms is the folder of PostgreSQL's programs, which Debian does not
// put on the path; empty where there are none.
func PostgresPrograms() string {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if err == nil && len(found) > 0 {
		slices.Sort(found)
		return filepath.Dir(found[len(found)-1])
	}
	if path, err := exec.LookPath("postgres"); err == nil {
		return filepath.Dir(path)
	}
	return ""
}
