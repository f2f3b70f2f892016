import stat
import sys
import textwrap

from ironic_python_agent import config  # noqa: F401  registers options
from ironic_python_agent import hardware
import pytest

BOOT = 'b0070000-0000-0000-0000-000000000001'


class Ironic:
    """A client of IPA's kind, as far as the plugin looks at it."""

    def __init__(self, url='http://127.0.0.1:1'):
        self.api_urls = [url]
        self.agent_token = 'token-of-at-least-thirty-two-characters'


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A host's / with a boot id."""
    boot = tmp_path / 'root/proc/sys/kernel/random/boot_id'
    boot.parent.mkdir(parents=True)
    boot.write_text(BOOT + '\n')
    monkeypatch.setenv('IRONFLOW_ROOT', str(tmp_path / 'root'))
    return tmp_path / 'root'


@pytest.fixture
def client(monkeypatch):
    ironic = Ironic()
    monkeypatch.setattr(hardware, 'API_CLIENT', ironic)
    return ironic


@pytest.fixture
def step(tmp_path, monkeypatch, root):
    """Replace ironflow-step by a Python script; returns where to put it."""
    def install(body):
        path = tmp_path / 'ironflow-step'
        path.write_text('#!%s\nimport json, os, sys\n' % sys.executable
                        + textwrap.dedent(body))
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv('IRONFLOW_STEP', str(path))
        return path
    return install


@pytest.fixture
def node():
    return {'uuid': '11111111-2222-3333-4444-555555555555',
            'driver_internal_info': {'agent_url': 'https://192.0.2.7:9999'}}
