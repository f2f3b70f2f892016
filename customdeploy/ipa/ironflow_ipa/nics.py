"""USB network interfaces of the BMC, which every machine has with equal MACs."""

import os

from ironic_python_agent import errors
from ironic_python_agent import hardware
from ironic_python_agent import utils
from oslo_log import log

LOG = log.getLogger(__name__)

DEFAULT_DRIVERS = 'cdc_ether,cdc_ncm'


def drivers():
    """Return the drivers whose interfaces are left out."""
    value = os.environ.get('IRONFLOW_SKIP_NIC_DRIVERS', DEFAULT_DRIVERS)
    return {d.strip() for d in value.split(',') if d.strip()}


def driver_of(name, sysfs='/sys'):
    """Return the kernel driver of an interface, empty when unknown."""
    link = os.path.join(sysfs, 'class/net', name, 'device/driver')
    try:
        return os.path.basename(os.readlink(link))
    except OSError:
        return ''


def boot_mac(params):
    """Return the MAC that the machine booted from, from BOOTIF."""
    value = params.get('BOOTIF') or ''
    if value.startswith('01-'):
        value = value[3:]
    return value.replace('-', ':').lower()


def skip(name, mac, params, sysfs='/sys'):
    """Tell whether an interface is left out of all listings."""
    driver = driver_of(name, sysfs)
    if driver not in drivers():
        return False
    if mac and mac.lower() == boot_mac(params):
        return False
    LOG.info('Leaving out %s (driver %s): a link to the BMC', name, driver)
    return True


def listed(own):
    """Return the interfaces of the other managers without those left out.

    For an IPA that does not ask for each device.
    """
    for manager in hardware.get_managers():
        if manager is own:
            continue
        try:
            found = manager.list_network_interfaces()
        except errors.IncompatibleHardwareMethodError:
            continue
        params = utils.get_agent_params()
        return [nic for nic in found
                if not skip(nic.name, nic.mac_address, params)]
    raise errors.IncompatibleHardwareMethodError()
