package hub

import (
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/spf13/pflag"

	"github.com/ironflow/ironflow/api/commands/settings"
	"github.com/ironflow/ironflow/api/config/topics"
	"github.com/ironflow/ironflow/api/config/v1alpha1"
	"github.com/ironflow/ironflow/controllers/parts"
	"github.com/ironflow/ironflow/hub/configured"
	"github.com/ironflow/ironflow/hub/rest"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/sources"
)

// notSettings are members of the hub's options that no flag can give: parts of the
// program, and what follows from other settings.
var notSettings = []string{
	"Options.Store", "Options.Files", "Options.Ignition", "Options.TokenKey", "Options.Log", "Options.ImageURLs", "Options.Now",
	"Options.Sources", "Options.Keys", "Options.Hub", "Options.Auth", "Options.PublicURL", "Options.LiveFiles", "Options.Registerer",
	"NodeZero.InfraEnvID", "NodeZero.MAC", // of `ironflow hub agent-based` alone
	"Program.URL", "Program.CA", "Program.Key", "Program.ByBootstrap", "Program.Leaves",
}

// TestEveryOptionOfTheHubIsAFlag: with all flags given, no option is left at zero.
func TestEveryOptionOfTheHubIsAFlag(t *testing.T) {
	g := NewWithT(t)
	var s v1alpha1.IronflowConfiguration
	flags := pflag.NewFlagSet("hub", pflag.ContinueOnError)
	settings.Bind(flags, topics.OfHub(&s))
	for _, row := range settings.Rows(topics.OfHub(&s)) {
		g.Expect(settings.Only((&Part{Program: new(parts.Program)}).Flags(), row.Flag)).NotTo(BeEmpty(), "ironflow hub --%s, too", row.Flag)
	}
	given := map[string]string{
		"hub-disabled-host-validations": "ntp-synced", "hub-disabled-cluster-validations": "ntp-server-configured", "hub-disabled-steps": "tang-connectivity-check",
		"hub-host-requirements": `[{"version":"default","master":{"cpu_cores":1,"ram_mib":1,"disk_size_gb":1},"worker":{"cpu_cores":1,"ram_mib":1,"disk_size_gb":1}}]`,
		"hub-agent-version":     "quay.example/a", "hub-installer-image": "quay.example/i", "hub-controller-image": "quay.example/c",
		"hub-machine-config-image": "quay.example/m", "hub-must-gather-image": "quay.example/g", "hub-coreos-image": "quay.example/o",
		"hub-stage-timeouts": "Rebooting=1h,Adding router ca=1h", "hub-soft-timeouts": "true", "hub-reclaim": "true",
		"hub-openshift-install": "/usr/local/bin/openshift-install", "hub-kubernetes": "true",
		"hub-cluster-image": "quay.example/l", "hub-operators-file": operatorsFile(t),
	}
	for flag, value := range given {
		g.Expect(flags.Set(flag, value)).To(Succeed(), flag)
	}
	core, served := service.Options{}, rest.Options{Log: slog.New(slog.DiscardHandler)}
	g.Expect(configured.Validations(s.HubValidations).Apply(&core)).To(Succeed())
	g.Expect(NodeZero{}.Work(&s).Apply(&core)).To(Succeed())
	g.Expect(hubAPI{s.Hub, s.HubReleases}.apply(t.Context(), "", &served)).To(Succeed())
	all, err := NodeZero{}.Work(&s).Sources(nil, t.TempDir())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(slices.Sorted(maps.Keys(all.All))).To(ConsistOf(sources.Names()))
	var zero []string
	var look func(name string, v reflect.Value)
	look = func(name string, v reflect.Value) {
		if slices.Contains(notSettings, name) {
			return
		}
		if v.Kind() == reflect.Struct && v.NumField() > 0 && v.Type().PkgPath() != "time" {
			for i := range v.NumField() {
				look(v.Type().Name()+"."+v.Type().Field(i).Name, v.Field(i))
			}
			return
		}
		if v.IsZero() || v.Kind() == reflect.Map && v.Len() == 0 {
			zero = append(zero, name)
		}
	}
	look("Options", reflect.ValueOf(core))
	look("Options", reflect.ValueOf(served))
	// What the release is, each cluster says itself.
	g.Expect(zero).To(ConsistOf("Images.Release"))
}

func operatorsFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "operators.yaml")
	NewWithT(t).Expect(os.WriteFile(path, []byte("operators:\n- {name: own, title: Own, namespace: own, package: own, minutes: 10}\n"), 0o600)).To(Succeed())
	return path
}

func operatorsOf(file string) configured.Work {
	return configured.Work{HubInstallation: v1alpha1.HubInstallation{OperatorsFile: file}}
}

func TestOperatorsOfASite(t *testing.T) {
	g := NewWithT(t)
	core := service.Options{}
	g.Expect(operatorsOf(operatorsFile(t)).Apply(&core)).To(Succeed())
	g.Expect(core.Operators.Names()).To(ContainElements("own", "lso"))
	g.Expect(operatorsOf("/none/operators.yaml").Apply(&core)).To(MatchError(ContainSubstring("--hub-operators-file: open /none/operators.yaml")))
}

func TestAStepThatDoesNotExist(t *testing.T) {
	NewWithT(t).Expect(configured.Validations{DisabledSteps: []string{"dance"}}.Apply(&service.Options{})).To(MatchError(ContainSubstring("--hub-disabled-steps")))
}
