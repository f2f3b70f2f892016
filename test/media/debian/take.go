package debian

import (
	"context"
	"embed"
	"path"
	"path/filepath"
)

//go:embed take
var taking embed.FS

// Take returns the program at a path of a Debian package, which is not installed for it:
// taken at first use, and kept in the user's cache.
func Take(ctx context.Context, pkg, program string) (string, error) {
	dir, err := Make(ctx, Scripts{
		Name: "package-" + pkg, Files: taking, Dir: "media/debian", Make: "take/take.sh", Args: []string{pkg, program}, Alone: true,
		Inputs: [][]byte{[]byte(pkg), []byte(program)},
	})
	return filepath.Join(dir, path.Base(program)), err
}
