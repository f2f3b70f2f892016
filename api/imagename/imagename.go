// Package imagename tells whether the name of a container image says which registry has it.
// A short name is looked for at whatever registries a host searches, so whoever has the name
// at one of them has his program run.
package imagename

import (
	"fmt"
	"regexp"
)

// host is a part of a registry's name. It does not begin with a dash, as an option of a program does.
const host = `[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?`

// form is a registry with a dot, a port or localhost, a path, and perhaps a tag or digest.
var form = regexp.MustCompile(`^(` + host + `(\.` + host + `)+(:[0-9]+)?|` + host + `:[0-9]+|localhost|\[[0-9a-fA-F:]+\](:[0-9]+)?)` +
	`(/[a-z0-9]+([._-]+[a-z0-9]+)*)+(:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(@[a-z0-9]+:[0-9a-fA-F]{32,})?$`)

// Full refuses a name without a registry, and what is no name of an image at all.
func Full(image string) error {
	if !form.MatchString(image) {
		return fmt.Errorf("%.200q is no full image reference: write REGISTRY/PATH:TAG or REGISTRY/PATH@sha256:DIGEST, since "+
			"a name without its registry is looked for at whatever registries a host searches", image)
	}
	return nil
}
