package needs

import (
	"os"
	"testing"

	"github.com/ironflow/ironflow/test/lab/coreosinstaller"
)

// CoreOSInstaller returns the path of the real coreos-installer.
func CoreOSInstaller(t *testing.T) string {
	t.Helper()
	path, found := coreosinstaller.Find()
	switch {
	case found:
		return path
	case os.Getenv("CI") == "true":
		t.Fatalf("no coreos-installer here: run %s", coreosinstaller.Make)
	default:
		t.Skipf("no coreos-installer here: run %s once (4 minutes), or set %s to one", coreosinstaller.Make, coreosinstaller.Env)
	}
	return ""
}
