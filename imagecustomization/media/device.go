package media

import (
	"fmt"
	"io"
	"os"
	"syscall"
)

// OpenFile opens a medium: a regular file, or a block device. Anything else is
// refused before it is opened, which might wait for ever.
func OpenFile(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() && !isBlockDevice(info) {
		return nil, fmt.Errorf("%s is neither a file nor a block device", path)
	}
	return os.Open(path)
}

// SizeOf returns how many bytes an open medium has. The entry of a block device
// says nothing of its size.
func SizeOf(f *os.File) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if !isBlockDevice(info) {
		return info.Size(), nil
	}
	// Nobody uses the file's own offset: readers name the place that they want.
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return 0, fmt.Errorf("size of the device %s: %w", f.Name(), err)
	}
	return size, nil
}

func isBlockDevice(info os.FileInfo) bool {
	return info.Mode()&os.ModeDevice != 0 && info.Mode()&os.ModeCharDevice == 0
}

// stamp tells one state of a file from another.
type stamp struct {
	size  int64
	mtime int64 // Unix nanoseconds
	inode uint64
	// device is the number of a block device, whose entry may come to stand for
	// another one.
	device uint64
}

// stampOf is the state of an open file.
func stampOf(f *os.File) (stamp, error) {
	info, err := f.Stat()
	if err != nil {
		return stamp{}, err
	}
	size, err := SizeOf(f)
	if err != nil {
		return stamp{}, err
	}
	return newStamp(info, size), nil
}

// stampAt is the state of the file at a path. A device is opened for it, because
// one without a medium, or with another one, looks the same from outside.
func stampAt(path string) (stamp, error) {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}, err
	}
	if !isBlockDevice(info) {
		return newStamp(info, info.Size()), nil
	}
	f, err := os.Open(path)
	if err != nil {
		return stamp{}, err
	}
	defer f.Close()
	return stampOf(f)
}

func newStamp(info os.FileInfo, size int64) stamp {
	s := stamp{size: size, mtime: info.ModTime().UnixNano()}
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		s.inode = sys.Ino
		if isBlockDevice(info) {
			s.device = sys.Rdev
			// The entry's times say when it was made or written through, not what it holds.
			s.mtime = 0
		}
	}
	return s
}
