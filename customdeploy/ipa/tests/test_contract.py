"""The cases that this plugin and the simulated machines' have in common.

test/ipa/contract/contract.go says what the members of cases.json mean.
"""

import json
import math
import pathlib
import re
import shlex

from ironic_python_agent import errors
import pytest

from ironflow_ipa import beat
from ironflow_ipa import manager

CASES = pathlib.Path(__file__).parents[3] / 'test/ipa/contract/cases.json'
LISTS = '[{"step": "try_it", "interface": "deploy", "priority": 0}]'
MARK = re.compile(r' \[11111111 \d\d:\d\d:\d\dZ\]$')


def _table():
    text = re.sub(r'\{\{(.+?)\*(\d+)\}\}',
                  lambda m: m[1] * int(m[2]), CASES.read_text())
    return json.loads(text)


TABLE = _table()


def cases(part):
    return pytest.mark.parametrize(
        'case', TABLE[part], ids=[case['name'] for case in TABLE[part]])


def line(value):
    return value if isinstance(value, str) else json.dumps(value)


@pytest.fixture
def script(tmp_path, monkeypatch, root):
    """Replace ironflow-step by a shell script; returns its path."""
    path = tmp_path / 'ironflow-step'
    monkeypatch.setenv('IRONFLOW_STEP', str(path))

    def install(body):
        path.write_text('#!/bin/sh\n' + body)
        path.chmod(0o700)
        return path
    install.path = path
    return install


@cases('lists')
def test_lists(case, script, node):
    m = manager.IronflowHardwareManager()
    answers = case['answers']
    for i, want in enumerate(case['steps']):
        # The program that would answer next: a plugin that asks again sees it.
        if not (asked := (script.path.parent / 'asked')).exists():
            asked.write_text('')
        answer = answers[min(len(asked.read_text()), len(answers) - 1)]
        script('printf x >> %s; printf %%s %s; exit %d\n' % (
            asked, shlex.quote(line(answer['stdout'])), answer['exit']))
        steps = m.get_deploy_steps(node, [])
        assert [s['step'] for s in steps] == want, i


@cases('runs')
def test_runs(case, script, client, node, monkeypatch):
    monkeypatch.setattr(beat, 'after_step', lambda node: None)
    stages = []
    monkeypatch.setattr(beat.Progress, '__call__',
                        lambda self, told: stages.append(told['stage']))
    body = '[ "$1" != list ] || { echo %s; exit 0; }\n' % shlex.quote(LISTS)
    if not case.get('unread'):
        body += 'cat >/dev/null\n'
    for text in case.get('stdout', []):
        body += "cat <<'EOF'\n%s\nEOF\n" % line(text)
    body += "cat >&2 <<'EOF'\n%sEOF\n" % case.get('stderr', '')
    if case.get('signal'):
        body += 'kill -%d $$\n' % case['signal']
    path = script(body + 'exit %d\n' % case.get('exit', 0))
    m = manager.IronflowHardwareManager()
    assert callable(m.try_it)
    if case.get('missing'):
        path.unlink()
    args = {'big': '1' * (100 << 10)} if case.get('unread') else {}
    if case.get('result') is not None:
        assert m.try_it(node, [], **args) == case['result']
    else:
        with pytest.raises(errors.DeploymentError) as caught:
            m.try_it(node, [], **args)
        reason = case['reason']
        if reason.endswith(': …'):
            assert caught.value.details.startswith(reason[:-1])
        else:
            assert caught.value.details == reason
    assert stages == case.get('progress', [])


class Clock:
    """Time that passes only while the plugin waits, and what happens in it.

    It takes the place of the condition or of the event that is waited for.
    """

    def __init__(self, events):
        self.now = 0
        self.events = sorted(events, key=lambda event: event[0])

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        return False

    def notify_all(self):
        pass

    def wait_for(self, predicate, timeout=math.inf):
        end = self.now + timeout
        while not predicate():
            if not self.events or self.events[0][0] > end:
                assert end < math.inf, 'it waits for ever'
                self.now = end
                return False
            self.now, happens = self.events.pop(0)
            happens()
        return True

    def wait(self, timeout):
        return self.wait_for(lambda: False, timeout)

    def passes(self, seconds):
        self.wait_for(lambda: False, seconds)


@cases('progress')
def test_progress(case, node, monkeypatch):
    monkeypatch.delenv('IRONFLOW_PROGRESS', raising=False)
    if case.get('all'):
        monkeypatch.setenv('IRONFLOW_PROGRESS', '1')
    progress = manager.progress_of(case['step'], node)
    sent = []
    clock = Clock(
        [(one['at'], lambda one=one: progress(one)) for one in case['lines']]
        + [(case['ends'], progress.close)])

    def send(node, text):
        number = len(sent)
        assert len(text) <= 255 and MARK.search(text)
        sent.append({'at': clock.now, 'text': MARK.sub('', text)})
        clock.passes(case.get('slow', 0))
        return number not in case.get('refused', [])
    monkeypatch.setattr(beat, 'send', send)
    if isinstance(progress, beat.Progress):
        progress._changed = clock
        progress._thread = 'this one'
        progress._run()
    else:
        clock.passes(case['ends'])
    assert sent == case['beats']


@cases('ends')
def test_ends(case, node, monkeypatch):
    moved_on = []
    events = [(case['next'], lambda: moved_on.append(True))] \
        if case.get('next') else []
    clock = Clock(events)
    clock.wait = lambda timeout: clock.wait_for(lambda: moved_on, timeout)
    sent = []
    monkeypatch.setattr(beat, 'send',
                        lambda node, *text: sent.append((clock.now, text)))
    beat._insist(node, clock)
    assert [round(at, 3) for at, _ in sent] == case['beats']
    assert not any(text for _, text in sent)
