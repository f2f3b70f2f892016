"""Running ironflow-step: JSON in, JSON lines out, an exit code at the end."""

import collections
import json
import subprocess
import threading

from oslo_log import log

from ironflow_ipa import host

LOG = log.getLogger(__name__)

# Ironic keeps the whole text, but people read lists: a short first line, and
# everything in at most this many bytes.
MAX_REASON = 2048
MAX_FIRST_LINE = 300
STDERR_LINES = 20


class StepFailed(Exception):
    """The step did not succeed; the text is the reason for Ironic."""


def list_steps():
    """Return the steps as IPA's get_deploy_steps wants them."""
    out = subprocess.run(
        [host.step_program(), 'list'], env=host.environment(), check=True,
        stdout=subprocess.PIPE, timeout=30).stdout
    return json.loads(out)


def run(step, node, ports, args, on_progress):
    """Run a step to its end.

    :param on_progress: called with each progress line (a dict).
    :returns: the step's result (a dict).
    :raises: StepFailed with the reason.
    """
    try:
        process = subprocess.Popen(
            [host.step_program(), step], env=host.environment(),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE)
    except OSError as exc:
        raise StepFailed('the program of step %s cannot be started: %s'
                         % (step, exc))
    stderr = collections.deque(maxlen=STDERR_LINES)
    reader = threading.Thread(
        target=_read_log, args=(process.stderr, step, stderr), daemon=True)
    reader.start()
    last = None
    try:
        process.stdin.write(json.dumps(
            {'node': node, 'ports': ports, 'args': args}).encode())
        process.stdin.close()
    except BrokenPipeError:
        pass  # it has ended already; its last words say why
    for raw in process.stdout:
        last = _parse(raw) or last
        if last and 'outcome' not in last:
            _guard(on_progress, last)
    code = process.wait()
    reader.join(timeout=5)
    if code == 0 and last and last.get('outcome') == 'done':
        return last.get('result') or {}
    raise StepFailed(reason(step, code, last, stderr))


def reason(step, code, last, stderr):
    """Put a failure into a text: the first line short, all at most 2 KiB."""
    if last and 'outcome' in last and last.get('reason'):
        lines = [last['reason']] + list(last.get('detail') or [])
    else:
        how = ('was killed by signal %d' % -code if code < 0
               else 'ended with exit code %d and no result' % code)
        lines = ['the program of step %s %s' % (step, how)] + list(stderr)
    lines[0] = _cut(lines[0], MAX_FIRST_LINE)
    text = '\n'.join(lines)
    if len(text.encode()) <= MAX_REASON:
        return text
    # The newest journal lines tell most: leave out from behind the facts.
    facts = [line for line in lines if not line.startswith('journal: ')]
    journal = [line for line in lines if line.startswith('journal: ')]
    while journal:
        text = '\n'.join(facts + journal)
        if len(text.encode()) <= MAX_REASON:
            return text
        journal.pop(0)
    return _cut('\n'.join(facts), MAX_REASON)


def _cut(text, size):
    raw = text.encode()
    if len(raw) <= size:
        return text
    return raw[:size - 3].decode(errors='ignore') + '\N{HORIZONTAL ELLIPSIS}'


def _parse(raw):
    try:
        line = json.loads(raw)
    except ValueError:
        line = None
    if isinstance(line, dict):
        return line
    LOG.warning('ironflow-step wrote a line that is no JSON object: %r',
                raw[:200])
    return None


def _guard(on_progress, line):
    try:
        on_progress(line)
    except Exception:
        LOG.exception('Progress could not be reported; the step goes on')


def _read_log(stream, step, keep):
    for raw in stream:
        line = raw.decode(errors='replace').rstrip()
        keep.append(line)
        LOG.info('%s: %s', step, line)
