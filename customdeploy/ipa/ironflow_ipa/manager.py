"""The hardware manager: IPA's way into this package."""

import functools
import os
import socket
import subprocess

from ironic_python_agent import errors
from ironic_python_agent import hardware
from ironic_python_agent import utils
from oslo_log import log

from ironflow_ipa import beat
from ironflow_ipa import bounded
from ironflow_ipa import disks
from ironflow_ipa import hooks
from ironflow_ipa import host
from ironflow_ipa import identity
from ironflow_ipa import logs
from ironflow_ipa import lookup
from ironflow_ipa import nics
from ironflow_ipa import program

LOG = log.getLogger(__name__)

# This container's file; the host's is hostnamed's.
ETC_HOSTNAME = '/etc/hostname'
HOSTNAME_TIMEOUT = 30
# The hub hears this step's agent itself; beats would only cost Ironic time.
HEARD_BY_HUB = ('start_assisted_install', 'confirm_install')


def progress_of(step, node):
    """Return what takes the step's lines of progress."""
    if step in HEARD_BY_HUB and not os.environ.get('IRONFLOW_PROGRESS'):
        return beat.Logged(step)
    return beat.Progress(node)


class IronflowHardwareManager(hardware.HardwareManager):
    """Lists ironflow-step's steps and runs them."""

    HARDWARE_MANAGER_NAME = 'IronflowHardwareManager'
    # Ironic fails a deployment in which this changes.
    HARDWARE_MANAGER_VERSION = '1'

    def __init__(self):
        super().__init__()
        self._steps = None

    def evaluate_hardware_support(self):
        """Be asked first. An exception would leave the manager out."""
        hooks.check(beat.client_version())
        lookup.keep_tokens()  # IPA loads its managers before it looks up
        self._fix_hostname()
        return hardware.HardwareSupport.SERVICE_PROVIDER

    def get_deploy_steps(self, node, ports):
        return self._list()

    def _list(self):
        if self._steps is None:
            try:
                self._steps = program.list_steps()
            except (OSError, ValueError, subprocess.SubprocessError):
                LOG.exception('ironflow-step cannot list its steps; this '
                              'ramdisk has no deploy steps of Ironflow')
                return []
        return self._steps

    def __getattr__(self, name):
        # IPA calls a step as a method of its name.
        if name.startswith('_'):
            raise AttributeError(name)
        if any(step['step'] == name for step in self._list()):
            return functools.partial(self._run_step, name)
        raise AttributeError(name)

    def _run_step(self, step, node, ports, **args):
        beat.step_begins()
        identity.save_token()
        progress = progress_of(step, node)
        try:
            root_device = disks.root_device() if step in disks.STEPS else None
            result = program.run(
                step, node, ports, args, progress, root_device)
            disks.boot_entries(result)
            return result
        except program.StepFailed as exc:
            raise errors.DeploymentError(str(exc))
        finally:
            progress.close()
            beat.after_step(node)

    def generate_tls_certificate(self, ip_address):
        """Keep the certificate, and the token, should the look-up not have."""
        try:
            identity.save_token()
            return identity.certificate(ip_address)
        except OSError:
            LOG.exception('The identity cannot be kept; a restart of IPA '
                          'will end the deployment')
            raise errors.IncompatibleHardwareMethodError()

    def list_network_interfaces(self):
        if hooks.filters_devices():
            raise errors.IncompatibleHardwareMethodError()
        return nics.listed(self)

    def filter_device(self, device):
        if isinstance(device, hardware.NetworkInterface) and nics.skip(
                device.name, device.mac_address, utils.get_agent_params()):
            return None
        raise errors.IncompatibleHardwareMethodError()

    def collect_system_logs(self, io_dict, file_list):
        logs.collect(io_dict)

    def _fix_hostname(self):
        """Give a host without a name the default one; only a warning else."""
        name = os.environ.get('IPA_DEFAULT_HOSTNAME')
        if not name:
            return
        try:
            bounded.call(
                HOSTNAME_TIMEOUT + 5, subprocess.run,
                [host.step_program(), 'set-hostname', name],
                env=host.environment(), check=True, timeout=HOSTNAME_TIMEOUT)
            # The container has a file of its own, from before.
            with open(ETC_HOSTNAME, 'w') as f:
                f.write(socket.gethostname() + '\n')
        except (OSError, subprocess.SubprocessError) as exc:
            LOG.warning('The host name could not be set: %s', exc)
