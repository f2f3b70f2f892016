"""Keeps Ironic's token in the moment in which IPA has it.

Ironic hands the token of a boot out once, in its answer to a look-up. IPA then
waits for the node's disk, for up to half a minute, tries Ironic's addresses and
finds its own before it asks for a certificate. An IPA that is killed until then
would come back without the token, and lock itself down. So the token is written as soon as the answer has been read,
before IPA has seen it. What remains is the way from Ironic's database into that
file: an answer that is lost there is lost for this boot.
"""

import functools

from ironic_python_agent import ironic_api_client
from oslo_config import cfg
from oslo_log import log

from ironflow_ipa import kept

LOG = log.getLogger(__name__)

# What Ironic says in the place of a token that it has handed out before, and
# how long a real one is at least: IPA takes no other.
HANDED_OUT = '******'
SHORTEST = 32


def keep_tokens():
    """Have every look-up of this process keep the token of its answer."""
    lookup = getattr(ironic_api_client.APIClient, 'lookup_node', None)
    if lookup is None or getattr(lookup, 'keeps_tokens', False):
        return

    @functools.wraps(lookup)
    def lookup_node(self, *args, **kwargs):
        content = lookup(self, *args, **kwargs)
        _keep(content)
        return content
    lookup_node.keeps_tokens = True
    ironic_api_client.APIClient.lookup_node = lookup_node


def _keep(content):
    """Keep the token of an answer, or say what a missing one means."""
    try:
        token = content['config'].get('agent_token')
    except (AttributeError, KeyError, TypeError):
        return  # IPA says what is wrong with it
    if not isinstance(token, str):
        return
    if token == HANDED_OUT and not cfg.CONF.agent_token:
        LOG.error('Ironic has handed the token of this boot out before, and '
                  'none was kept: the answer was lost, or IPA was killed as '
                  'it came, or the machine was restarted behind '
                  'Ironic\'s back. Have Ironic reboot the node, or deploy '
                  'again')
    if len(token) < SHORTEST:
        return
    try:
        kept.save_token(token)
    except OSError:
        LOG.exception('The token cannot be kept; a restart of IPA will end '
                      'the deployment')
