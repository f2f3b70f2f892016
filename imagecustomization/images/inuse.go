package images

import "time"

// InUse tells whether the file at a path is being read, or was within the grace
// time: who reads it expects the same bytes under the address that led there.
func (s *Store) InUse(path string) bool {
	r := s.Lookup(path)
	if r == nil || !r.Intact() {
		return false
	}
	return r.readers.Load() > 0 || time.Since(time.Unix(0, r.lastRead.Load())) < s.options.Grace
}
