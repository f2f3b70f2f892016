package sdbus_test

import (
	"testing"

	"github.com/ironflow/ironflow/test/systemd/contract"
	"github.com/ironflow/ironflow/test/systemd/systemdtest"
)

func TestContract(t *testing.T) {
	m := systemdtest.Boot(t)
	systemdtest.Install(t, m.Host, systemdtest.BuildActor(t), systemdtest.ActorPath)
	contract.Run(t, contract.Target{
		Units: m.Units(t), Host: m.Host, Reload: func() { m.Run(t, "systemctl", "daemon-reload") },
	})
}
