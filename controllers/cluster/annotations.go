package cluster

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	hivev1 "github.com/ironflow/ironflow/api/hive/v1"
	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/hub/sources"
)

// annotations are the settings that are no members of the kinds.
func (w *wish) annotations() error {
	said, s := w.aci.Annotations, &w.spec
	s.Revoke = said[names.RevokeCluster]
	s.InstallConfigOverrides = said[names.InstallConfigOverrides]
	s.IgnoredClusterValidations = ids(said[names.IgnoredClusterValidations])
	s.IgnoredHostValidations = ids(said[names.IgnoredHostValidations])
	if text, given := w.cd.Annotations[names.HiveReconcilePause]; given {
		paused, err := strconv.ParseBool(text)
		if err != nil {
			return wrong("annotation %s of ClusterDeployment %s: want true or false", names.HiveReconcilePause, w.cd.Name)
		}
		s.Hold = s.Hold || paused
	}
	s.Source = sources.Name(said[names.IgnitionSource])
	return w.kubernetes()
}

// held tells that a person keeps the installation from beginning.
func held(aci *hiveextv1.AgentClusterInstall, cd *hivev1.ClusterDeployment) bool {
	paused, err := strconv.ParseBool(cd.Annotations[names.HiveReconcilePause])
	return aci.Spec.HoldInstallation || err == nil && paused
}

// kubernetes are the settings of that source.
func (w *wish) kubernetes() error {
	text, given := w.aci.Annotations[names.KubernetesSettings]
	version, versioned := w.aci.Annotations[names.KubernetesVersion]
	if !given && !versioned {
		return nil
	}
	if w.spec.Source != sources.Kubernetes {
		return wrong("annotations %s and %s are of source kubernetes: set %s to kubernetes, or take them away",
			names.KubernetesVersion, names.KubernetesSettings, names.IgnitionSource)
	}
	settings := &sources.KubernetesSettings{}
	if given {
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.DisallowUnknownFields()
		err := decoder.Decode(settings)
		if err == nil && decoder.More() {
			err = errors.New("there is more behind it")
		}
		if err != nil {
			return wrong("annotation %s: want a JSON object with version, endpoint, programs, image_repository, vip_image, cri_socket, ignore_preflight and mirrors: %w", names.KubernetesSettings, err)
		}
	}
	if versioned {
		if settings.Version != "" && settings.Version != version {
			return wrong("annotations %s and %s name different versions: take one away", names.KubernetesVersion, names.KubernetesSettings)
		}
		settings.Version = version
	}
	w.spec.Kubernetes = settings
	return nil
}

// ids are those of a list with commas.
func ids(text string) []string {
	var out []string
	for id := range strings.SplitSeq(text, ",") {
		if id = strings.TrimSpace(id); id != "" {
			out = append(out, id)
		}
	}
	return out
}
