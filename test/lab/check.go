package lab

import (
	"context"
	"sync"

	"github.com/ironflow/ironflow/test/lab/cache"
	"github.com/ironflow/ironflow/test/lab/prereq"
	"github.com/ironflow/ironflow/test/lab/progress"
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
		cold, err := coldControlPlane(needs.CacheDir, o.Controllers)
		if err != nil {
			return needs, err
		}
		needs.Go = cold
	}
	if o := options.Ironic; o != nil {
		needs.Ports = append(needs.Ports, o.Port)
		needs.Python = true
	}
	if o := options.Emulator; o != nil {
		needs.Ports = append(needs.Ports, o.Port)
		needs.Python = true
	}
	if o := options.Redfish; o != nil {
		needs.Ports = append(needs.Ports, o.Port)
	}
	needs.Cold = needs.Go
	return needs, nil
}

// coldControlPlane reports whether something of the control plane is still to be built.
func coldControlPlane(cacheDir string, controllers bool) (bool, error) {
	dir, err := givenAssets()
	if err != nil || (dir != "" && !controllers) {
		return false, err
	}
	product, err := controllersProduct()
	if err != nil {
		return false, err
	}
	entry, _, err := product.entry(cacheDir)
	if err != nil || !entry.Ready() {
		return err == nil, err
	}
	other, err := otherAPIServer()
	return err == nil && other != "" && !other.entry(entry.Path()).Ready(), err
}

// Prepare checks the prerequisites and builds and installs what the chosen
// parts need, side by side, so that a later start takes seconds. It starts nothing.
func Prepare(ctx context.Context, options Options, report progress.Func) error {
	if err := CheckPrerequisites(ctx, options); err != nil {
		return err
	}
	return prepare(ctx, options, report)
}

// prepare is Prepare without the check.
func prepare(ctx context.Context, options Options, report progress.Func) error {
	var jobs []func(context.Context) error
	if o := options.ControlPlane; o != nil {
		jobs = append(jobs, func(ctx context.Context) error {
			if _, err := Assets(ctx, options.CacheDir, report); err != nil || !o.Controllers {
				return err
			}
			_, err := controllers(ctx, options.CacheDir, report)
			return err
		})
	}
	// One after the other: usually both are of the same environment.
	jobs = append(jobs, func(ctx context.Context) error {
		if options.Ironic != nil {
			if _, err := IronicEnvironment(ctx, options.CacheDir, report); err != nil {
				return err
			}
		}
		if options.Emulator != nil {
			_, err := ownEnvironment(ctx, options.CacheDir, report)
			return err
		}
		return nil
	})
	return together(ctx, jobs...)
}

// together runs the jobs side by side and returns the first failure, at which
// the others are given up.
func together(ctx context.Context, jobs ...func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var group sync.WaitGroup
	for _, job := range jobs {
		group.Go(func() {
			if err := job(ctx); err != nil {
				// Only the first cause is kept.
				cancel(err)
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}
