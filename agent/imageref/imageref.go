// Package imageref tells whether a text that a hub sent is a container image
// reference in the form that the protocol prescribes.
package imageref

import (
	"regexp"
	"strings"
)

// form is the protocol's pattern.
var form = regexp.MustCompile(`^(([a-zA-Z0-9\-\.]+)(:[0-9]+)?\/)?[a-z0-9\._\-\/@]+[?::a-zA-Z0-9_\-.]+$`)

// Valid tells whether the text is an image reference. Besides the protocol's
// pattern it must not begin with a dash: a program that gets it as an argument
// would take it for an option.
func Valid(text string) bool { return form.MatchString(text) && !strings.HasPrefix(text, "-") }
