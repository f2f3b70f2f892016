package media

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// failuresName is the file in which a mirror says why it could not get what is listed, for programs beside it that look at
// the folder. There is none if nothing is wrong.
const failuresName = ".ironflow-failures.json"

// Failures are why a mirror of the folder could not get what is listed when it last tried; empty if it could, or has not tried yet.
func Failures(dir string) ([]string, error) {
	raw, err := os.ReadFile(filepath.Join(dir, failuresName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var list []string
	if err == nil {
		err = json.Unmarshal(raw, &list)
	}
	if err != nil {
		return nil, fmt.Errorf("notes about downloads that failed: %w", err)
	}
	return list, nil
}

// Failed are the failures of this mirror, as [Failures] has them, also where no file can be written. Nil has none.
func (m *Mirror) Failed() []string {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.failed)
}

// note keeps why a synchronisation failed. That another replica downloads a file is no failure, and what
// that one has noted is left to it.
func (m *Mirror) note(problems []error) error {
	var failed []string
	busy := false
	for _, err := range problems {
		switch {
		case err == nil:
		case errors.Is(err, errBusy):
			busy = true
		default:
			failed = append(failed, err.Error())
		}
	}
	m.mu.Lock()
	m.failed = failed
	m.mu.Unlock()
	before, err := Failures(m.Dir)
	if err == nil && slices.Equal(before, failed) || busy && len(failed) == 0 {
		return nil
	}
	path := filepath.Join(m.Dir, failuresName)
	if len(failed) == 0 {
		return os.Remove(path)
	}
	raw, err := json.Marshal(failed)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", raw, 0o600); err != nil {
		return fmt.Errorf("notes about downloads that failed: %w", err)
	}
	return os.Rename(path+".new", path)
}
