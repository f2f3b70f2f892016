"""The machine's hardware: what IPA lists is pretended, so that it looks at nothing of this computer.

Environment: JOINT_MAC is the machine's only address. JOINT_STOCK makes it the existing ironic-agent image besides: a
step start_assisted_install of that image's behaviour, and no other.
"""

import os
import subprocess
import time

from ironic_python_agent import errors
from ironic_python_agent import hardware

# The generic manager stays for all that is not hardware, but it must not look for disks on this computer.
hardware.GenericHardwareManager.initialize = lambda self: None

ROOT = '/mnt/coreos'
POLL = 1  # seconds; the original's is 15
MANAGER = '/org/freedesktop/systemd1'
UNIT = MANAGER + '/unit/agent_2eservice'


class JointHardwareManager(hardware.HardwareManager):
    HARDWARE_MANAGER_NAME = 'JointHardwareManager'
    HARDWARE_MANAGER_VERSION = '1'

    def evaluate_hardware_support(self):
        return hardware.HardwareSupport.MAINLINE

    def list_network_interfaces(self):
        return [hardware.NetworkInterface('eno1', os.environ['JOINT_MAC'], ipv4_address='192.0.2.10')]

    def get_cpus(self):
        return hardware.CPU('Joint CPU', '2000.0000', 8, 'x86_64', flags=['fpu'], socket_count=1)

    def get_memory(self):
        return hardware.Memory(16 << 30, physical_mb=16384)

    def list_block_devices(self, include_partitions=False):
        return [hardware.BlockDevice('/dev/sda', 'Joint disk', 120 << 30, False, serial='J1')]

    def get_system_vendor_info(self):
        firmware = hardware.SystemFirmware('Joint', '1.0', '01/01/2026')
        return hardware.SystemVendorInfo('Joint', 'J1', 'Joint', firmware)

    def get_boot_info(self):
        return hardware.BootInfo('uefi')

    def get_bmc_address(self):
        return None

    def get_bmc_v6address(self):
        return None

    def wait_for_disks(self):
        pass

    # The existing image's plugin.

    def get_deploy_steps(self, node, ports):
        if not os.environ.get('JOINT_STOCK'):
            return []
        return [{'step': 'start_assisted_install', 'priority': 0, 'interface': 'deploy', 'reboot_requested': False,
                 'argsinfo': {}}]

    def start_assisted_install(self, node, ports):
        # An error of D-Bus fails the step with its text.
        _busctl('call', MANAGER, 'org.freedesktop.systemd1.Manager', 'LoadUnit', 's', 'agent.service')
        _busctl('call', MANAGER, 'org.freedesktop.systemd1.Manager', 'StartUnit', 'ss', 'agent.service', 'fail')
        time.sleep(1)
        while True:
            state = _busctl('get-property', UNIT, 'org.freedesktop.systemd1.Unit', 'ActiveState')
            if state == 'failed':
                result = _busctl('get-property', UNIT, 'org.freedesktop.systemd1.Service', 'Result')
                raise errors.DeploymentError('Service agent.service failed: %s' % result)
            if state not in ('activating', 'active'):
                return
            time.sleep(POLL)


def _busctl(verb, path, *args):
    done = subprocess.run(['chroot', ROOT, 'busctl', verb, 'org.freedesktop.systemd1', path] + list(args),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        raise errors.DeploymentError(done.stderr.decode(errors='replace').strip())
    # The answer begins with its type: s "active"
    return done.stdout.decode().strip().partition(' ')[2].strip('"')
