package nodespec

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
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
	registry := registryOf(image)
	value, err := registryAuth(raw, registry, secret.Type == corev1.SecretTypeDockerConfigJson)
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

// registryOf is the registry of an OCI image's URL.
func registryOf(image string) string {
	u, err := url.Parse(image)
	if err != nil {
		return ""
	}
	return registryName(u.Host)
}

// registryName brings a key of a Docker configuration into one form: a host and
// its port.
func registryName(key string) string {
	if _, rest, found := strings.Cut(key, "://"); found {
		key = rest
	}
	host, _, _ := strings.Cut(key, "/")
	host = strings.ToLower(host)
	if host == "docker.io" || host == "registry-1.docker.io" {
		return registryAlias
	}
	return host
}

// registryAuth finds "user:password" for a registry; empty for no entry. A
// dockerconfigjson keeps its entries below "auths".
func registryAuth(raw []byte, registry string, nested bool) (string, error) {
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
	for key, e := range entries {
		if registryName(key) != registry {
			continue
		}
		if e.Username != "" || e.Password != "" {
			return e.Username + ":" + e.Password, nil
		}
		decoded, err := base64.StdEncoding.DecodeString(e.Auth)
		if err != nil || !strings.Contains(string(decoded), ":") {
			return "", fmt.Errorf("the entry for %s has an auth that is not the base64 form of user:password", registry)
		}
		return string(decoded), nil
	}
	return "", nil
}

// Reasons of the events about pull secrets.
const (
	reasonAuthFormat = "ImageAuthFormatUnsupported"
	reasonAuthParse  = "ImageAuthParseError"
)
