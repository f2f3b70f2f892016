package standin_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/test/systemd/contract"
	"github.com/ironflow/ironflow/test/systemd/standin"
	"github.com/ironflow/ironflow/test/systemd/systemdtest"
)

// machine makes the root directory of a machine that has just booted.
func machine(t *testing.T) hostfile.Dir {
	t.Helper()
	host := hostfile.Dir{Root: t.TempDir()}
	path := host.Path(hostfile.BootIDPath())
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(uuid.NewString()+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return host
}

func TestContract(t *testing.T) {
	host := machine(t)
	systemdtest.Install(t, host, systemdtest.BuildActor(t), systemdtest.ActorPath)
	units := standin.New(host, "")
	t.Cleanup(units.Close)
	contract.Run(t, contract.Target{Units: units, Host: host, Reload: func() {}})
}
