package nodespec

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"

	"github.com/ironflow/ironflow/ironic"
)

// keyPullSecret is instance_info's key of the credentials of an image registry.
const keyPullSecret = "image_pull_secret" //nolint:gosec // a name, no secret

// PullSecret is what a registry of OCI images is shown.
type PullSecret struct {
	// Value is "user:password"; never logged.
	Value string
	// Problem is what is wrong with the Secret, empty for nothing.
	Problem string
	// Reason is the event's reason where there is one for the problem.
	Reason string
}

// PullSecretName is the name of the Secret with the registry's credentials;
// empty for none.
func PullSecretName(image *metal3.Image) string {
	if !image.IsOCI() || image.OCIAuthSecretName == nil {
		return ""
	}
	return *image.OCIAuthSecretName
}

// addPullSecret puts the credentials into what the node shall look like.
func addPullSecret(credentials string, image *metal3.Image, d *ironic.Desired) {
	d.InstanceInfo[keyPullSecret] = ironic.Remove
	if credentials != "" && PullSecretName(image) != "" {
		d.InstanceInfo[keyPullSecret] = credentials
	}
}

// ReadPullSecret finds the credentials for an image in a Secret.
func ReadPullSecret(secret *corev1.Secret, image string) *PullSecret {
	var raw []byte
	switch secret.Type {
	case corev1.SecretTypeDockerConfigJson:
		raw = secret.Data[corev1.DockerConfigJsonKey]
	case corev1.SecretTypeDockercfg:
		raw = secret.Data[corev1.DockerConfigKey]
	default:
		return &PullSecret{Reason: reasonAuthFormat, Problem: fmt.Sprintf(
			"the image pull Secret %q has type %q: it must be %s or %s", secret.Name, secret.Type, corev1.SecretTypeDockerConfigJson, corev1.SecretTypeDockercfg)}
	}
	registry, repository := registryOf(image)
	value, err := registryAuth(raw, registry, repository, secret.Type == corev1.SecretTypeDockerConfigJson)
	switch {
	case err != nil:
		return &PullSecret{Reason: reasonAuthParse, Problem: "the image pull Secret " + strconv.Quote(secret.Name) + " cannot be read: " + err.Error()}
	case value == "":
		return &PullSecret{Problem: "the image pull Secret " + strconv.Quote(secret.Name) + " has no entry for the registry " + strconv.Quote(registry)}
	}
	return &PullSecret{Value: value}
}

// registryAlias is the name under which credentials of Docker Hub are kept.
const registryAlias = "index.docker.io"

// registryOf is the registry of an OCI image's URL, and the path below it.
func registryOf(image string) (registry, repository string) {
	u, err := url.Parse(image)
	if err != nil {
		return "", ""
	}
	registry, _ = registryName(u.Host)
	return registry, strings.Trim(u.Path, "/")
}

// registryName brings a key of a Docker configuration into one form: a host and its port,
// and the path that it is limited to. The path of a key with a scheme, such as /v2/, is that
// of the registry's API and limits nothing.
func registryName(key string) (host, path string) {
	_, rest, isURL := strings.Cut(key, "://")
	if isURL {
		key = rest
	}
	host, path, _ = strings.Cut(key, "/")
	if host, path = strings.ToLower(host), strings.Trim(path, "/"); isURL {
		path = ""
	}
	if host == "docker.io" || host == "registry-1.docker.io" {
		host = registryAlias
	}
	return host, path
}

// covers reports whether a key that is limited to a path is one for a repository. A tag or a
// digest may follow the repository's name.
func covers(path, repository string) bool {
	rest, below := strings.CutPrefix(repository, path)
	return path == "" || below && (rest == "" || strings.ContainsAny(rest[:1], "/:@"))
}

// registryAuth finds "user:password" for a repository of a registry; empty for no entry. Of
// several entries it is the one with the longest path. A dockerconfigjson keeps its
// entries below "auths".
func registryAuth(raw []byte, registry, repository string, nested bool) (string, error) {
	type entry struct {
		Username string `json:"username"`
		Password string `json:"password"`
		Auth     string `json:"auth"`
	}
	entries := map[string]entry{}
	var err error
	if nested {
		var config struct {
			Auths map[string]entry `json:"auths"`
		}
		err = json.Unmarshal(raw, &config)
		entries = config.Auths
	} else {
		err = json.Unmarshal(raw, &entries)
	}
	if err != nil {
		return "", fmt.Errorf("it is no Docker configuration (%T)", err) // the text could quote credentials
	}
	var best *entry
	longest := -1
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		host, path := registryName(key)
		if host == registry && covers(path, repository) && len(path) > longest {
			best, longest = new(entries[key]), len(path)
		}
	}
	switch {
	case best == nil:
		return "", nil
	case best.Username != "" || best.Password != "":
		return best.Username + ":" + best.Password, nil
	}
	decoded, err := base64.StdEncoding.DecodeString(best.Auth)
	if err != nil || !strings.Contains(string(decoded), ":") {
		return "", fmt.Errorf("the entry for %s has an auth that is not the base64 form of user:password", registry)
	}
	return string(decoded), nil
}

// Reasons of the events about pull secrets.
const (
	reasonAuthFormat = "ImageAuthFormatUnsupported"
	reasonAuthParse  = "ImageAuthParseError"
)
