package lab

import (
	"context"

	"github.com/ironflow/ironflow/test/lab/cache"
	"github.com/ironflow/ironflow/test/lab/prereq"
)

// CheckPrerequisites says what the machine lacks for the parts that the options
// choose, one sentence each with what to do, before anything is started.
func CheckPrerequisites(ctx context.Context, options Options) error {
	needs, err := needsOf(options)
	if err != nil {
		return err
	}
	return prereq.Check(ctx, needs, prereq.Local())
}

// check is CheckPrerequisites for this lab's folders.
func (l *Lab) check(ctx context.Context, options Options) error {
	options.StateDir, options.CacheDir = l.Dir, l.cacheDir
	return CheckPrerequisites(ctx, options)
}

// needsOf turns options into needs. What is in the cache is not needed again.
func needsOf(options Options) (prereq.Needs, error) {
	needs := prereq.Needs{CacheDir: options.CacheDir, StateDir: options.StateDir}
	if needs.CacheDir == "" {
		dir, err := cache.DefaultDir()
		if err != nil {
			return needs, err
		}
		needs.CacheDir = dir
	}
	if o := options.ControlPlane; o != nil {
		needs.Ports = append(needs.Ports, o.Port)
		if _, given := givenAssets(); !given || o.Controllers {
			entry, _, err := assetsEntry(needs.CacheDir)
			if err != nil {
				return needs, err
			}
			needs.Go = !entry.Ready()
		}
	}
	if o := options.Ironic; o != nil {
		needs.Ports = append(needs.Ports, o.Port)
		needs.Python = true
	}
	if o := options.Emulator; o != nil {
		needs.Ports = append(needs.Ports, o.Port)
		needs.Python = true
	}
	needs.Cold = needs.Go
	return needs, nil
}
