"""IPA as its own program starts it, on a machine that is not there.

The real agent, its client of Ironic and its search for hardware managers; the
machine alone is made up. KILL names where the process is killed: a method of the
agent or of its own hardware manager, or "write" for the moment in which the token's file would get its name.
"""

import os
import signal
import types

from ironic_python_agent import agent
from ironic_python_agent import config  # noqa: F401  registers options
from ironic_python_agent import hardware
from ironic_python_agent import tls_utils
from ironic_python_agent import utils
from ironic_python_agent.cmd import agent as program


def killed(*args, **kwargs):
    os.kill(os.getpid(), signal.SIGKILL)


def hardware_info(*args, **kwargs):
    card = types.SimpleNamespace(mac_address='52:54:00:00:00:01')
    return {'interfaces': [card]}


def certificate(ip_address):
    folder = os.environ['CERTIFICATES']
    path, key = os.path.join(folder, 'crt'), os.path.join(folder, 'key')
    text = tls_utils._generate_tls_certificate(path, key, 'host', ip_address)
    return tls_utils.TlsCertificate(text, path, key)


def prepare(kill):
    """Replace what asks the machine, and the place in which it is killed."""
    utils.copy_config_from_vmedia = lambda *args, **kwargs: None
    hardware.list_hardware_info = hardware_info
    generic = hardware.GenericHardwareManager
    generic.evaluate_hardware_support = \
        lambda self: hardware.HardwareSupport.GENERIC
    generic.initialize = lambda self: None
    generic.wait_for_disks = lambda self: None
    tls_utils.generate_tls_certificate = certificate
    of_agent = agent.IronicPythonAgent
    of_agent._wait_for_interface = lambda self: None
    if kill == 'write':
        from ironflow_ipa import kept
        kept.os = types.SimpleNamespace(**dict(vars(os), replace=killed))
    elif kill:
        place = generic if hasattr(generic, kill) else of_agent
        assert hasattr(place, kill)
        setattr(place, kill, killed)


if __name__ == '__main__':
    prepare(os.environ.get('KILL'))
    program.run()
