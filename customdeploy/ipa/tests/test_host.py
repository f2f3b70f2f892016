import io
import os

from ironic_python_agent import errors
from ironic_python_agent import hardware
import pytest

from ironflow_ipa import logs
from ironflow_ipa import manager
from ironflow_ipa import nics


@pytest.fixture
def sysfs(tmp_path):
    def add(name, driver):
        device = tmp_path / 'class/net' / name / 'device'
        device.mkdir(parents=True)
        (tmp_path / driver).mkdir(exist_ok=True)
        os.symlink(tmp_path / driver, device / 'driver')
    add('usb0', 'cdc_ether')
    add('eth0', 'e1000e')
    return str(tmp_path)


@pytest.mark.parametrize('name,params,skipped', [
    ('usb0', {}, True),
    ('usb0', {'BOOTIF': '01-0A-00-27-00-00-01'}, False),
    ('usb0', {'BOOTIF': '0a:00:27:00:00:02'}, True),
    ('eth0', {}, False),
    ('bond0', {}, False),
])
def test_usb_nics(sysfs, name, params, skipped):
    assert nics.skip(name, '0a:00:27:00:00:01', params, sysfs) is skipped


def test_usb_nic_drivers_can_be_set(sysfs, monkeypatch):
    monkeypatch.setenv('IRONFLOW_SKIP_NIC_DRIVERS', '')
    assert not nics.skip('usb0', '', {}, sysfs)


def test_other_devices_are_not_our_business(root):
    m = manager.IronflowHardwareManager()
    disk = hardware.BlockDevice('/dev/sda', 'm', 1, False)
    with pytest.raises(errors.IncompatibleHardwareMethodError):
        m.filter_device(disk)


@pytest.mark.parametrize('line', [
    'POST http://x/v1/commands?agent_token=hunter2&wait=true',
    'PULL_SECRET_TOKEN=hunter2',
    'X-Secret-Key: hunter2',
    'Authorization: Basic hunter2',
    '"auth": "hunter2"}',
    "{'agent_token': 'hunter2', 'x': 1}",
    'Environment=HTTPS_PROXY=http://user:hunter2@proxy:3128 NO_PROXY=x',
    'pull of docker://hunter2@registry/image',
    '{"password": "a hunter2, hunter2"}',
    "{'Password': 'a hunter2, hunter2'}",
    'PASSWORD=hunter2',
    'X-Auth-Token: hunter2',
    'sent Bearer hunter2hunter2',
    "'instance_info': {'configdrive': 'hunter2'}",
    'source: data:text/plain;base64,hunter2',
])
def test_secrets_are_redacted(line):
    assert b'hunter2' not in logs.redact(line.encode())
    assert b'(redacted)' in logs.redact(line.encode())


def test_logs(root, monkeypatch):
    asked = []

    def output(command):
        asked.append(command)
        if command[0] == 'systemctl':
            raise OSError('no such program')
        return b'a line with agent_token=hunter2'
    monkeypatch.setattr(logs, '_output', output)
    run = root / 'run/ironflow'
    run.mkdir(parents=True)
    (run / 'step.json').write_text('{"step": "x"}')
    archive = {'journal': io.BytesIO(b'agent_token=hunter2 ok')}
    logs.collect(archive)
    texts = {name: f.read() for name, f in archive.items()}
    assert texts['journal-agent'] == b'a line with agent_token=(redacted)'
    assert 'journal-assisted-installer' in texts
    assert ('journalctl', '--boot', '--no-pager',
            'CONTAINER_NAME=assisted-installer') in asked
    assert texts['step.json'] == b'{"step": "x"}'
    assert texts['journal'] == b'agent_token=(redacted) ok'
    assert 'reason.json' not in texts


def test_the_container_takes_the_name_over(
        step, tmp_path, monkeypatch, root):
    etc = tmp_path / 'hostname'
    etc.write_text('localhost\n')
    monkeypatch.setattr(manager, 'ETC_HOSTNAME', str(etc))
    monkeypatch.setattr(manager.socket, 'gethostname', lambda: 'node-1')
    monkeypatch.setenv('IPA_DEFAULT_HOSTNAME', 'node-1')
    step("""
    assert sys.argv[1:] == ['set-hostname', 'node-1']
    """)
    manager.IronflowHardwareManager()._fix_hostname()
    assert etc.read_text() == 'node-1\n'

    step('sys.exit(1)')
    etc.write_text('localhost\n')
    manager.IronflowHardwareManager()._fix_hostname()
    assert etc.read_text() == 'localhost\n', 'only a warning'
