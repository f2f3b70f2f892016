// Package coreos is the deploy step install_coreos: it installs a CoreOS image
// with coreos-installer, given the user's Ignition in the config drive.
//
// All inputs are read and checked first ([NewPlan]): the config drive, the
// image, the root device hints against the disks that are there. Only a
// complete [Plan] is carried out ([Step.Run]): coreos-installer in the host's
// root, an entry in the firmware's boot menu, and the done marker that
// confirm_install looks for. Every command goes through [Exec], the one seam.
package coreos

import "context"

// Exec runs a command in the host's root and hands each line of its output,
// stdout and stderr together, to line. A carriage return ends a line too, as
// progress displays use it. The error holds the exit status only.
type Exec func(ctx context.Context, argv []string, line func(string)) error
