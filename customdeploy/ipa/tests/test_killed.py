"""The real IPA, killed between its look-up and its first heartbeat.

Ironic hands the token out once. An IPA that was killed has to come back with it.
"""

import json
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
from http import server

import pytest

TOKEN = 'token-of-at-least-thirty-two-characters'
NODE = '11111111-2222-3333-4444-555555555555'
HERE = os.path.dirname(os.path.abspath(__file__))
# How long something is waited for that comes within seconds, or never.
GUARD = 300


class Ironic(server.BaseHTTPRequestHandler):
    """Ironic, as far as an IPA looks at it until its first heartbeat."""

    def answer(self, code, content):
        body = json.dumps(content).encode()
        self.send_response(code)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if '/v1/lookup' not in self.path:
            self.answer(200, {'default_version': {'version': '1.109'}})
            return
        handed_out, self.server.handed_out = self.server.handed_out, True
        self.answer(200, {'node': {'uuid': NODE}, 'config': {
            'heartbeat_timeout': 300, 'agent_token_required': True,
            'agent_token': '******' if handed_out else TOKEN}})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers['Content-Length'])))
        good = body.get('agent_token') == TOKEN
        self.answer(202 if good else 400, {})
        if self.path.endswith('/v1/heartbeat/' + NODE):
            self.server.beats.put(body)

    def log_message(self, *args):
        pass


@pytest.fixture
def ironic():
    with server.ThreadingHTTPServer(('127.0.0.1', 0), Ironic) as it:
        it.handed_out, it.beats = False, queue.Queue()
        thread = threading.Thread(target=it.serve_forever)
        thread.start()
        yield it
        it.shutdown()
        thread.join()


@pytest.fixture
def start(root, tmp_path, ironic):
    """Start IPA by the launcher of the image; returns its process."""
    found = tmp_path / 'site/ironflow_ipa-1.0.0.dist-info'
    found.mkdir(parents=True)
    (found / 'METADATA').write_text(
        'Metadata-Version: 2.1\nName: ironflow-ipa\nVersion: 1.0.0\n')
    (found / 'entry_points.txt').write_text(
        '[ironic_python_agent.hardware_managers]\n'
        'ironflow = ironflow_ipa.manager:IronflowHardwareManager\n')
    program = tmp_path / 'bin/ironic-python-agent'
    program.parent.mkdir()
    program.write_text('#!/bin/sh\nexec %s %s/agent_program.py "$@"\n'
                       % (sys.executable, HERE))
    program.chmod(0o755)
    (tmp_path / 'certificates').mkdir()
    with socket.socket() as free:
        free.bind(('127.0.0.1', 0))
        port = free.getsockname()[1]
    settings = tmp_path / 'ipa.conf'
    settings.write_text(
        '[DEFAULT]\nuse_stderr = True\napi_url = http://127.0.0.1:%d\n'
        'advertise_host = 127.0.0.1\nlisten_host = 127.0.0.1\n'
        'listen_port = %d\n' % (ironic.server_port, port))
    running = []

    def run(kill=''):
        paths = [str(tmp_path / 'site')] + [p for p in sys.path if p]
        process = subprocess.Popen(
            [sys.executable, '-c',
             'from ironflow_ipa import launch; launch.main()',
             '--config-file', str(settings)],
            env=dict(os.environ, KILL=kill, PYTHONPATH=os.pathsep.join(paths),
                     PATH='%s:%s' % (program.parent, os.environ['PATH']),
                     CERTIFICATES=str(tmp_path / 'certificates'),
                     XDG_CACHE_HOME=str(tmp_path / 'cache'),
                     IRONFLOW_STEP='/not/there'),
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        running.append(process)
        return process
    yield run
    for process in running:
        if process.poll() is None:
            process.kill()
        process.wait()
        process.stderr.close()


def is_killed(process):
    """Wait for the end of a process that kills itself."""
    log = process.communicate(timeout=GUARD)[1]
    assert process.returncode == -signal.SIGKILL, log


def first_beat(process, ironic):
    """Wait for a heartbeat of a process that goes on, or for its end."""
    log = []
    reader = threading.Thread(target=lambda: log.extend(process.stderr))
    reader.daemon = True
    reader.start()
    for _ in range(GUARD):
        try:
            return ironic.beats.get(timeout=1)
        except queue.Empty:
            assert process.poll() is None, ''.join(log)
    pytest.fail('no heartbeat: ' + ''.join(log))


@pytest.mark.parametrize('place', [
    'process_lookup_data',  # the first that IPA does with the answer
    'wait_for_disks',  # for up to half a minute, before it takes the token
    'serve_ipa_api',  # it has its token in memory
    '_start_auto_tls',  # right before it asks for a certificate
])
def test_killed_after_the_look_up(start, ironic, place):
    is_killed(start(kill=place))
    assert ironic.handed_out and ironic.beats.empty()
    beat = first_beat(start(), ironic)
    assert beat['agent_token'] == TOKEN
    assert beat['callback_url'].startswith('https://127.0.0.1:')


def test_killed_between_heartbeats(start, ironic):
    first = start()
    before = first_beat(first, ironic)
    first.kill()
    first.wait()
    after = first_beat(start(), ironic)
    assert after == before, 'the same token, certificate and call-back URL'


def test_killed_while_the_token_is_written(start, ironic, root):
    """What remains: nobody has the token, and the log says what to do."""
    is_killed(start(kill='write'))
    assert ironic.handed_out
    assert not (root / 'run/ironflow/ipa/token.json').exists()
    again = start()
    for line in again.stderr:
        if 'Have Ironic reboot the node' in line:
            break
    else:
        pytest.fail('it ended without a word on the token')
    assert TOKEN not in line
