package version

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// Build is what a program was built of.
type Build struct {
	// Release is the one that [Release] returns.
	Release string `json:"release"`
	// Revision is the commit of the source, with its time in RFC 3339; both are empty
	// where the source was no git repository.
	Revision string `json:"revision,omitempty"`
	Time     string `json:"revisionTime,omitempty"`
	// Changed tells that files were changed since that commit.
	Changed bool `json:"changed,omitempty"`
	// Go is the version of the compiler, Platform the system and the processor.
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// Of is the build of this program.
func Of() Build {
	b := Build{Release: Release(), Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Changed = s.Value == "true"
		}
	}
	return b
}

// String is a line for each thing that is known.
func (b Build) String() string {
	var out strings.Builder
	if b.Revision != "" {
		revision := b.Revision
		if b.Changed {
			revision += ", with changes"
		}
		fmt.Fprintf(&out, "  commit: %s (%s)\n", revision, b.Time)
	}
	fmt.Fprintf(&out, "  go: %s\n  platform: %s\n", b.Go, b.Platform)
	return out.String()
}
