package sdbus_test

import (
	"testing"

	"github.com/ironflow/ironflow/customdeploy/systemd/systemdtest"
)

func TestContract(t *testing.T) {
	m := systemdtest.Boot(t)
	systemdtest.Install(t, m.Host, systemdtest.BuildActor(t), systemdtest.ActorPath)
	systemdtest.Contract(t, systemdtest.Target{
		Units: m.Units(t), Host: m.Host, Reload: func() { m.Run(t, "systemctl", "daemon-reload") },
	})
}
