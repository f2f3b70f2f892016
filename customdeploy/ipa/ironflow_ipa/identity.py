"""IPA's identity over a restart of IPA, but not of the machine.

Ironic hands its token to the first IPA of a boot only, and refuses another
certificate. Both are kept in the host's /run, which a reboot wipes: a restarted
IPA goes on, and a restarted machine is found out.
"""

import datetime

from cryptography import x509
from cryptography.hazmat.primitives import serialization
from ironic_python_agent import hardware
from ironic_python_agent import tls_utils
from oslo_log import log

from ironflow_ipa import kept

LOG = log.getLogger(__name__)


def save_token():
    """Keep the token that Ironic has handed out."""
    token = getattr(hardware.API_CLIENT, 'agent_token', None)
    if token:
        kept.save_token(token)


def certificate(ip_address):
    """Return this boot's certificate for the address, made on first use."""
    text, key = kept.read('agent.crt'), kept.read('agent.key')
    boot = kept.read('boot_id')
    if text and key and boot == kept.boot_id() and \
            _fits(text, key, ip_address):
        LOG.info('Going on with the certificate of this boot')
        return tls_utils.TlsCertificate(text, kept.path('agent.crt'),
                                        kept.path('agent.key'))
    made = tls_utils.generate_tls_certificate(ip_address)
    with open(made.private_key_path) as f:
        kept.write('agent.key', f.read())
    kept.write('agent.crt', made.text)
    kept.write('boot_id', kept.boot_id())
    return made


def _fits(text, key, ip_address):
    """Tell whether a server can use both for the address.

    Somebody who was killed while another pair was written leaves a key and a
    certificate that do not belong together.
    """
    try:
        cert = x509.load_pem_x509_certificate(text.encode())
        own = serialization.load_pem_private_key(key.encode(), None)
        if own.public_key().public_numbers() != \
                cert.public_key().public_numbers():
            return False
        names = cert.extensions.get_extension_for_class(
            x509.SubjectAlternativeName).value
        addresses = [str(a) for a in names.get_values_for_type(x509.IPAddress)]
        end = getattr(cert, 'not_valid_after_utc', None)
        if end is None:  # older cryptography
            end = cert.not_valid_after.replace(tzinfo=datetime.timezone.utc)
    except (AttributeError, TypeError, ValueError, x509.ExtensionNotFound):
        return False
    now = datetime.datetime.now(datetime.timezone.utc)
    return str(ip_address) in addresses and end > now
