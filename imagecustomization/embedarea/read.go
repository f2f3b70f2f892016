package embedarea

import (
	"errors"
	"fmt"
	"io"
	"path"
)

// ErrNoIgnition is returned for an image without an Ignition config.
var ErrNoIgnition = errors.New("the image holds no Ignition config")

// Decode reads the content of an embed area. As in the kernel, a later member of
// the same name wins. Directories are left out: whoever writes the content again makes
// those that it needs.
func Decode(area io.Reader) (Content, error) {
	c := Content{Keyfiles: map[string][]byte{}}
	for e, err := range Members(area) {
		switch {
		case err != nil:
			return Content{}, fmt.Errorf("embed area: %w", err)
		case e.IsSymlink(): // units of the initrd are switched on by them
			c.Files = append(c.Files, e)
		case !e.IsRegular():
		case e.Name == IgnitionName:
			c.Ignition = e.Data
		case path.Dir(e.Name) == KeyfileDir:
			c.Keyfiles[path.Base(e.Name)] = e.Data
		default:
			c.Files = append(c.Files, e)
		}
	}
	return c, nil
}
