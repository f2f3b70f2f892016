from ironic_python_agent import efi_utils
from ironic_python_agent import errors
from ironic_python_agent import hardware
import pytest

from ironflow_ipa import beat
from ironflow_ipa import disks
from ironflow_ipa import manager
from ironflow_ipa import program

GIB = 1 << 30


def disk(name, gib, **more):
    return hardware.BlockDevice(name, 'model', int(gib * GIB), False, **more)


@pytest.fixture
def ipa(monkeypatch):
    """IPA's own choice among the given disks, for the given node."""
    def given(node, *found):
        monkeypatch.setattr(hardware, 'get_cached_node', lambda: node)
        monkeypatch.setattr(hardware, 'update_cached_node', lambda: node)
        monkeypatch.setattr(hardware, 'list_all_block_devices',
                            lambda *a, **kw: list(found))
        monkeypatch.setattr(hardware, 'get_managers', lambda: [
            manager.IronflowHardwareManager(),
            hardware.GenericHardwareManager()])
    return given


def node(hints=None, skip=None):
    return {'uuid': 'u', 'instance_info': {'root_device': hints},
            'properties': {'skip_block_devices': skip or []}}


TWO = (disk('/dev/sda', 480), disk('/dev/sdb', 480, wwn='0x5b00'))


@pytest.mark.parametrize('given,found,want', [
    (node(), TWO, '/dev/sda'),
    (node({'size': '>= 100'}), TWO, '/dev/sda'),
    (node({'wwn': '0x5b00'}), TWO, '/dev/sdb'),
    (node(skip=[{'name': '/dev/sda'}]), TWO, '/dev/sdb'),
    (node({'size': '> 447'}),
     (disk('/dev/sda', 447.13), disk('/dev/sdb', 100)), '/dev/sda'),
])
def test_ipa_s_own_choice(root, ipa, given, found, want):
    ipa(given, *found)
    assert disks.root_device() == {'name': want}


def test_ipa_finds_none(root, ipa):
    ipa(node({'serial': 'S9'}), *TWO)
    answer = disks.root_device()
    assert list(answer) == ['error'] and 'serial' in answer['error']


def test_an_ipa_that_fails_is_no_answer(root, ipa, monkeypatch):
    ipa(node(), *TWO)

    def fail(*a, **kw):
        raise OSError('no lsblk')
    monkeypatch.setattr(hardware, 'list_all_block_devices', fail)
    assert disks.root_device() is None


@pytest.fixture
def given(monkeypatch):
    """What ironflow-step is given."""
    calls = []
    monkeypatch.setattr(program, 'list_steps', lambda: [
        {'step': 'install_coreos'}, {'step': 'confirm_install'}])
    monkeypatch.setattr(program, 'run', lambda *a: calls.append(a) or {})
    monkeypatch.setattr(beat, 'after_step', lambda node: None)
    return calls


def test_steps_that_write_a_disk_get_the_answer(
        root, client, given, monkeypatch):
    monkeypatch.setattr(disks, 'root_device', lambda: {'name': '/dev/sdb'})
    m = manager.IronflowHardwareManager()
    m.install_coreos({'uuid': 'u'}, [])
    m.confirm_install({'uuid': 'u'}, [])
    assert [call[-1] for call in given] == [{'name': '/dev/sdb'}, None]


def test_the_answer_reaches_the_program(root, client, step):
    step('''
    print(json.dumps({"outcome": "done", "result": json.load(sys.stdin)}))
    ''')
    result = program.run('install_coreos', {'uuid': 'u'}, [], {},
                         lambda line: None, {'error': 'none'})
    assert result['root_device'] == {'error': 'none'}


def test_other_errors_are_not_taken_for_no_disk(root, ipa, monkeypatch):
    ipa(node(), *TWO)
    monkeypatch.setattr(
        hardware, 'dispatch_to_managers',
        lambda *a, **kw: (_ for _ in ()).throw(
            errors.HardwareManagerMethodNotFound('get_os_install_device')))
    assert disks.root_device() is None


def test_the_boot_entries_of_a_raid_are_ipa_s(monkeypatch):
    made = []
    monkeypatch.setattr(efi_utils, 'manage_uefi',
                        lambda disk: made.append(disk) or True)
    disks.boot_entries({})
    disks.boot_entries({'boot_entries': 'step', 'disk': '/dev/sda'})
    assert made == []
    disks.boot_entries({'boot_entries': 'ipa', 'disk': '/dev/md0'})
    assert made == ['/dev/md0']


@pytest.mark.parametrize('ends', [
    lambda disk: False,
    lambda disk: (_ for _ in ()).throw(errors.DeviceNotFound('no ESP'))])
def test_a_raid_that_does_not_boot_fails_the_step(monkeypatch, ends):
    monkeypatch.setattr(efi_utils, 'manage_uefi', ends)
    with pytest.raises(program.StepFailed, match='/dev/md0.* would not boot'):
        disks.boot_entries({'boot_entries': 'ipa', 'disk': '/dev/md0'})


def test_a_warning_of_a_step_that_is_done_is_logged(step, caplog):
    # Nobody looks at the result of a step that is done.
    step("""
        print(json.dumps({'outcome': 'done', 'reason': 'one path only',
                          'result': {'outcome': 'installed'}}))
    """)
    with caplog.at_level('WARNING'):
        result = program.run('try_it', node(), [], {}, lambda line: None)
    assert result == {'outcome': 'installed'}
    assert 'try_it: one path only' in caplog.text
