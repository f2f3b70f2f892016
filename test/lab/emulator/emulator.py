"""The lab's BMCs: sushy-tools' Redfish emulator over systems that a notifier drives.

Usage: emulator.py CONFIG.json (see config.go for its fields, README.md for what it sends).
"""

import base64
import collections
import json
import sys
import threading

import flask
import requests
from cheroot import wsgi
from cheroot.ssl import builtin
from sushy_tools import error
from sushy_tools.emulator import main as emulator
from sushy_tools.emulator.resources import vmedia
from sushy_tools.emulator.resources.systems import fakedriver

POWER_AFTER = {'On': 'On', 'ForceOn': 'On', 'ForceOff': 'Off', 'GracefulShutdown': 'Off',
               'GracefulRestart': 'On', 'ForceRestart': 'On'}
FIELDS = ('uuid', 'name', 'power_state', 'boot_device', 'boot_mode', 'secure_boot', 'http_boot_uri')


class Media(vmedia.StaticDriver):
    """Virtual media that are handed over as URLs: the machine reads them, as hardware does."""

    def _get_image(self, image_url, auth, verify_media_cert, custom_cert):
        return image_url.rsplit('/', 1)[-1], image_url


class Systems(fakedriver.FakeDriver):
    """Systems that act at once, and only if the notifier agrees."""

    def __init__(self):
        super().__init__()
        self._locks = collections.defaultdict(threading.RLock)
        self._session = requests.Session()
        self._session.trust_env = False
        self._session.headers['Authorization'] = self._config['NOTIFIER_AUTHORIZATION']
        self._session.verify = self._config['NOTIFIER_CA'] or True

    def _change(self, identity, change, reset=None, **values):
        uuid = self._get(identity)['uuid']
        with self._locks[uuid]:
            system = {**self._systems[uuid], **values}
            system['sequence'] = system.get('sequence', 0) + 1
            if self._notify(system, change, reset) == 202:
                system['power_state'] = self._systems[uuid]['power_state']
            self._systems[uuid] = system

    def _notify(self, system, change, reset):
        if not self._config['NOTIFIER_URL']:
            return None
        body = {field: system[field] for field in FIELDS if field in system}
        body.update(change=change, reset=reset or '', sequence=system['sequence'], media={
            device: {'image': image, 'inserted': inserted, 'write_protected': protected}
            for device, (image, protected, inserted) in system.get('boot_image', {}).items() if inserted})
        try:
            answer = self._session.put(self._config['NOTIFIER_URL'], json=body, timeout=20)
        except requests.RequestException as exc:
            raise error.FishyError('The machine %s cannot be reached: %s' % (system['name'], exc)) from exc
        if answer.status_code >= 400:
            raise error.FishyError(answer.text or 'The machine %s refused the change' % system['name'])
        return answer.status_code

    def set_power_state(self, identity, state):
        if state not in POWER_AFTER:
            raise error.NotSupportedError('Power state %s is not supported' % state)
        after = POWER_AFTER[state]
        if 'Restart' in state or self.get_power_state(identity) != after:
            self._change(identity, 'power', reset=state, power_state=after)

    def set_boot_device(self, identity, boot_source):
        self._change(identity, 'boot', boot_device=boot_source)

    def set_boot_mode(self, identity, boot_mode):
        self._change(identity, 'boot', boot_mode=boot_mode)

    def set_secure_boot(self, identity, secure):
        self._change(identity, 'boot', secure_boot=secure)

    def set_boot_image(self, identity, device, boot_image=None, write_protected=True):
        media = dict(self._get(identity).get('boot_image') or {})
        media[device] = (boot_image, write_protected, bool(boot_image))
        self._change(identity, 'media', boot_image=media)

    def get_http_boot_uri(self, identity):
        return self._get(identity).get('http_boot_uri', '')

    def set_http_boot_uri(self, uri):
        # The emulator does not say for which system; the request does.
        self._change(flask.request.view_args['identity'], 'boot', http_boot_uri=uri)

    def put(self, system):
        """Add a system, or set its values from the machine's side, without telling the notifier."""
        uuid = system['uuid']
        with self._locks[uuid]:
            self._systems[uuid] = {**(self._systems[uuid] if uuid in self._systems else {}), **system}
            self._by_name[self._systems[uuid]['name']] = uuid

    def remove(self, uuid):
        with self._locks[uuid]:
            system = self._systems.pop(uuid, None)
            if system:
                self._by_name.pop(system['name'], None)


@emulator.app.route('/lab/systems/<uuid>', methods=['PUT', 'DELETE'])
def lab_system(uuid):
    if flask.request.method == 'DELETE':
        emulator.app.systems.remove(uuid)
    else:
        emulator.app.systems.put({**flask.request.get_json(), 'uuid': uuid})
    return '', 204


def main(path):
    with open(path, encoding='utf-8') as file:
        config = json.load(file)
    credentials = base64.b64encode(config['NOTIFIER_CREDENTIALS'].encode()).decode()
    config['NOTIFIER_AUTHORIZATION'] = 'Basic ' + credentials if config['NOTIFIER_CREDENTIALS'] else None
    fakedriver.FakeDriver, vmedia.StaticDriver = Systems, Media
    config['SUSHY_EMULATOR_FAKE_DRIVER'] = True
    emulator.app.configure(extra_config=config)
    emulator.app.systems  # made before the first request: its memo is not safe against threads
    emulator.app.vmedia
    server = wsgi.Server((config['LISTEN_HOST'], config['LISTEN_PORT']), emulator.app, numthreads=16,
                         request_queue_size=128)
    server.ssl_adapter = builtin.BuiltinSSLAdapter(config['TLS_CERTIFICATE'], config['TLS_KEY'])
    try:
        server.start()
    except KeyboardInterrupt:
        server.stop()


if __name__ == '__main__':
    main(sys.argv[1])
