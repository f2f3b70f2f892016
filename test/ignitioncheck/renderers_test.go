package ignitioncheck

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// root is the top of the tree.
const root = "../.."

// writers are the packages that write Ignition configs: for each, what it writes.
var writers = map[string]string{
	"imagecustomization/ignition":      "live images of hosts and of infra-envs (discovery.ign)",
	"hub/ignition":                     "installed systems",
	"hub/sources/kubernetes":           "installed systems that become a plain Kubernetes",
	"hub/sources/files":                "installed systems of role files, and those that just boot",
	"hub/sources/pointer":              "installed systems that fetch theirs from the cluster they join",
	"customdeploy/coreos":              "installed systems of install_coreos: the user's config with the host's name",
	"imagecustomization/sharednetwork": "live systems that somebody else makes the image of: networks of their hosts",
	"agent/install/coreos":             "a single node's installed system: the rendered master config with the host's own",
}

// readers are the packages that know configs and write none that a machine boots.
var readers = map[string]string{
	"agent/install/bootstrap":      "applies one to the live system",
	"hub/sources/openshiftinstall": "hands out what openshift-install made, and says whether it can be read",
	"agent/probe/apivip":           "reports parts of what a cluster serves; nothing boots from a report",
	"hub/input":                    "says what may be written, with examples in its table",
	"hub/store":                    "keeps overrides as they are",
	"imagecustomization/cli":       "embeds what it is given",
}

// aboutConfigs tells of code that handles Ignition configs: Ignition's own types, or
// the first member of a config.
var aboutConfigs = regexp.MustCompile(`coreos/ignition/v2/config|\bjson:"ignition"|"ignition"|\\"ignition\\"|\{"ignition":`)

// notConfigs are files that say "ignition" and mean something else, with what.
var notConfigs = map[string]string{
	"agent/logs/cores.go": "the name of a program",
}

// Every package that has to do with configs is in one of the tables.
func TestNobodyWritesAConfigThatIsNotJudged(t *testing.T) {
	g := NewWithT(t)
	seen := map[string]bool{}
	for _, top := range []string{"agent", "api", "bmc", "cmd", "controllers", "customdeploy", "hub", "imagecustomization", "ironic"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			name, err := filepath.Rel(root, path)
			if err != nil || notConfigs[name] != "" || !aboutConfigs.Match(text) {
				return err
			}
			seen[filepath.Dir(name)] = true
			return nil
		})
		g.Expect(err).NotTo(HaveOccurred())
	}
	for pkg := range seen {
		if writers[pkg] == "" && readers[pkg] == "" {
			t.Errorf("%s handles Ignition configs: add it to the writers, and show what it writes to ignitioncheck.Valid in its tests, or to the readers", pkg)
		}
	}
	for _, table := range []map[string]string{writers, readers} {
		for pkg := range table {
			if !seen[pkg] {
				t.Errorf("%s handles no Ignition configs any more: take it out of the table", pkg)
			}
		}
	}
}

// Every package that writes configs has them judged.
func TestEveryWriterShowsItsConfigs(t *testing.T) {
	for pkg := range writers {
		tests, err := filepath.Glob(filepath.Join(root, pkg, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		judged := false
		for _, file := range tests {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			judged = judged || strings.Contains(string(text), "ignitioncheck.Valid(t, ")
		}
		if !judged {
			t.Errorf("no test of %s calls ignitioncheck.Valid", pkg)
		}
	}
}

func TestProblems(t *testing.T) {
	for name, tc := range map[string]struct{ config, want string }{
		"good":                       {`{"ignition":{"version":"3.2.0"}}`, ""},
		"no JSON":                    {`{`, "JSON"},
		"a version that nobody has":  {`{"ignition":{"version":"9.9.9"}}`, "unsupported"},
		"a member that is not known": {`{"ignition":{"version":"3.2.0"},"kernelArguments":{}}`, "unused key kernelArguments"},
		"a relative path":            {`{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"a"}]}}`, "path not absolute"},
		"a unit that is none":        {`{"ignition":{"version":"3.2.0"},"systemd":{"units":[{"name":"a.service","contents":"[Unit"}]}}`, "unit"},
		"within another one":         {`{"ignition":{"version":"3.2.0","config":{"merge":[{"source":"data:,%7B%22ignition%22%3A%7B%7D%7D"}]}}}`, "version"},
		"what is fetched is not":     {`{"ignition":{"version":"3.2.0","config":{"merge":[{"source":"https://192.0.2.1/a"}]}}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			problems := Problems([]byte(tc.config))
			if tc.want == "" {
				g.Expect(problems).To(BeEmpty())
				return
			}
			g.Expect(strings.Join(problems, "\n")).To(ContainSubstring(tc.want))
		})
	}
}
