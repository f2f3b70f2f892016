package needs

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// S3Server returns the path of versitygw, a server that speaks S3: in the folder
// that IRONFLOW_BIN names, where `make test` builds it, or on the path.
func S3Server(t testing.TB) string {
	t.Helper()
	if bin := os.Getenv("IRONFLOW_BIN"); filepath.IsAbs(bin) {
		if path, err := exec.LookPath(filepath.Join(bin, "versitygw")); err == nil {
			return path
		}
	}
	path, err := exec.LookPath("versitygw")
	switch {
	case err == nil:
		return path
	case os.Getenv("CI") == "true":
		t.Fatal("no versitygw here: run 'make s3-server', and set IRONFLOW_BIN to the folder bin")
	default:
		t.Skip("no versitygw here: run 'make s3-server' once, and set IRONFLOW_BIN to the folder bin")
	}
	return ""
}
