import logging

from ironic_python_agent import errors
from ironic_python_agent import hardware
from ironic_python_agent import utils
import pytest

from ironflow_ipa import beat
from ironflow_ipa import hooks
from ironflow_ipa import manager
from ironflow_ipa import nics


def test_this_ipa_has_them_all(caplog):
    with caplog.at_level(logging.WARNING):
        assert hooks.check(beat.client_version()) == []
    assert caplog.text == ''


@pytest.mark.parametrize('place,name,lost', [
    (hardware.HardwareManager, 'get_os_install_device', 'is not asked'),
    (hardware.HardwareManager, 'generate_tls_certificate', 'a restart of IPA'),
    (utils, 'get_ssl_client_options', 'no heartbeat'),
])
def test_what_is_missing_is_said_at_the_start(
        root, monkeypatch, caplog, place, name, lost):
    monkeypatch.delattr(place, name)
    with caplog.at_level(logging.ERROR):
        manager.IronflowHardwareManager().evaluate_hardware_support()
    assert name in caplog.text and lost in caplog.text


@pytest.mark.parametrize('version,warns', [
    ('9.3.0', True), ('9.4.0', False), ('9.14.1', False), ('13.0.0', False),
    ('13.2.1.dev4', False), ('14.0.0', True)])
def test_versions_that_are_not_tested_are_named(caplog, version, warns):
    with caplog.at_level(logging.WARNING):
        hooks.check(version)
    assert bool(caplog.text) is warns


class Other:
    """Another hardware manager, as IPA's generic one."""

    def __init__(self, *names):
        self._names = names

    def list_network_interfaces(self):
        if not self._names:
            raise errors.IncompatibleHardwareMethodError()
        return [hardware.NetworkInterface(name, '0a:00:27:00:00:01')
                for name in self._names]


def test_links_to_the_bmc_in_an_ipa_that_does_not_ask_for_each(
        root, monkeypatch):
    m = manager.IronflowHardwareManager()
    monkeypatch.setattr(hardware, 'get_managers',
                        lambda: [m, Other(), Other('eth0', 'usb0')])
    monkeypatch.setattr(nics, 'driver_of', lambda name, sysfs='/sys':
                        'cdc_ether' if name == 'usb0' else 'e1000e')
    monkeypatch.setattr(hooks, 'filters_devices', lambda: False)
    assert [nic.name for nic in m.list_network_interfaces()] == ['eth0']
    monkeypatch.setattr(hooks, 'filters_devices', lambda: True)
    with pytest.raises(errors.IncompatibleHardwareMethodError):
        m.list_network_interfaces()  # IPA asks for each of the next manager's


def test_links_to_the_bmc_are_left_out_by_this_ipa(root, monkeypatch):
    """By the one hook or the other: through IPA's own way of asking."""
    m = manager.IronflowHardwareManager()
    monkeypatch.setattr(hardware, 'get_managers',
                        lambda: [m, hardware.GenericHardwareManager()])
    monkeypatch.setattr(nics, 'driver_of', lambda name, sysfs='/sys':
                        'cdc_ether' if name == 'usb0' else 'e1000e')
    found = [hardware.NetworkInterface(name, '0a:00:27:00:00:01')
             for name in ('eth0', 'usb0')]
    if hooks.filters_devices():
        left = hardware.filter_devices(found)
    else:
        monkeypatch.setattr(hardware.GenericHardwareManager,
                            'list_network_interfaces', lambda self: found)
        left = hardware.dispatch_to_managers('list_network_interfaces')
    assert [nic.name for nic in left] == ['eth0']


class OldClient:
    api_url = 'http://192.0.2.1:6385'


def test_ironic_s_address_of_an_older_client(client):
    assert beat.api_url(OldClient()) == 'http://192.0.2.1:6385'
    assert beat.api_url(client) == client.api_urls[0]
    assert beat.api_url(None) is None
