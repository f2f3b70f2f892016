package overlay

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/imagecustomization/iso"
)

// ErrNoKargs means that a medium does not support edits of kernel arguments.
var ErrNoKargs = errors.New("this medium has no kernel-argument support")

// KargsEdit is a change of kernel arguments: first deletions, then
// replacements, then additions.
type KargsEdit struct {
	// Append adds arguments at the end.
	Append []string
	// Replace holds KEY=OLD=NEW entries; KEY=OLD must be present.
	Replace []string
	// Delete removes arguments that must be present, written as they are there.
	Delete []string
}

// Empty tells whether the edit changes nothing.
func (e KargsEdit) Empty() bool {
	return len(e.Append) == 0 && len(e.Replace) == 0 && len(e.Delete) == 0
}

// Apply returns the arguments after the edit.
func (e KargsEdit) Apply(args string) (string, error) {
	list := strings.Fields(args)
	for _, arg := range e.Delete {
		i := slices.Index(list, arg)
		if i < 0 {
			return "", fmt.Errorf("kernel argument %q cannot be deleted: it is not there (%s)", arg, args)
		}
		list = slices.Delete(list, i, i+1)
	}
	for _, entry := range e.Replace {
		key, rest, _ := strings.Cut(entry, "=")
		was, now, ok := strings.Cut(rest, "=")
		if key == "" || !ok {
			return "", fmt.Errorf("kernel argument replacement %q: want KEY=OLD=NEW", entry)
		}
		i := slices.Index(list, key+"="+was)
		if i < 0 {
			return "", fmt.Errorf("kernel argument %q cannot be replaced: it is not there (%s)", key+"="+was, args)
		}
		if err := checkArgument(now); err != nil {
			return "", err
		}
		list[i] = key + "=" + now
	}
	for _, arg := range e.Append {
		if err := checkArgument(arg); arg == "" || err != nil {
			return "", fmt.Errorf("kernel argument %q cannot be added: %w", arg, cmpErr(err, errors.New("it is empty")))
		}
		list = append(list, arg)
	}
	return strings.Join(list, " "), nil
}

func cmpErr(err, other error) error {
	if err != nil {
		return err
	}
	return other
}

// checkArgument refuses what a boot loader would read as something else:
// isolinux knows no quoting, and a newline ends the command.
func checkArgument(arg string) error {
	if strings.ContainsFunc(arg, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return fmt.Errorf("kernel argument %q holds a space or control character, which boot loaders cannot quote", arg)
	}
	return nil
}

// kargsPatch writes args into every area of the medium.
func kargsPatch(b *Builder, k *iso.Kargs, args string) error {
	for _, area := range k.Areas {
		if len(args) > area.Capacity() {
			return fmt.Errorf("kernel arguments have %d bytes, %s takes at most %d", len(args), area.Path, area.Capacity())
		}
		raw := bytes.Repeat([]byte{area.Pad}, int(area.Length))
		copy(raw, args+area.Terminator)
		b.Bytes(area.Offset, raw)
	}
	return nil
}

// SetKargs returns the medium with these kernel arguments in every area, and
// everything else as it is.
func SetKargs(media Media, args string) (*Image, error) {
	if media.Layout.Kargs == nil {
		return nil, ErrNoKargs
	}
	b := NewBuilder(media.Source)
	if err := kargsPatch(b, media.Layout.Kargs, args); err != nil {
		return nil, err
	}
	return b.Build()
}
