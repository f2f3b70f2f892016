package rest_test

import (
	"errors"
	"flag"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/ironflow/ironflow/hub/protocol"
	"github.com/ironflow/ironflow/hub/rest"
	"github.com/ironflow/ironflow/test/hub/contract"
	"github.com/ironflow/ironflow/test/postgres"
)

// covers is the test that shows each operation doing what it is there for. That it
// really does is checked at the end of the program, see [TestMain].
var covers = map[string]string{
	"BindHost":                            "TestLifeOverHTTP",
	"DeregisterInfraEnv":                  "TestLifeOverHTTP",
	"DownloadMinimalInitrd":               "TestBootFiles",
	"GetClusterSupportedPlatforms":        "TestPlatformsOfACluster",
	"GetDetailedSupportedFeatures":        "TestWhatTheHubOffers",
	"GetInfraEnv":                         "TestLifeOverHTTP",
	"GetInfraEnvDownloadURL":              "TestBootFiles",
	"GetInfraEnvPresignedFileURL":         "TestBootFiles",
	"GetSupportedArchitectures":           "TestWhatTheHubOffers",
	"GetSupportedFeatures":                "TestWhatTheHubOffers",
	"ListClusterHosts":                    "TestLifeOverHTTP",
	"ListInfraEnvs":                       "TestLifeOverHTTP",
	"RegenerateInfraEnvSigningKey":        "TestBootFiles",
	"RegisterInfraEnv":                    "TestLifeOverHTTP",
	"TransformClusterToAddingHosts":       "TestTheRest",
	"TransformClusterToDay2":              "TestFinalizing",
	"UnbindHost":                          "TestLifeOverHTTP",
	"UpdateInfraEnv":                      "TestLifeOverHTTP",
	"V2CancelInstallation":                "TestLifeOverHTTP",
	"V2CreateClusterManifest":             "TestManifests",
	"V2DeleteClusterManifest":             "TestManifests",
	"V2DownloadClusterCredentials":        "TestFinalizing",
	"V2DownloadClusterFiles":              "TestFinalizing",
	"V2DownloadClusterLogs":               "TestLogs",
	"V2GetBundle":                         "TestWhatTheHubOffers",
	"V2GetClusterDefaultConfig":           "TestTheRest",
	"V2GetClusterUISettings":              "TestUISettings",
	"V2GetCredentials":                    "TestFinalizing",
	"V2GetPresignedForClusterCredentials": "TestFinalizing",
	"V2GetPresignedForClusterFiles":       "TestFinalizing",
	"V2ListBundles":                       "TestWhatTheHubOffers",
	"V2ListClusterManifests":              "TestManifests",
	"V2ListManagedDomains":                "TestTheRest",
	"V2ListOfClusterOperators":            "TestFinalizing",
	"V2ListOperatorProperties":            "TestWhatTheHubOffers",
	"V2ListSupportedOperators":            "TestWhatTheHubOffers",
	"V2UpdateCluster":                     "TestLifeOverHTTP",
	"V2UpdateClusterManifest":             "TestManifests",
	"V2UpdateClusterUISettings":           "TestUISettings",
	"V2UploadLogs":                        "TestLogs",
	"v2CompleteInstallation":              "TestFinalizing",
	"v2DeregisterCluster":                 "TestLifeOverHTTP",
	"v2DeregisterHost":                    "TestLifeOverHTTP",
	"v2DownloadClusterManifest":           "TestManifests",
	"v2DownloadHostIgnition":              "TestLifeOverHTTP",
	"v2DownloadInfraEnvFiles":             "TestBootFiles",
	"v2GetCluster":                        "TestAuthentication",
	"v2GetClusterInstallConfig":           "TestInstallConfig",
	"v2GetHost":                           "TestTheRest",
	"v2GetHostIgnition":                   "TestTheRest",
	"v2GetIgnoredValidations":             "TestTheRest",
	"v2GetNextSteps":                      "TestLifeOverHTTP",
	"v2GetPreflightRequirements":          "TestRequirementsBeforehand",
	"v2ImportCluster":                     "TestOtherKindsOfClusters",
	"v2InstallCluster":                    "TestLifeOverHTTP",
	"v2InstallHost":                       "TestTheRest",
	"v2ListClusters":                      "TestAuthentication",
	"v2ListComponentVersions":             "TestTheRest",
	"v2ListEvents":                        "TestLifeOverHTTP",
	"v2ListHosts":                         "TestLifeOverHTTP",
	"v2ListReleaseSources":                "TestWhatTheHubOffers",
	"v2ListSupportedOpenshiftVersions":    "TestWhatTheHubOffers",
	"v2PostStepReply":                     "TestLifeOverHTTP",
	"v2RegisterCluster":                   "TestLifeOverHTTP",
	"v2RegisterDisconnectedCluster":       "TestOtherKindsOfClusters",
	"v2RegisterHost":                      "TestLifeOverHTTP",
	"v2ReportMonitoredOperatorStatus":     "TestFinalizing",
	"v2ResetCluster":                      "TestLifeOverHTTP",
	"v2ResetHost":                         "TestTheRest",
	"v2ResetHostValidation":               "TestResetOfAValidation",
	"v2SetIgnoredValidations":             "TestTheRest",
	"v2TriggerEvent":                      "TestTheRest",
	"v2UpdateClusterFinalizingProgress":   "TestFinalizing",
	"v2UpdateClusterInstallConfig":        "TestInstallConfig",
	"v2UpdateClusterLogsProgress":         "TestTheRest",
	"v2UpdateHost":                        "TestLifeOverHTTP",
	"v2UpdateHostIgnition":                "TestLifeOverHTTP",
	"v2UpdateHostInstallProgress":         "TestLifeOverHTTP",
	"v2UpdateHostInstallerArgs":           "TestLifeOverHTTP",
	"v2UpdateHostLogsProgress":            "TestTheRest",
	"v2UploadClusterIngressCert":          "TestFinalizing",
}

// refused are the operations that have no good answer in this hub, which the test
// in covers shows.
var refused = []string{"V2ListOperatorProperties", "V2GetBundle"}

func TestMain(m *testing.M) {
	postgres.Main(m, func() error { return goleak.Find() }, covered)
}

// covered fails a program in which an operation did not succeed, or an event did not
// come, in its test.
func covered() error {
	for _, name := range []string{"test.run", "test.fuzz", "test.list"} {
		if flag.Lookup(name).Value.String() != "" {
			return nil
		}
	}
	operations, err := protocol.Operations()
	if err != nil {
		return err
	}
	var problems []error
	for _, op := range operations {
		if slices.Contains(refused, op.ID) {
			continue
		}
		if in := contract.Succeeded(op.ID); !slices.Contains(in, covers[op.ID]) {
			problems = append(problems, fmt.Errorf("operation %s did not succeed in test %q, which the table names for it; it did in %q", op.ID, covers[op.ID], in))
		}
	}
	for _, e := range timelineEvents {
		if in := contract.Told(e.name); e.test != inTime && !slices.Contains(in, e.test) {
			problems = append(problems, fmt.Errorf("event %s did not come in test %q, which the table names for it; it did in %q", e.name, e.test, in))
		}
	}
	return errors.Join(problems...)
}

func operationsTable(t *testing.T) string {
	t.Helper()
	operations, err := protocol.Operations()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	var b strings.Builder
	served := 0
	b.WriteString("| operation | method | path | who | takes | answers | | served | test |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, op := range operations {
		mark, test := "501", ""
		if rest.Served(op.ID) {
			mark, test = "yes", "`hub/rest."+covers[op.ID]+"`"
			served++
		}
		fmt.Fprintf(&b, "| %s | %s | `%s` | %s | %s | %s | %s | %s | %s |\n",
			op.ID, op.Method, op.Path, who(op), model(op.Body()), answer(op), notes(op), mark, test)
	}
	fmt.Fprintf(&b, "\n%d of %d operations are served. Paths lie below `%s`.\n", served, len(operations), rest.Base)
	return b.String()
}

// who may call, in words.
func who(op protocol.Operation) string {
	words := map[protocol.Scheme]string{
		protocol.UserAuth: "user", protocol.AgentAuth: "agent", protocol.WatcherAuth: "watcher", protocol.URLAuth: "signed URL",
		protocol.ImageAuth: "image server", protocol.ImageURLAuth: "image URL",
	}
	var out []string
	for _, a := range op.Access {
		out = append(out, words[a.Scheme])
	}
	return strings.Join(out, ", ")
}

func model(typ string) string {
	list, rest, found := strings.Cut(typ, "array:")
	if found {
		return strings.TrimSpace(list + "list of " + model(rest))
	}
	return strings.TrimPrefix(typ, "ref:")
}

func answer(op protocol.Operation) string {
	text := fmt.Sprint(op.Success)
	switch {
	case strings.HasPrefix(op.Answer, "object{"):
		text += " " + strings.NewReplacer("object{", "", "}", "", "array:", "", "ref:", "", "=", ": ").Replace(op.Answer)
	case op.Answer != "":
		text += " " + model(op.Answer)
	}
	if op.Empty != 0 {
		text += fmt.Sprintf(", or %d", op.Empty)
	}
	return text
}

func notes(op protocol.Operation) string {
	var out []string
	if op.Deprecated {
		out = append(out, "deprecated")
	}
	if op.Stream {
		out = append(out, "streamed")
	}
	return strings.Join(out, ", ")
}

func TestEveryOperationOfTheProtocolIsAnswered(t *testing.T) {
	f := newFixture(t)
	operations, err := protocol.Operations()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	NewWithT(t).Expect(operations).To(HaveLen(81))
	for _, op := range operations {
		if op.Method == http.MethodDelete && rest.Served(op.ID) {
			continue // these would take the records from the others; TestLifeOverHTTP has them
		}
		t.Run(op.ID, func(t *testing.T) {
			g := NewWithT(t)
			caller := f.User()
			if !op.Accepts(protocol.UserAuth) {
				caller = f.Agent(f.token)
			}
			var body any
			if op.Method != http.MethodGet && op.Method != http.MethodDelete {
				body = "not what is wanted"
			}
			code, raw := caller.Do(t, op.Method, f.path(op.Path), body, nil)
			g.Expect(code).To(BeElementOf(200, 201, 202, 204, 400, 404, 409), raw)
		})
	}
}
