"""What a failed deployment needs besides IPA's own logs, without secrets."""

import io
import re
import subprocess

from oslo_log import log

from ironflow_ipa import bounded
from ironflow_ipa import host

LOG = log.getLogger(__name__)

# The container of an installer that is not ours.
INSTALLER = 'assisted-installer'
UNITS = ('agent.service', 'ironic-agent.service')
FILES = ('step.json', 'reason.json', 'installed.json')
TIMEOUT = 30
GRACE = 5

# What stands before a secret, as in the agent's own logs (agent/redact).
_NAMES = (rb'(?:token|passw(?:or)?d|passphrase|secret|secret-key'
          rb'|configdrive|user_data|["\']auth)')
_FORMS = [(re.compile(form, re.IGNORECASE), kept) for form, kept in [
    (rb'(\bdata:[\w/+.;=-]*,)[^\s"\'\\<>]+', rb'\1'),
    (rb'(authorization["\']?\s*[=:]\s*["\']?(?:\w+\s+)?)[^\s"\',;]+',
     rb'\1'),
    (rb'(\bbearer\s+)[\w.~+/=-]{6,}', rb'\1'),
    (rb'(' + _NAMES + rb'["\']?\s*[=:]\s*")(?:[^"\\\n]|\\.)+', rb'\1'),
    (rb'(' + _NAMES + rb'["\']?\s*[=:]\s*\')(?:[^\'\\\n]|\\.)+', rb'\1'),
    (rb'(' + _NAMES + rb'["\']?\s*[=:]\s*)[^\s"\'&,}]+', rb'\1'),
    # Passwords of proxies and registries in addresses.
    (rb'(://)[^/\s"\'@]+(?=@)', rb'\1'),
]]


def redact(raw):
    """Replace secrets in any text."""
    for form, kept in _FORMS:
        raw = form.sub(kept + b'(redacted)', raw)
    return raw


def _output(command):
    return bounded.call(
        TIMEOUT + GRACE, subprocess.run, host.in_root(command),
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        timeout=TIMEOUT).stdout


def collect(io_dict):
    """Add journals, unit properties and the step's files to IPA's archive."""
    sources = {}
    for unit in UNITS:
        name = unit.split('.')[0]
        sources['journal-' + name] = (
            'journalctl', '--boot', '--no-pager', '--unit', unit)
        sources['unit-' + name] = ('systemctl', 'show', unit)
    sources['journal-' + INSTALLER] = (
        'journalctl', '--boot', '--no-pager', 'CONTAINER_NAME=' + INSTALLER)
    for name, command in sources.items():
        try:
            io_dict[name] = io.BytesIO(redact(_output(command)))
        except (OSError, subprocess.SubprocessError) as exc:
            LOG.warning('%s could not be collected: %s', name, exc)
    for name in FILES:
        try:
            with open(host.path('/run/ironflow/' + name), 'rb') as f:
                io_dict[name] = io.BytesIO(redact(f.read()))
        except OSError:
            continue  # the step did not come that far
    for name in ('journal',):  # IPA's own lines hold the token
        if name in io_dict:
            io_dict[name] = io.BytesIO(redact(io_dict[name].read()))
