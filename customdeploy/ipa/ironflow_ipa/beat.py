"""Heartbeats of our own: progress, and the one right after a step.

IPA sends its forced heartbeat at most every 5 seconds, so Ironic would notice
the end of a step late; one beat of ours makes it look at once. Progress goes
along as agent_status_message where no hub shows it.

A beat is not reliable: Ironic answers 202 and drops it when the node happens
to be locked. For progress that does not matter, the next one replaces it. The
beat at a step's end is repeated until Ironic gives the next step, or a few
times: should IPA's own be dropped too, the next would come minutes later.
"""

import threading
import time

from ironic_python_agent import hardware
from ironic_python_agent import utils
from oslo_config import cfg
from oslo_log import log
import requests

LOG = log.getLogger(__name__)

API_VERSION = '1.72'
# How long after a step's return the beat is sent: IPA must have recorded it.
END_DELAY = 0.1
# The pauses between its repetitions, in seconds. Ironic's work between two
# steps takes less than the first; the last is behind IPA's own forced beats.
REPEAT_AFTER = (2, 4, 8, 16)
# Progress: at a new stage or each 10 percent, but not more often than this.
PROGRESS_EVERY = 10
PROGRESS_PERCENT = 10
MAX_MESSAGE = 255
TIMEOUT = 10


def send(node, message=None):
    """Send one heartbeat for the node; failures are logged only."""
    client = hardware.API_CLIENT
    token = getattr(client, 'agent_token', None)
    url = (node.get('driver_internal_info') or {}).get('agent_url')
    api = api_url(client)
    if not (api and token and url and node.get('uuid')):
        LOG.debug('No heartbeat: token or call-back URL are not known')
        return False
    body = {'callback_url': url, 'agent_token': token,
            'agent_version': client_version()}
    if message:
        body['agent_status'] = 'start'
        body['agent_status_message'] = message
    verify, cert = utils.get_ssl_client_options(cfg.CONF)
    try:
        answer = requests.post(
            '%s/v1/heartbeat/%s' % (api.rstrip('/'), node['uuid']),
            json=body, verify=verify, cert=cert, timeout=TIMEOUT,
            headers={'X-OpenStack-Ironic-API-Version': API_VERSION})
    except requests.RequestException as exc:
        # The text of the exception may hold the URL, never the token.
        LOG.warning('The heartbeat did not reach Ironic: %s',
                    type(exc).__name__)
        return False
    if answer.status_code != 202:
        LOG.warning('Ironic answered a heartbeat with %d',
                    answer.status_code)
        return False
    return True


def api_url(client):
    """Return Ironic's address, which older IPAs (9.4) keep as the only one."""
    urls = getattr(client, 'api_urls', None)
    return urls[0] if urls else getattr(client, 'api_url', None)


def client_version():
    """Return IPA's version, which a heartbeat must carry unchanged."""
    from ironic_python_agent import version
    return version.__version__


_moved_on = threading.Event()


def step_begins():
    """Tell that the node has moved on: the end of the step was noticed."""
    _moved_on.set()


def after_step(node):
    """Send a beat right after the step has returned, and repeat it."""
    global _moved_on
    step_begins()  # nothing of an earlier step goes on
    _moved_on = threading.Event()
    threading.Thread(target=_insist, args=(node, _moved_on),
                     name='beat-after-step', daemon=True).start()


def _insist(node, moved_on):
    for pause in (END_DELAY,) + tuple(REPEAT_AFTER):
        if moved_on.wait(pause):
            return
        send(node)


class Progress:
    """Chooses which progress lines become heartbeats, and sends them.

    A thread of its own sends: whoever reads the step's output never waits for
    Ironic. The newest line counts; one that comes too soon, or that did not
    reach Ironic, is not lost but sent, or replaced by a newer one, later.
    """

    def __init__(self, node):
        self._node = node
        self._changed = threading.Condition()
        self._newest = None
        self._sent = None  # stage, percent
        self._closed = False
        self._thread = None
        # The text outlives its deployment: it must say which one it is of.
        self._mark = ' [%s %s]' % (
            (node.get('instance_uuid') or node.get('uuid') or '')[:8],
            time.strftime('%H:%M:%SZ', time.gmtime()))

    def __call__(self, line):
        with self._changed:
            self._newest = line['stage'], line['percent'], line['text']
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._run, name='beat-progress', daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def close(self):
        """Send nothing any more: the beat at the step's end comes next."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _run(self):
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._closed or self._news())
                if self._closed:
                    return
                newest = self._newest
            if send(self._node, self._message(*newest)):
                self._sent = newest[:2]
            with self._changed:
                self._changed.wait_for(lambda: self._closed, PROGRESS_EVERY)

    def _message(self, stage, percent, text):
        """Return the text; one too long loses its end, not the mark."""
        message = '%s %d%% %s' % (stage, percent, text)
        room = MAX_MESSAGE - len(self._mark)
        if len(message) > room:
            message = message[:room - 1] + '\N{HORIZONTAL ELLIPSIS}'
        return message + self._mark

    def _news(self):
        """Tell whether the newest line is worth a beat."""
        if not self._newest or not self._sent:
            return self._newest is not None
        stage, percent, _ = self._newest
        old_stage, old_percent = self._sent
        return stage != old_stage or \
            percent >= old_percent + PROGRESS_PERCENT


class Logged:
    """Takes progress lines that Ironic need not see."""

    def __init__(self, step):
        self._step = step

    def __call__(self, line):
        LOG.info('%s: %s %s%% %s', self._step, line['stage'],
                 line['percent'], line['text'])

    def close(self):
        """Do nothing: there is nobody to stop."""
