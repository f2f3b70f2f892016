import json
import threading
import time
from http import server
from unittest import mock

from ironic_python_agent import hardware
import pytest

from ironflow_ipa import beat
from ironflow_ipa import manager

LISTS = '''
    if sys.argv[1] == 'list':
        print(json.dumps([{"step": "try_it", "interface": "deploy",
                           "priority": 0, "reboot_requested": False,
                           "argsinfo": {}}]))
        sys.exit(0)
'''


@pytest.fixture
def beats(monkeypatch):
    sent = []
    monkeypatch.setattr(beat, 'send', lambda *a: sent.append(a) or True)
    monkeypatch.setattr(beat, 'END_DELAY', 0)
    monkeypatch.setattr(beat, 'REPEAT_AFTER', ())
    return sent


def beats_are_over():
    for t in threading.enumerate():
        if t.name == 'beat-after-step':
            t.join()


def test_lists_the_program_s_steps(step, node):
    step(LISTS)
    m = manager.IronflowHardwareManager()
    assert m.evaluate_hardware_support() == \
        hardware.HardwareSupport.SERVICE_PROVIDER
    assert [s['step'] for s in m.get_deploy_steps(node, [])] == ['try_it']
    assert callable(m.try_it)
    assert not hasattr(m, 'other_step')


def test_a_ramdisk_without_the_program_still_works(monkeypatch, root, node):
    monkeypatch.setenv('IRONFLOW_STEP', '/not/there')
    monkeypatch.setenv('IPA_DEFAULT_HOSTNAME', 'node-1')
    m = manager.IronflowHardwareManager()
    m.evaluate_hardware_support()
    assert m.get_deploy_steps(node, []) == []


def test_success_returns_the_result(step, client, node, beats):
    step(LISTS + '''
    got = json.load(sys.stdin)
    assert got["node"]["uuid"].startswith("1111") and got["ports"] == [1]
    print(json.dumps({"t": "x", "stage": "a", "percent": 5, "text": "b"}),
          flush=True)
    print("no json", flush=True)
    import time
    time.sleep(0.5)
    print(json.dumps({"outcome": "done", "result": {
        "args": got["args"], "root": os.environ["IRONFLOW_ROOT"]}}))
    ''')
    m = manager.IronflowHardwareManager()
    result = m.try_it(node, [1], total_s=7)
    assert result['args'] == {'total_s': 7}
    assert result['root'].endswith('/root')
    beats_are_over()
    assert beats[0][1].startswith('a 5% b [')  # progress
    assert beats[-1] == (node,)  # the end


class Sink:
    """Ironic, as far as progress goes: what came, and when."""

    def __init__(self, monkeypatch, every):
        self.texts, self.times = [], []
        self.free = threading.Event()
        self.free.set()
        monkeypatch.setattr(beat, 'send', self.send)
        monkeypatch.setattr(beat, 'PROGRESS_EVERY', every)

    def send(self, node, text):
        self.free.wait(10)
        self.texts.append(text)
        self.times.append(time.monotonic())
        return True

    def expect(self, want):
        """Wait until what came begins with these words."""
        got = []
        for _ in range(1000):
            got = [text.split('%')[0] for text in self.texts]
            if got == want:
                return
            time.sleep(0.01)
        assert got == want


# What comes when, and with which text, is in test_contract.py, where time is
# played. Here the threads are the real ones.
def line(stage, percent):
    return {'stage': stage, 'percent': percent, 'text': ''}


def test_progress_that_comes_too_soon_is_sent_later(node, monkeypatch):
    sink = Sink(monkeypatch, 0.3)
    p = beat.Progress(node)
    p(line('write', 99))
    sink.expect(['write 99'])
    p(line('boot', 0))
    p(line('boot', 5))
    sink.expect(['write 99', 'boot 5'])
    assert sink.times[1] - sink.times[0] >= 0.3, 'not more often'
    p.close()


def test_a_slow_ironic_does_not_hold_the_step_up(node, monkeypatch):
    sink = Sink(monkeypatch, 0)
    sink.free.clear()
    p = beat.Progress(node)
    begin = time.monotonic()
    for percent in range(100):
        p(line('write', percent))
    p.close()
    assert time.monotonic() - begin < 5
    sink.free.set()


def test_a_beat_as_ironic_sees_it(client, node):
    seen = {}

    class Handler(server.BaseHTTPRequestHandler):
        def do_POST(self):
            size = int(self.headers['Content-Length'])
            seen['path'] = self.path
            seen['version'] = self.headers['X-OpenStack-Ironic-API-Version']
            seen['body'] = json.loads(self.rfile.read(size))
            self.send_response(202)
            self.end_headers()

        def log_message(self, *args):
            pass

    with server.HTTPServer(('127.0.0.1', 0), Handler) as ironic:
        thread = threading.Thread(target=ironic.handle_request)
        thread.start()
        client.api_urls = ['http://127.0.0.1:%d' % ironic.server_port]
        assert beat.send(node, 'write 5%')
        thread.join()
    assert seen['path'] == '/v1/heartbeat/' + node['uuid']
    assert seen['version'] == '1.72'
    assert seen['body']['callback_url'] == 'https://192.0.2.7:9999'
    assert seen['body']['agent_token'] == client.agent_token
    assert seen['body']['agent_status'] == 'start'
    assert seen['body']['agent_status_message'] == 'write 5%'


def test_the_last_beat_is_repeated_until_the_next_step(
        step, node, beats, monkeypatch):
    step(LISTS + '\n    print(json.dumps({"outcome": "done"}))')
    monkeypatch.setattr(beat, 'REPEAT_AFTER', (0.01, 0.01, 60, 60))
    m = manager.IronflowHardwareManager()
    m.try_it(node, [])
    for _ in range(500):  # the first three come at once
        if len(beats) == 3:
            break
        time.sleep(0.01)
    assert beats == [(node,)] * 3, 'Ironic may have dropped the first'

    monkeypatch.setattr(beat, 'REPEAT_AFTER', ())
    m.try_it(node, [])
    beats_are_over()  # of both steps: none waits for its minute any more
    assert beats == [(node,)] * 4


def test_a_lost_node_is_not_beaten_for_ever(node, beats, monkeypatch):
    monkeypatch.setattr(beat, 'REPEAT_AFTER', (0.01,) * 4)
    beat.after_step(node)
    beats_are_over()
    assert beats == [(node,)] * 5


def test_a_beat_that_fails_is_no_failure(client, node):
    assert beat.send(node) is False  # nobody listens
    with mock.patch.object(hardware, 'API_CLIENT', None):
        assert beat.send(node) is False
