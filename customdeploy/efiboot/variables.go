package efiboot

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/ironflow/ironflow/api/hostfile"
)

const (
	efivars = "/sys/firmware/efi/efivars"
	// global is the vendor of the variables that UEFI itself defines; it ends their names.
	global = "-8be4df61-93ca-11d2-aa0d-00e098032b8c"
	// variableAttributes are those of the boot menu's variables: kept without power, and
	// there for the loader and the running system. They stand before the content.
	variableAttributes = 0x7
	variableHead       = 4
	// maxVariable bounds what is read; firmware seldom takes more than 32 KiB.
	maxVariable = 128 << 10
	// immutable is FS_IMMUTABLE_FL of <linux/fs.h>.
	immutable = 0x10
)

// variables are the firmware's, as files of efivarfs.
type variables struct{ dir string }

func variablesOf(host hostfile.Dir) variables { return variables{host.Path(efivars)} }

// names lists all variables, with their vendors. None at all is an error: firmware
// always has some.
func (v variables) names() ([]string, error) {
	list, err := os.ReadDir(v.dir)
	if err != nil {
		return nil, fmt.Errorf("read the firmware's variables: %w", err)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s is empty: %w", efivars, errNotMounted)
	}
	names := make([]string, len(list))
	for i, entry := range list {
		names[i] = entry.Name()
	}
	return names, nil
}

// errNotMounted is for a live system that shows no variable.
var errNotMounted = errors.New("efivarfs is not mounted in this live system, or the kernel was started with efi=noruntime")

// read returns a variable's attributes and content.
func (v variables) read(name string) (attributes uint32, content []byte, err error) {
	f, err := os.Open(filepath.Join(v.dir, name))
	if err != nil {
		return 0, nil, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxVariable+1))
	switch {
	case err != nil:
		return 0, nil, err
	case len(raw) < variableHead:
		return 0, nil, fmt.Errorf("variable %s is cut short", name)
	case len(raw) > maxVariable:
		return 0, nil, fmt.Errorf("variable %s has more than %d bytes", name, maxVariable)
	}
	return binary.LittleEndian.Uint32(raw), raw[variableHead:], nil
}

// write sets a variable and looks whether the firmware has kept it: some say yes and
// forget.
func (v variables) write(name string, attributes uint32, content []byte) error {
	path := filepath.Join(v.dir, name)
	defer mutable(path)()
	_, missing := os.Stat(path)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644) // without O_TRUNC: the firmware gets old or new, never none
	if err != nil {
		return fmt.Errorf("write the firmware's variable %s: %w", name, err)
	}
	raw := append(binary.LittleEndian.AppendUint32(nil, attributes), content...)
	_, err = f.Write(raw) // all at once, as the kernel wants it
	if info, _ := f.Stat(); err == nil && info != nil && info.Size() > int64(len(raw)) {
		err = f.Truncate(int64(len(raw))) // a plain file, as of a simulated host; a variable has its new size by now
	}
	if err := errors.Join(err, f.Close()); err != nil {
		if missing != nil {
			_ = os.Remove(path) // the file that stands for no variable
		}
		return fmt.Errorf("write the firmware's variable %s: %w", name, err)
	}
	if _, now, err := v.read(name); err != nil || string(now) != string(content) {
		return fmt.Errorf("the firmware did not keep its variable %s, and has not said why: %w", name, errors.Join(errForgets, err))
	}
	return nil
}

// remove deletes a variable.
func (v variables) remove(name string) error {
	path := filepath.Join(v.dir, name)
	mutable(path)
	return os.Remove(path)
}

// errForgets is for firmware that takes a variable and has another one afterwards.
var errForgets = errors.New("it reads back differently")

// mutable lets a file be written that the kernel, or a person, has protected from
// being deleted by mistake. It returns what protects it again.
func mutable(path string) (restore func()) {
	nothing := func() {}
	f, err := os.Open(path)
	if err != nil {
		return nothing
	}
	defer f.Close()
	flags, err := unix.IoctlGetInt(int(f.Fd()), unix.FS_IOC_GETFLAGS)
	if err != nil || flags&immutable == 0 {
		return nothing
	}
	if setFlags(f, flags&^immutable) != nil {
		return nothing // the write will say what is wrong
	}
	return func() {
		if f, err := os.Open(path); err == nil {
			_ = setFlags(f, flags)
			_ = f.Close()
		}
	}
}

func setFlags(f *os.File, flags int) error {
	return unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, flags)
}

// refused tells whether the firmware, or the kernel for it, will not change its mind.
func refused(err error) bool {
	for _, final := range []error{
		unix.EROFS, unix.EPERM, unix.EACCES, unix.ENOSPC, unix.EINVAL, unix.ENOSYS, unix.EISDIR, os.ErrNotExist, errForgets, errNoPlace, errNotMounted, errNoGPT,
	} {
		if errors.Is(err, final) {
			return true
		}
	}
	return false
}
