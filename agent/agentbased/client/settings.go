package client

import (
	"cmp"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/google/uuid"

	"github.com/ironflow/ironflow/agent/agentbased/manifests"
	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/api/hostfile"
)

// The environment of the client, by the names that units and users know.
const (
	urlEnv               = "SERVICE_BASE_URL"
	userTokenEnv         = "USER_AUTH_TOKEN" //nolint:gosec // a name
	clusterDeploymentEnv = "CLUSTER_DEPLOYMENT_FILE"
	clusterInstallEnv    = "AGENT_CLUSTER_INSTALL_FILE"
	infraEnvFileEnv      = "INFRA_ENV_FILE"
	pullSecretEnv        = "PULL_SECRET_FILE"
	imageSetEnv          = "CLUSTER_IMAGE_SET_FILE"
	nmstateEnv           = "NMSTATE_CONFIG_FILE"
	operatorsEnv         = "OPERATOR_INSTALL_FILE"
	extraManifestsEnv    = "EXTRA_MANIFESTS_PATH"
	imageTypeEnv         = "IMAGE_TYPE_ISO"
	mirrorEnv            = "OPENSHIFT_INSTALL_RELEASE_IMAGE_MIRROR"
	infraEnvIDEnv        = "INFRA_ENV_ID"
	hostConfigEnv        = "HOST_CONFIG_DIR"
	workflowEnv          = "WORKFLOW_TYPE"
	clusterIDEnv         = "CLUSTER_ID"
	clusterNameEnv       = "CLUSTER_NAME"
	clusterAPIEnv        = "CLUSTER_API_VIP_DNS_NAME"
	clusterConfigEnv     = "CLUSTER_CONFIG_DIR"
)

// LenientEnv has the client warn of fields that nothing is done with, where it is "true".
const LenientEnv = "IRONFLOW_LENIENT_MANIFESTS"

// The values of the workflow.
const (
	WorkflowInstall  = "install"
	WorkflowAddNodes = "addnodes"
)

// Settings are those of the environment.
type Settings struct {
	// URL is the hub's base URL.
	URL string
	// Token is sent as it is in the header Authorization; it prints as asterisks.
	Token Secret
	Files manifests.Files
	// ImageType is that of the infra-env.
	ImageType string
	// Mirror is where release images are looked up instead of where they say.
	Mirror string
	// InfraEnvID is the one that hosts are configured in.
	InfraEnvID string
	// Workflow is install or addnodes.
	Workflow string
	// ClusterID, ClusterName and ClusterAPI are those of a running cluster to import, whose
	// further settings lie in ClusterConfig.
	ClusterID, ClusterName, ClusterAPI, ClusterConfig string
	// Lenient makes warnings of fields that nothing is done with.
	Lenient bool
	// Watch has Configure go on once all hosts are configured.
	Watch bool
}

// Secret is a text that no log can show.
type Secret string

// String hides it.
func (Secret) String() string { return "***" }

// GoString hides it.
func (Secret) GoString() string { return "***" }

// assisted is where a host keeps what a container would be given below /.
const assisted = "/etc/assisted"

// folder is the default one, or, where the host below dir has only that, the same in [assisted].
func folder(dir hostfile.Dir, name string) string {
	if _, err := os.Stat(dir.Path(name)); err != nil {
		if _, err := os.Stat(dir.Path(assisted + name)); err == nil {
			return assisted + name
		}
	}
	return name
}

// FromEnv reads the environment of a host. What a subcommand needs is checked when it runs.
func FromEnv(getenv func(string) string, dir hostfile.Dir) Settings {
	manifest := folder(dir, "/manifests")
	or := func(name, otherwise string) string { return cmp.Or(strings.TrimSpace(getenv(name)), otherwise) }
	return Settings{
		URL: or(urlEnv, ""), Token: Secret(or(userTokenEnv, "")),
		Files: manifests.Files{
			ClusterDeployment:   or(clusterDeploymentEnv, manifest+"/cluster-deployment.yaml"),
			AgentClusterInstall: or(clusterInstallEnv, manifest+"/agent-cluster-install.yaml"),
			InfraEnv:            or(infraEnvFileEnv, manifest+"/infraenv.yaml"),
			PullSecret:          or(pullSecretEnv, manifest+"/pull-secret.yaml"),
			ClusterImageSet:     or(imageSetEnv, manifest+"/cluster-image-set.yaml"),
			NMStateConfig:       or(nmstateEnv, manifest+"/nmstateconfig.yaml"),
			Operators:           or(operatorsEnv, manifest+"/operators.yaml"),
			ExtraManifests:      or(extraManifestsEnv, folder(dir, "/extra-manifests")),
			HostConfig:          or(hostConfigEnv, assisted+"/hostconfig"),
		},
		ImageType: or(imageTypeEnv, "full-iso"), Mirror: or(mirrorEnv, ""), InfraEnvID: or(infraEnvIDEnv, ""),
		Workflow: or(workflowEnv, WorkflowInstall), ClusterID: or(clusterIDEnv, ""), ClusterName: or(clusterNameEnv, ""),
		ClusterAPI: or(clusterAPIEnv, ""), ClusterConfig: or(clusterConfigEnv, folder(dir, "/clusterconfig")), Lenient: or(LenientEnv, "") == "true",
		Watch: or(places.WatchHostConfigEnv, "") == "true",
	}
}

// Header is that of the calls.
func (s Settings) Header() http.Header {
	if s.Token == "" {
		return nil
	}
	return http.Header{"Authorization": {string(s.Token)}}
}

// bad is the error of a setting.
func bad(name, value, want string) error {
	if value == "" {
		return fmt.Errorf("%w: %s is not set: want %s", ErrUsage, name, want)
	}
	return fmt.Errorf("%w: %s is %.100q: want %s", ErrUsage, name, value, want)
}

func isUUID(name, value string) error {
	if uuid.Validate(value) != nil {
		return bad(name, value, "a UUID")
	}
	return nil
}
