// Package version tells which build of Ironflow this is.
package version

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// release is set at link time (-X …/api/version.release=v1.2.3).
var release = ""

// String returns the release, or the revision that the build was made from, and
// the Go version.
func String() string {
	return fmt.Sprintf("%s (%s, %s/%s)", Release(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// Release returns the release alone, e.g. for protocol fields.
func Release() string {
	if release != "" {
		return release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return "devel-" + s.Value[:12]
		}
	}
	return "devel"
}
