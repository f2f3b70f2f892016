package cli

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/scenario"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/test/manynames"
)

// call runs the command line, see [manynames.Main.Call].
func call(t *testing.T, argv ...string) (int, string, string) {
	t.Helper()
	return manynames.Main(Main).Call(t, argv...)
}

func TestNames(t *testing.T) {
	for name, tc := range map[string]struct {
		argv []string
		code int
		out  string
		errs string
	}{
		"by a link":               {[]string{"/usr/bin/domain_resolution", "--request", `{"domains":[]}`}, 0, `{"resolutions":[]}`, ""},
		"by an argument":          {[]string{"ironflow-agent", "domain_resolution", `--request={"domains":[]}`}, 0, `{"resolutions":[]}`, ""},
		"by a renamed binary":     {[]string{"/tmp/agent-v2", "domain_resolution", `-request={"domains":[]}`}, 0, `{"resolutions":[]}`, ""},
		"unknown lists the names": {[]string{"ironflow-agent", "dance"}, 1, "", "next_step_runner"},
		"nothing":                 {[]string{"ironflow-agent"}, 1, "", "Programs:"},
		"help":                    {[]string{"ironflow-agent", "--help"}, 0, "Programs:", ""},
		"version":                 {[]string{"ironflow-agent", "--version"}, 0, "ironflow-agent ", ""},
		"version of a link":       {[]string{"agent", "--version"}, 0, "ironflow-agent ", ""},
		"help of a program":       {[]string{"agent", "--help"}, 0, "-infra-env-id", ""},
		"bad flag":                {[]string{"inventory", "--colour"}, 2, "", "colour"},
		"agent without its flags": {[]string{"agent"}, 1, "", ""},
		"bad argument":            {[]string{"free_addresses", "[]"}, 255, "", "want 1 to 64"},
		"no request":              {[]string{"domain_resolution"}, 1, "", ""},
		"no addresses to get":     {[]string{"dhcp_lease_allocate", "{}"}, 255, "", "not the name of an interface"},
		"runner without a host":   {[]string{"next_step_runner", "--url", "http://h", "--infra-env-id", "x"}, 1, "", ""},
		"logs without a hub":      {[]string{"logs_sender"}, 2, "", "--cluster-id"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			code, out, errs := call(t, tc.argv...)
			g.Expect(code).To(Equal(tc.code), errs)
			g.Expect(out).To(ContainSubstring(tc.out))
			g.Expect(errs).To(ContainSubstring(tc.errs))
		})
	}
}

func TestInventoryOfAScenario(t *testing.T) {
	g := NewWithT(t)
	s := &scenario.Scenario{Name: "node-1", Hardware: scenario.Hardware{
		CPU: scenario.CPU{Count: 4}, MemoryMiB: 1024, NICs: []scenario.NIC{{Name: "eth0", MAC: "52:54:00:00:00:01"}},
	}}
	path := filepath.Join(t.TempDir(), "s.yaml")
	g.Expect(s.Save(path)).To(Succeed())
	code, out, _ := call(t, "inventory", "--dry-run", "--dry-scenario", path, "--force-hostname", "other")
	g.Expect(code).To(BeZero())
	g.Expect(out).To(And(ContainSubstring(`"count":4`), ContainSubstring(`"hostname":"other"`)))
}

func TestWriteReason(t *testing.T) {
	g := NewWithT(t)
	root := t.TempDir()
	t.Setenv(hostfile.RootEnv, root)
	t.Setenv("SERVICE_RESULT", "signal")
	code, _, errs := call(t, "ironflow-agent", "write-reason")
	g.Expect(code).To(Equal(255))
	g.Expect(errs).To(ContainSubstring("boot id"))

	boot := filepath.Join(root, hostfile.BootIDPath())
	g.Expect(os.MkdirAll(filepath.Dir(boot), 0o755)).To(Succeed())
	g.Expect(os.WriteFile(boot, []byte("b"), 0o600)).To(Succeed())
	code, _, _ = call(t, "ironflow-agent", "write-reason")
	g.Expect(code).To(BeZero())
	var reason hostfile.Reason
	g.Expect(hostfile.Dir{Root: root}.Read(hostfile.ReasonFile, &reason)).To(Succeed())
	g.Expect(reason.ServiceResult).To(Equal("signal"))
}
