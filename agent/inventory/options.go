package inventory

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/ironflow/ironflow/agent/steps"
)

// Options are the limits that a hub or a command line sets.
type Options struct {
	// OutputMaxSize bounds the JSON in bytes, DiskMinSize is the smallest disk
	// in bytes that is listed; 0 means no limit.
	OutputMaxSize, DiskMinSize int64
}

// ParseStep reads the arguments of an inventory step: the host's id and
// optional limits.
func ParseStep(args []string) (Options, error) {
	var o Options
	if err := steps.Strings(args, 1, 3); err != nil {
		return o, err
	}
	if _, err := uuid.Parse(args[0]); err != nil {
		return o, fmt.Errorf("host id %q is not a UUID", args[0])
	}
	for _, arg := range args[1:] {
		name, value, _ := strings.Cut(arg, "=")
		size, err := strconv.ParseInt(value, 10, 64)
		if err != nil || size < 0 {
			return o, fmt.Errorf("argument %q: want a number of bytes", arg)
		}
		switch name {
		case "--output-max-size":
			o.OutputMaxSize = size
		case "--disk-min-size":
			o.DiskMinSize = size
		default:
			return o, fmt.Errorf("argument %q is not known", arg)
		}
	}
	return o, nil
}
