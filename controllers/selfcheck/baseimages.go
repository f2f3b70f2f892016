package selfcheck

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// BaseImages is what live images are made of, as far as it is told.
type BaseImages struct {
	// Place is the file or folder, List the file that lists those that are downloaded, if any.
	Place, List string
	// Usable are the base images by architecture and version, Broken why others cannot be used,
	// by their paths.
	Usable []string
	Broken map[string]error
	// Failed are why some of the list could not be downloaded.
	Failed []string
}

// NoBaseImage says what to do where there is none.
const NoBaseImage = "put a live ISO with the CoreOS layout there, as NAME.x86_64.iso, or have it downloaded by --base-image-list or `ironflow media fetch` (docs/images.md)"

// Media looks at the base images: without one no host gets a live image, and nothing else says so
// before the first host waits for it.
func Media(look func(context.Context) (BaseImages, error)) Check {
	return Check{"base images", func(ctx context.Context) []Finding {
		b, err := look(ctx)
		if err != nil {
			return wrong(err.Error(), NoBaseImage)
		}
		return b.judge()
	}}
}

func (b BaseImages) judge() (findings []Finding) {
	for _, path := range slices.Sorted(maps.Keys(b.Broken)) {
		findings = append(findings, wrong(fmt.Sprintf("%s cannot be used: %v", filepath.Base(path), b.Broken[path]), "put the complete file there, or remove it; `ironflow media check` reads it again")...)
	}
	for _, why := range b.Failed {
		findings = append(findings, wrong(fmt.Sprintf("one of %s is not there: %s", b.List, why), "correct its URL and SHA-256, or see why its server does not answer; it is tried again every minute")...)
	}
	switch {
	case len(b.Usable) > 0:
		return append(good(fmt.Sprintf("%s in %s", strings.Join(b.Usable, ", "), b.Place)), findings...)
	case len(b.Failed) > 0:
		return findings
	case b.List != "":
		return append(doubtful(fmt.Sprintf("there is none in %s yet, so no host gets a live image; those of %s are downloaded", b.Place, b.List), "wait; `ironflow media list` and the log say how far they are"), findings...)
	}
	return append(wrong(fmt.Sprintf("there is none in %s, so no host gets a live image", b.Place), NoBaseImage), findings...)
}
