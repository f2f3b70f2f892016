"""The disk to install to, as IPA itself chooses it.

IPA knows the node's hints, the disks that it skips, the paths of multipath disks
and the root volume of a RAID; the step checks that the disk may be written.
"""

from ironic_python_agent import efi_utils
from ironic_python_agent import errors
from ironic_python_agent import hardware
from oslo_log import log

from ironflow_ipa import bounded
from ironflow_ipa import program

LOG = log.getLogger(__name__)

# Steps that write a disk of IPA's choice.
STEPS = ('install_coreos',)
# IPA waits for udev (up to two minutes) and asks several programs.
TIMEOUT = 300
# IPA copies boot loaders and tries each program several times.
ENTRIES_TIMEOUT = 600


def root_device():
    """Return IPA's answer for the step, None when it has none.

    Without an answer the step chooses by the same rules itself.
    """
    try:
        name = bounded.call(
            TIMEOUT, hardware.dispatch_to_managers,
            'get_os_install_device', permit_refresh=True)
    except errors.DeviceNotFound as exc:
        return {'error': str(exc.details)}
    except Exception:
        LOG.exception('IPA could not be asked for the disk to install to; '
                      'the step chooses it by the same rules')
        return None
    return {'name': name} if name else None


def boot_entries(result):
    """Make the boot entries of a software RAID, which no firmware reads.

    IPA has made boot partitions beside it, fills them and enters each.

    :raises: StepFailed if nothing was made: the machine would not boot.
    """
    if result.get('boot_entries') != 'ipa':
        return
    disk = result['disk']
    try:
        made = bounded.call(ENTRIES_TIMEOUT, efi_utils.manage_uefi, disk)
        why = 'there is no boot loader on it'
    except Exception as exc:
        LOG.exception('IPA could not make the boot entries of %s', disk)
        made, why = False, exc
    if not made:
        raise program.StepFailed('installed on the software RAID %s, but the '
                                 'machine would not boot it: %s' % (disk, why))
