import os
import stat
import subprocess
import sys

from ironic_python_agent import tls_utils
import pytest

from ironflow_ipa import identity
from ironflow_ipa import kept
from ironflow_ipa import launch


@pytest.fixture
def generate(tmp_path, monkeypatch):
    """IPA's own generator, writing to a folder of the test."""
    made = []

    def fake(ip):
        cert, key = tmp_path / 'ipa.crt', tmp_path / 'ipa.key'
        text = tls_utils._generate_tls_certificate(
            str(cert), str(key), 'host', ip)
        made.append(ip)
        return tls_utils.TlsCertificate(text, str(cert), str(key))
    monkeypatch.setattr(tls_utils, 'generate_tls_certificate', fake)
    return made


def reboot(root):
    (root / 'proc/sys/kernel/random/boot_id').write_text('another\n')


def test_certificate_is_kept_for_this_boot_and_address(root, generate):
    first = identity.certificate('192.0.2.7')
    again = identity.certificate('192.0.2.7')
    assert again.text == first.text
    assert open(again.private_key_path).read().startswith('-----BEGIN')
    assert generate == ['192.0.2.7']
    key = root / 'run/ironflow/ipa/agent.key'
    assert stat.S_IMODE(key.stat().st_mode) == 0o600

    other = identity.certificate('192.0.2.8')
    assert other.text != first.text
    reboot(root)
    identity.certificate('192.0.2.8')
    assert generate == ['192.0.2.7', '192.0.2.8', '192.0.2.8']


def test_a_broken_certificate_is_made_anew(root, generate):
    identity.certificate('192.0.2.7')
    (root / 'run/ironflow/ipa/agent.crt').write_text('nonsense')
    identity.certificate('192.0.2.7')
    assert len(generate) == 2


def test_a_key_of_another_certificate_is_not_used(root, generate):
    """IPA was killed between the two files of a certificate."""
    folder = root / 'run/ironflow/ipa'
    identity.certificate('192.0.2.7')
    first = (folder / 'agent.crt').read_text()
    identity.certificate('192.0.2.8')
    (folder / 'agent.crt').write_text(first)
    identity.certificate('192.0.2.7')
    assert generate == ['192.0.2.7', '192.0.2.8', '192.0.2.7']


def test_token_is_kept_for_this_boot(root, client):
    assert kept.load_token() is None
    identity.save_token()
    assert kept.load_token() == client.agent_token
    path = root / 'run/ironflow/ipa/token.json'
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    reboot(root)
    assert kept.load_token() is None


def test_launcher_hands_the_token_over_in_a_file(root, client, monkeypatch):
    ran = []
    monkeypatch.setattr(os, 'execvp', lambda *a: ran.append(a))
    monkeypatch.setattr('sys.argv', ['ironflow-ipa', '--debug'])
    launch.main()
    assert ran[-1] == ('ironic-python-agent',
                       ['ironic-python-agent', '--debug'])
    identity.save_token()
    launch.main()
    command = ran[-1][1]
    assert command[1:3] == ['--debug', '--config-file']
    assert client.agent_token not in ' '.join(command)
    assert 'agent_token = ' + client.agent_token in open(command[3]).read()
    assert stat.S_IMODE(os.stat(command[3]).st_mode) & 0o077 == 0 or \
        stat.S_IMODE(os.stat(os.path.dirname(command[3])).st_mode) == 0o700


def test_launcher_in_a_process_of_its_own(root, tmp_path):
    """As in the image: nothing of IPA is imported before IPA itself."""
    kept.save_token('t' * 32)
    program = tmp_path / 'bin/ironic-python-agent'
    program.parent.mkdir()
    program.write_text('#!/bin/sh\necho "$@"; cat "$3"\n')
    program.chmod(0o755)
    out = subprocess.run(
        [sys.executable, '-c',
         'from ironflow_ipa import launch; launch.main()', '--debug'],
        env=dict(os.environ, PATH='%s:/usr/bin:/bin' % program.parent,
                 PYTHONPATH=os.pathsep.join(p for p in sys.path if p)),
        stdout=subprocess.PIPE, check=True, text=True).stdout
    assert out.startswith('--debug --config-file ')
    assert 'agent_token = ' + 't' * 32 in out
