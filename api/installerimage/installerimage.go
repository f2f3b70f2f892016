// Package installerimage says whose installer carries out an order to install: the
// agent's own, which needs no container, or the one in the image that the order names.
// The hub orders of the own one only what that can do.
package installerimage

import (
	"path"
	"strings"
)

// Own tells whether an order that names the installer image is for the installer of an
// agent of the image agent: it names none, it has the same repository, or its repository's
// last part begins with "ironflow".
func Own(installer, agent string) bool {
	if installer == "" {
		return true
	}
	repository := Repository(installer)
	return repository == Repository(agent) || strings.HasPrefix(path.Base(repository), "ironflow")
}

// Repository is an image reference without tag and digest.
func Repository(image string) string {
	image, _, _ = strings.Cut(image, "@")
	if i := strings.LastIndex(image, ":"); i > strings.LastIndex(image, "/") {
		image = image[:i]
	}
	return image
}
