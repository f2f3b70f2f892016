"""Start of IPA with the token that an earlier IPA of this boot has kept.

IPA takes a token only from its configuration and only at its start, before
any plugin is loaded; hence this launcher.
"""

from importlib import metadata
import os
import sys
import tempfile

from ironflow_ipa import kept


def main():
    """Replace this process by ironic-python-agent with the same arguments."""
    if sys.argv[1:] == ['--version']:  # IPA has no such option
        print(', '.join('%s %s' % (name, metadata.version(name))
                        for name in ('ironflow-ipa', 'ironic-python-agent')))
        return
    command = ['ironic-python-agent'] + sys.argv[1:]
    token = kept.load_token()
    if token:
        folder = tempfile.mkdtemp(prefix='ironflow-ipa-')  # private to us
        path = os.path.join(folder, 'token.conf')
        with open(path, 'w') as f:
            f.write('[DEFAULT]\nagent_token = %s\n' % token)
        command += ['--config-file', path]
    os.execvp(command[0], command)
