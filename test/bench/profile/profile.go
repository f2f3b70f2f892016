// Package profile keeps profiles of a running program for benchmarks.
package profile

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
)

// Keep writes a profile into a file, whose folder is made. The program serves profiles at
// an address, as its flag --pprof-addr has it; the kind is the last part of the path,
// such as "heap" or "profile?seconds=30".
func Keep(ctx context.Context, address, kind, file string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/debug/pprof/"+kind, http.NoBody)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the program answers %s for the profile %s", response.Status, kind)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, response.Body); err != nil {
		_ = out.Close() // what was written is of no use
		return err
	}
	return out.Close()
}
