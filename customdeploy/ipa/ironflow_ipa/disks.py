"""The disk to install to, as IPA itself chooses it.

IPA knows the node's hints, the disks that it skips, the paths of multipath disks
and the root volume of a RAID; the step checks that the disk may be written.
"""

from ironic_python_agent import errors
from ironic_python_agent import hardware
from oslo_log import log

from ironflow_ipa import bounded

LOG = log.getLogger(__name__)

# Steps that write a disk of IPA's choice.
STEPS = ('install_coreos',)
# IPA waits for udev (up to two minutes) and asks several programs.
TIMEOUT = 300


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
