package artifacts

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// mountFlags pairs the flags that statfs(2) tells of a mount with those that mount(2) takes.
var mountFlags = map[int64]uintptr{
	unix.ST_NOSUID: unix.MS_NOSUID, unix.ST_NODEV: unix.MS_NODEV, unix.ST_NOEXEC: unix.MS_NOEXEC,
	unix.ST_NOATIME: unix.MS_NOATIME, unix.ST_NODIRATIME: unix.MS_NODIRATIME, unix.ST_RELATIME: unix.MS_RELATIME,
}

// MakeWritable remounts a folder read-write where it is mounted read-only; its
// other mount flags stay.
func MakeWritable(folder string) error {
	var s unix.Statfs_t
	if err := unix.Statfs(folder, &s); err != nil {
		return fmt.Errorf("look at the mount of %s: %w", folder, err)
	}
	present := int64(s.Flags) //nolint:unconvert // its type differs between machines
	if present&unix.ST_RDONLY == 0 {
		return nil
	}
	flags := uintptr(unix.MS_REMOUNT)
	for told, taken := range mountFlags {
		if present&told != 0 {
			flags |= taken
		}
	}
	if err := unix.Mount("", folder, "", flags, ""); err != nil {
		return fmt.Errorf("remount %s read-write: %w", folder, err)
	}
	return nil
}
