import threading

import pytest

from ironflow_ipa import bounded
from ironflow_ipa import logs
from ironflow_ipa import program


def test_what_ends_in_time():
    assert bounded.call(10, lambda a, b: a + b, 1, b=2) == 3
    with pytest.raises(KeyError):
        bounded.call(10, {}.__getitem__, 'x')


def test_what_does_not_end_is_left_behind():
    free = threading.Event()
    with pytest.raises(TimeoutError):
        bounded.call(0.01, free.wait)
    free.set()


def test_logs_without_a_program_that_hangs(root, monkeypatch):
    free = threading.Event()
    monkeypatch.setattr(logs.subprocess, 'run', lambda *a, **kw: free.wait())
    monkeypatch.setattr(logs, 'TIMEOUT', 0)
    monkeypatch.setattr(logs, 'GRACE', 0.01)
    archive = {}
    logs.collect(archive)
    assert archive == {}
    free.set()


@pytest.mark.parametrize('outcome', ['done', 'failed'])
def test_a_report_counts_though_the_program_does_not_end(
        step, client, monkeypatch, outcome):
    """A device holds it: its output stays open, and no signal ends it."""
    monkeypatch.setattr(program, 'GRACE', 0.2)
    step('''
    import time
    sys.stdin.read()
    print(json.dumps({"outcome": "%s", "reason": "the disk hangs",
                      "result": {"a": 1}}), flush=True)
    time.sleep(600)
    ''' % outcome)
    if outcome == 'done':
        assert program.run('x', {}, [], {}, print) == {'a': 1}
        return
    with pytest.raises(program.StepFailed, match='the disk hangs'):
        program.run('x', {}, [], {}, print)
