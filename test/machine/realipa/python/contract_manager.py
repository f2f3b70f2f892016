"""A hardware manager for the contract cases: a pretended machine and the contract's steps.

Environment: CONTRACT_MAC is the machine's only address, CONTRACT_DIR the folder of this boot, where the agent's
token and certificate outlive the agent.
"""

import os
import pathlib
import time

from ironic_python_agent import errors
from ironic_python_agent import hardware
from ironic_python_agent import tls_utils

KEPT = pathlib.Path(os.environ.get('CONTRACT_DIR', '/nonexistent'))
ARGS = {name: {'description': name, 'required': False} for name in ('text', 'word', 'number')}


def _step(name, priority=0, args=None):
    return {'step': name, 'priority': priority, 'interface': 'deploy', 'reboot_requested': False,
            'abortable': True, 'argsinfo': args or {}}


def _keep_token():
    """Remember the token for an agent that is started again in this boot."""
    token = getattr(hardware.API_CLIENT, 'agent_token', None)
    if token:
        (KEPT / 'token').write_text(token, encoding='ascii')


# The generic manager stays for all that is not hardware, but it must not look for disks on this computer.
hardware.GenericHardwareManager.initialize = lambda self: None


class ContractHardwareManager(hardware.HardwareManager):
    HARDWARE_MANAGER_NAME = 'ContractHardwareManager'
    HARDWARE_MANAGER_VERSION = '1'

    def evaluate_hardware_support(self):
        return hardware.HardwareSupport.SERVICE_PROVIDER

    # The machine.

    def list_network_interfaces(self):
        return [hardware.NetworkInterface('eno1', os.environ['CONTRACT_MAC'], ipv4_address='192.0.2.10')]

    def get_cpus(self):
        return hardware.CPU('Contract CPU', '2000.0000', 8, 'x86_64', flags=['fpu'], socket_count=1)

    def get_memory(self):
        return hardware.Memory(16 << 30, physical_mb=16384)

    def list_block_devices(self, include_partitions=False):
        return [hardware.BlockDevice('/dev/sda', 'Contract disk', 120 << 30, False, serial='C1')]

    def get_system_vendor_info(self):
        firmware = hardware.SystemFirmware('Contract', '1.0', '01/01/2026')
        return hardware.SystemVendorInfo('Contract', 'C1', 'Contract', firmware)

    def get_boot_info(self):
        return hardware.BootInfo('uefi')

    def get_bmc_address(self):
        return None

    def get_bmc_v6address(self):
        return None

    def wait_for_disks(self):
        pass

    def generate_tls_certificate(self, ip_address):
        certificate, key = KEPT / 'agent.crt', KEPT / 'agent.key'
        if not certificate.exists():
            tls_utils._generate_tls_certificate(str(certificate), str(key), 'contract', ip_address)
        return tls_utils.TlsCertificate(certificate.read_text(encoding='ascii'), str(certificate), str(key))

    # The steps.

    def get_clean_steps(self, node, ports):
        return [_step('erase_devices_metadata', 99), _step('contract_echo', args=ARGS), _step('contract_fail', args=ARGS)]

    def get_deploy_steps(self, node, ports):
        return [_step('contract_echo', args=ARGS), _step('contract_fail', args=ARGS), _step('contract_raise', args=ARGS),
                _step('contract_hang'), _step('contract_after', 79)]

    def erase_devices_metadata(self, node, ports):
        return None

    def contract_echo(self, node, ports, **args):
        return args

    def contract_fail(self, node, ports, text=''):
        # The kind of step is the state that the node is in.
        error = errors.CleaningError if node.get('clean_step') else errors.DeploymentError
        raise error(text)

    def contract_raise(self, node, ports, text=''):
        raise RuntimeError(text)

    def contract_hang(self, node, ports):
        _keep_token()
        while True:
            time.sleep(3600)

    def contract_after(self, node, ports):
        return None
