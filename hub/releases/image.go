package releases

import (
	"regexp"
	"strings"

	"github.com/ironflow/ironflow/hub/wire"
)

// tagForm is the tag of a release image as releases are published: the version, and
// after a dash what it is for.
var tagForm = regexp.MustCompile(`^\d+\.\d+\.\d+(-(ec|rc)\.\d+)?`)

// ByImage returns the release that an image is: as the catalog says, or as the image's
// tag does where the catalog does not have it.
func (c Catalog) ByImage(image string) (wire.ReleaseImage, bool) {
	for _, known := range c.Images {
		if known.URL == image {
			return known, true
		}
	}
	name := image[strings.LastIndex(image, "/")+1:]
	if name, _, digest := strings.Cut(name, "@"); digest && !strings.Contains(name, ":") {
		return wire.ReleaseImage{}, false
	}
	_, tag, _ := strings.Cut(name, ":")
	version := tagForm.FindString(tag)
	return wire.ReleaseImage{URL: image, Version: version, OpenshiftVersion: stream(version)}, version != ""
}
