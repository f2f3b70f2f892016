"""Files that outlive IPA but not the boot: the host's /run is gone after one.

Nothing of IPA is imported here: the launcher looks for the token before IPA has
registered its options, without which most of its modules cannot be imported.
"""

import json
import os

from ironflow_ipa import host

FOLDER = '/run/ironflow/ipa'
BOOT_ID = '/proc/sys/kernel/random/boot_id'


def path(name):
    return os.path.join(host.path(FOLDER), name)


def boot_id():
    for name in (host.path(BOOT_ID), BOOT_ID):
        try:
            with open(name) as f:
                return f.read().strip()
        except OSError:
            continue
    return ''


def write(name, text):
    os.makedirs(host.path(FOLDER), mode=0o700, exist_ok=True)
    temporary = path('.' + name)
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(fd, 'w') as f:
        f.write(text)
    os.replace(temporary, path(name))


def read(name):
    try:
        with open(path(name)) as f:
            return f.read()
    except OSError:
        return None


def save_token(token):
    """Keep the token that Ironic has handed out."""
    write('token.json', json.dumps({'boot_id': boot_id(), 'token': token}))


def load_token():
    """Return the token of this boot, None when there is none."""
    try:
        kept = json.loads(read('token.json') or '{}')
    except ValueError:
        return None
    if kept.get('boot_id') != boot_id():
        return None
    return kept.get('token')
