"""IPA's identity over a restart of IPA, but not of the machine.

Ironic hands its token to the first IPA of a boot only, and refuses another
certificate. Both are kept in the host's /run, which a reboot wipes: a restarted
IPA goes on, and a restarted machine is found out.
"""

import datetime
import json
import os

from cryptography import x509
from ironic_python_agent import hardware
from ironic_python_agent import tls_utils
from oslo_log import log

from ironflow_ipa import host

LOG = log.getLogger(__name__)

FOLDER = '/run/ironflow/ipa'
BOOT_ID = '/proc/sys/kernel/random/boot_id'


def _path(name):
    return os.path.join(host.path(FOLDER), name)


def _boot_id():
    for path in (host.path(BOOT_ID), BOOT_ID):
        try:
            with open(path) as f:
                return f.read().strip()
        except OSError:
            continue
    return ''


def _write(name, text):
    os.makedirs(host.path(FOLDER), mode=0o700, exist_ok=True)
    temporary = _path('.' + name)
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(fd, 'w') as f:
        f.write(text)
    os.replace(temporary, _path(name))


def _read(name):
    try:
        with open(_path(name)) as f:
            return f.read()
    except OSError:
        return None


def save_token():
    """Keep the token that Ironic has handed out."""
    token = getattr(hardware.API_CLIENT, 'agent_token', None)
    if token:
        _write('token.json', json.dumps({'boot_id': _boot_id(),
                                         'token': token}))


def load_token():
    """Return the token of this boot, None when there is none."""
    try:
        kept = json.loads(_read('token.json') or '{}')
    except ValueError:
        return None
    if kept.get('boot_id') != _boot_id():
        return None
    return kept.get('token')


def certificate(ip_address):
    """Return this boot's certificate for the address, made on first use."""
    text, key, boot = _read('agent.crt'), _read('agent.key'), _read('boot_id')
    if text and key and boot == _boot_id() and _fits(text, ip_address):
        LOG.info('Going on with the certificate of this boot')
        return tls_utils.TlsCertificate(text, _path('agent.crt'),
                                        _path('agent.key'))
    made = tls_utils.generate_tls_certificate(ip_address)
    with open(made.private_key_path) as f:
        _write('agent.key', f.read())
    _write('agent.crt', made.text)
    _write('boot_id', _boot_id())
    return made


def _fits(text, ip_address):
    try:
        cert = x509.load_pem_x509_certificate(text.encode())
        names = cert.extensions.get_extension_for_class(
            x509.SubjectAlternativeName).value
        addresses = [str(a) for a in names.get_values_for_type(x509.IPAddress)]
        end = getattr(cert, 'not_valid_after_utc', None)
        if end is None:  # older cryptography
            end = cert.not_valid_after.replace(tzinfo=datetime.timezone.utc)
    except (ValueError, x509.ExtensionNotFound):
        return False
    now = datetime.datetime.now(datetime.timezone.utc)
    return str(ip_address) in addresses and end > now
