package serving

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"
)

// Rescan is how often base images and settings are looked at.
const Rescan = time.Minute

// FollowBases looks for new base images, and downloads those of the list, now and every [Rescan] until ctx ends. [Service.Serve] does so, too.
func (s *Service) FollowBases(ctx context.Context) {
	ticker := time.NewTicker(Rescan)
	defer ticker.Stop()
	for before := s.state(); ; {
		err := s.lookForBases(ctx)
		if err != nil && ctx.Err() == nil {
			s.log.Error(err, "cannot get all base images")
		}
		if now := s.state(); now != before {
			before = now
			s.tellChange()
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// state stands for everything but a host's own settings that images are made of.
func (s *Service) state() string {
	sum := sha256.New()
	for _, b := range s.Media.List() {
		nmstatectl, _ := b.Nmstatectl()
		fmt.Fprintf(sum, "%q %q %q %q %t\n", b.Path, b.State(), b.Arch, b.Version, nmstatectl)
	}
	fmt.Fprintln(sum, s.Settings())
	return string(sum.Sum(nil))
}

// tellChange has all images compared, and the networks of InfraEnvs judged; one word is enough until it is heard.
func (s *Service) tellChange() {
	for _, to := range []chan struct{}{s.Changed, s.ChangedForEnvs} {
		select {
		case to <- struct{}{}:
		default:
		}
	}
}

// FailedBases are why base images of the list could not be downloaded when that was last tried.
func (s *Service) FailedBases() []string { return s.mirror.Failed() }

func (s *Service) lookForBases(ctx context.Context) error {
	if s.mirror != nil {
		return s.mirror.Sync(ctx)
	}
	return s.Media.Rescan(ctx)
}
