"""Running ironflow-step: JSON in, JSON lines out, an exit code at the end."""

import collections
import json
import subprocess
import threading

from oslo_log import log

from ironflow_ipa import bounded
from ironflow_ipa import host

LOG = log.getLogger(__name__)

# Ironic keeps the whole text, but people read lists: a short first line, and
# everything in at most this many bytes.
MAX_REASON = 2048
MAX_FIRST_LINE = 300
STDERR_LINES = 20
# What the program may write, in bytes: its list of steps, a line of its
# protocol, a line of its log. A program gone wild must not eat IPA's memory.
MAX_LIST = 1 << 20
MAX_LINE = 1 << 20
MAX_LOG_LINE = 64 << 10
LIST_TIMEOUT = 30
# How long a program may take to end that has said its last word, or was killed.
GRACE = 20


class StepFailed(Exception):
    """The step did not succeed; the text is the reason for Ironic."""


def list_steps():
    """Return the steps as IPA's get_deploy_steps wants them.

    :raises: OSError, SubprocessError or ValueError if the program does not
        list any.
    """
    out = bounded.call(LIST_TIMEOUT + GRACE, _list)
    steps = json.loads(out)
    if not isinstance(steps, list) or \
            not all(isinstance(step, dict) for step in steps):
        raise ValueError('ironflow-step listed no steps: %r' % out[:200])
    return steps


def _list():
    command = [host.step_program(), 'list']
    with subprocess.Popen(command, env=host.environment(),
                          stdout=subprocess.PIPE) as process:
        timer = threading.Timer(LIST_TIMEOUT, process.kill)
        timer.start()
        try:
            out = process.stdout.read(MAX_LIST + 1)
            if len(out) > MAX_LIST:
                process.kill()
                raise ValueError('ironflow-step listed more than %d bytes'
                                 % MAX_LIST)
            code = process.wait()
        finally:
            timer.cancel()
    if code:
        raise subprocess.CalledProcessError(code, command)
    return out


def run(step, node, ports, args, on_progress, root_device=None):
    """Run a step to its end.

    :param on_progress: called with each progress line (a dict).
    :param root_device: IPA's choice of the disk to install to, see disks.py.
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
    given = {'node': node, 'ports': ports, 'args': args}
    if root_device:
        given['root_device'] = root_device
    try:
        process.stdin.write(json.dumps(given).encode())
        process.stdin.close()
    except BrokenPipeError:
        pass  # it has ended already; its last words say why
    report = _listen(process.stdout, on_progress)
    code = _end(process, step)
    reader.join(timeout=5)
    done = report and report['outcome'] == 'done'
    if done and code in (0, None):
        if report['reason']:  # a warning: nobody looks at the result
            LOG.warning('%s: %s', step, report['reason'])
        return report['result']
    raise StepFailed(reason(step, code, report, stderr))


def _listen(stream, on_progress):
    """Return the step's report, None when its output ends without one.

    The output of a program that a device holds does not end: after the report
    it is not waited for longer than a moment.
    """
    reports, told = [], threading.Event()

    def listen():
        try:
            for raw in _lines(stream):
                line = _parse(raw)
                if line and line['outcome']:
                    reports.append(line)
                    told.set()
                elif line:
                    _guard(on_progress, line)
        finally:
            told.set()
    thread = threading.Thread(target=listen, name='step-output', daemon=True)
    thread.start()
    told.wait()
    thread.join(GRACE)
    return reports[-1] if reports else None


def _end(process, step):
    """Return the exit code, None for a program that does not end by itself."""
    try:
        return process.wait(GRACE)
    except subprocess.TimeoutExpired:
        LOG.error('The program of step %s has said its last word and does '
                  'not end; it is killed', step)
    process.kill()
    try:
        process.wait(GRACE)
    except subprocess.TimeoutExpired:
        LOG.error('The program of step %s does not end although it was '
                  'killed: a device holds it', step)
    return None


def reason(step, code, report, stderr):
    """Put a failure into a text: the first line short, all at most 2 KiB."""
    if report and report['reason']:
        lines = [report['reason']] + report['detail']
    else:
        how = ('does not end' if code is None
               else 'was killed by signal %d' % -code if code < 0
               else 'ended with exit code %d and no result' % code)
        lines = ['the program of step %s %s' % (step, how)] + list(stderr)
    lines[0] = _cut(lines[0], MAX_FIRST_LINE)
    # The newest journal lines tell most: the oldest are left out.
    for oldest in [ln for ln in lines if ln.startswith('journal: ')]:
        if len('\n'.join(lines).encode()) <= MAX_REASON:
            break
        lines.remove(oldest)
    return _cut('\n'.join(lines), MAX_REASON)


def _cut(text, size):
    raw = text.encode()
    if len(raw) <= size:
        return text
    return raw[:size - 3].decode(errors='ignore') + '\N{HORIZONTAL ELLIPSIS}'


# The members that are looked at, and what stands for a missing one.
MEMBERS = {'outcome': '', 'reason': '', 'detail': [], 'result': {},
           'stage': '', 'percent': 0, 'text': ''}


def _lines(stream):
    """Yield each line; one of more than MAX_LINE bytes is left out."""
    whole = True
    while raw := stream.readline(MAX_LINE + 1):
        begins, whole = whole, raw.endswith(b'\n') or len(raw) <= MAX_LINE
        if begins and whole:
            yield raw
        elif begins:
            LOG.warning('ironflow-step wrote a line of more than %d bytes',
                        MAX_LINE)


def _parse(raw):
    """Return a line with every member, None if it is not of the protocol."""
    try:
        line = json.loads(raw)
        line = {name: default if line.get(name) is None else line[name]
                for name, default in MEMBERS.items()}
    except (ValueError, AttributeError):
        line = None
    if line and all(isinstance(line[name], type(default))
                    for name, default in MEMBERS.items()):
        return line
    LOG.warning('ironflow-step wrote a line that is not of its protocol: %r',
                raw[:200])
    return None


def _guard(on_progress, line):
    try:
        on_progress(line)
    except Exception:
        LOG.exception('Progress could not be reported; the step goes on')


def _read_log(stream, step, keep):
    while raw := stream.readline(MAX_LOG_LINE):
        line = raw.decode(errors='replace').rstrip()
        if line.strip():
            keep.append(line)
            LOG.info('%s: %s', step, line)
