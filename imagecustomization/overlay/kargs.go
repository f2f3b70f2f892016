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

// Operations on kernel arguments, as the protocol names them.
const (
	KargAppend  = "append"
	KargReplace = "replace"
	KargDelete  = "delete"
)

// KargsOperation is one change of the kernel arguments.
type KargsOperation struct {
	// Operation is one of the constants above.
	Operation string
	// Value is the argument; for a replacement KEY=OLD=NEW.
	Value string
}

// KargsEdit is a change of kernel arguments: first the operations in their order,
// then deletions, then replacements, then additions.
type KargsEdit struct {
	// Operations are those of a list that somebody wrote: each sees what the ones before
	// it have made.
	Operations []KargsOperation `json:",omitempty"`
	// Append adds arguments at the end.
	Append []string
	// Replace holds KEY=OLD=NEW entries; KEY=OLD must be present.
	Replace []string
	// Delete removes arguments that must be present, written as they are there.
	Delete []string
}

// Empty tells whether the edit changes nothing.
func (e KargsEdit) Empty() bool {
	return len(e.Operations)+len(e.Append)+len(e.Replace)+len(e.Delete) == 0
}

// OnlyAppends tells whether nothing is deleted or replaced, which needs arguments
// that are there already.
func (e KargsEdit) OnlyAppends() bool {
	return len(e.Replace)+len(e.Delete) == 0 &&
		!slices.ContainsFunc(e.Operations, func(o KargsOperation) bool { return o.Operation == KargReplace || o.Operation == KargDelete })
}

// Apply returns the arguments after the edit.
func (e KargsEdit) Apply(args string) (string, error) {
	list := strings.Fields(args)
	for i, o := range e.Operations {
		var err error
		if list, err = o.apply(list); err != nil {
			return "", fmt.Errorf("operation %d on the kernel arguments: %w", i+1, err)
		}
	}
	for _, part := range []struct {
		operation string
		values    []string
	}{{KargDelete, e.Delete}, {KargReplace, e.Replace}, {KargAppend, e.Append}} {
		for _, value := range part.values {
			var err error
			if list, err = (KargsOperation{part.operation, value}).apply(list); err != nil {
				return "", err
			}
		}
	}
	return strings.Join(list, " "), nil
}

func (o KargsOperation) apply(list []string) ([]string, error) {
	switch o.Operation {
	case KargAppend:
		return appendKarg(list, o.Value)
	case KargReplace:
		return replaceKarg(list, o.Value)
	case KargDelete:
		return deleteKarg(list, o.Value)
	}
	return nil, fmt.Errorf("%q is not known: want %s, %s or %s", o.Operation, KargAppend, KargReplace, KargDelete)
}

func deleteKarg(list []string, arg string) ([]string, error) {
	i := slices.Index(list, arg)
	if i < 0 {
		return nil, fmt.Errorf("kernel argument %q cannot be deleted: it is not there (%s)", arg, strings.Join(list, " "))
	}
	return slices.Delete(list, i, i+1), nil
}

func replaceKarg(list []string, entry string) ([]string, error) {
	key, rest, _ := strings.Cut(entry, "=")
	was, now, ok := strings.Cut(rest, "=")
	if key == "" || !ok {
		return nil, fmt.Errorf("kernel argument replacement %q: want KEY=OLD=NEW", entry)
	}
	i := slices.Index(list, key+"="+was)
	if i < 0 {
		return nil, fmt.Errorf("kernel argument %q cannot be replaced: it is not there (%s)", key+"="+was, strings.Join(list, " "))
	}
	if err := checkArgument(now); err != nil {
		return nil, err
	}
	list[i] = key + "=" + now
	return list, nil
}

func appendKarg(list []string, arg string) ([]string, error) {
	if err := checkArgument(arg); arg == "" || err != nil {
		return nil, fmt.Errorf("kernel argument %q cannot be added: %w", arg, cmpErr(err, errors.New("it is empty")))
	}
	return append(list, arg), nil
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
	e := newEditor(media)
	if err := e.setKargs(args); err != nil {
		return nil, err
	}
	return e.build()
}
