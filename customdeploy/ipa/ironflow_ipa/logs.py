"""What a failed deployment needs besides IPA's own logs, without secrets."""

import io
import re
import subprocess

from oslo_log import log

from ironflow_ipa import host

LOG = log.getLogger(__name__)

# The container of an installer that is not ours.
INSTALLER = 'assisted-installer'
UNITS = ('agent.service', 'ironic-agent.service')
FILES = ('step.json', 'reason.json', 'installed.json')
TIMEOUT = 30

_SECRETS = re.compile(
    rb'((?:agent_token|PULL_SECRET_TOKEN|X-Secret-Key|[Aa]uthorization'
    rb'|password|"auth")["\']?\s*[=:]\s*["\']?(?:(?:Basic|Bearer)\s+)?)'
    rb'([^\s"\'&,}]+)')


def redact(raw):
    """Replace secrets in any text."""
    return _SECRETS.sub(rb'\1(redacted)', raw)


def _output(command):
    return subprocess.run(
        host.in_root(command), stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, timeout=TIMEOUT).stdout


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
