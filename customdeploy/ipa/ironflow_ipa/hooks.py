"""What this package needs of IPA, looked at when IPA starts.

IPA calls hardware managers by the names of their methods: one that an older IPA
does not know is never called, and nothing says so. So each is looked for, and what
is missing is told with what is lost.
"""

from ironic_python_agent import efi_utils
from ironic_python_agent import errors
from ironic_python_agent import hardware
from ironic_python_agent import ironic_api_client
from ironic_python_agent import tls_utils
from ironic_python_agent import utils
from oslo_log import log

LOG = log.getLogger(__name__)

# The versions of IPA that the tests run with: the oldest and the newest.
OLDEST = '9.4.0'
NEWEST = '13.0.0'

# What is looked for, where, and what is lost without it.
NEEDED = (
    (efi_utils, 'manage_uefi', 'nothing is installed on a software RAID'),
    (errors, 'DeploymentError', 'a step that fails says no reason'),
    (errors, 'DeviceNotFound', 'steps that write a disk fail'),
    (hardware, 'API_CLIENT', 'no heartbeat right after a step, no progress'),
    (hardware, 'dispatch_to_managers',
     'IPA is not asked for the disk to install to'),
    (hardware, 'get_managers', 'links to the BMC are not left out'),
    (hardware.HardwareManager, 'get_os_install_device',
     'IPA is not asked for the disk to install to'),
    (hardware.HardwareManager, 'generate_tls_certificate',
     'a restart of IPA ends the deployment'),
    (hardware.HardwareManager, 'collect_system_logs',
     'logs of a failed deployment are those of IPA alone'),
    (hardware.HardwareManager, 'list_network_interfaces',
     'links to the BMC are not left out'),
    (ironic_api_client.APIClient, 'lookup_node',
     'an IPA that is killed soon after its start ends the deployment'),
    (tls_utils, 'generate_tls_certificate',
     'a restart of IPA ends the deployment'),
    (utils, 'get_ssl_client_options',
     'no heartbeat right after a step, no progress'),
    (utils, 'get_agent_params', 'links to the BMC are not left out'),
)


def filters_devices():
    """Tell whether IPA asks for each device (since 11.1)."""
    return hasattr(hardware.HardwareManager, 'filter_device')


def missing():
    """Return what is not there, as texts for people."""
    return ['%s.%s: %s' % (getattr(place, '__name__', place), name, lost)
            for place, name, lost in NEEDED if not hasattr(place, name)]


def check(version):
    """Say what is missing; return the same."""
    lacks = missing()
    for text in lacks:
        LOG.error('IPA %s lacks what Ironflow needs (%s to %s have it): %s',
                  version, OLDEST, NEWEST, text)
    if not OLDEST_PARTS <= parts(version)[:2] <= NEWEST_PARTS:
        LOG.warning('IPA %s is none of the versions that Ironflow is tested '
                    'with: %s to %s', version, OLDEST, NEWEST)
    return lacks


def parts(version):
    """Return a version's numbers."""
    numbers = []
    for part in str(version).split('.'):
        digits = ''.join(c for c in part if c.isdigit())
        numbers.append(int(digits or 0))
    return numbers


OLDEST_PARTS = parts(OLDEST)[:2]
NEWEST_PARTS = parts(NEWEST)[:1] + [99]
