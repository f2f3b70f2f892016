// Package coreos is the deploy step install_coreos: it installs a CoreOS image
// with coreos-installer, given the user's Ignition in the config drive.
//
// All inputs are read and checked first ([NewPlan]): the config drive, the
// image, the root device hints against the disks that are there. Only a
// complete [Plan] is carried out ([Step.Run]): coreos-installer in the host's
// root, an entry in the firmware's boot menu, and the done marker that
// confirm_install looks for. What the host agent needs as well lies in the
// packages beside this one: hostexec, blockdev, coreosinstaller, efiboot.
package coreos
