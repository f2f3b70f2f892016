"""Where the host's files and our program are, seen from IPA's container."""

import os


def root():
    """Return the folder on which the host's / is mounted."""
    return os.environ.get('IRONFLOW_ROOT', '/mnt/coreos')


def path(host_path):
    """Return where an absolute path of the host lies in this container."""
    return os.path.join(root(), host_path.lstrip('/'))


def step_program():
    """Return the path of ironflow-step."""
    return os.environ.get('IRONFLOW_STEP', '/usr/local/bin/ironflow-step')


def environment():
    """Return the environment of ironflow-step."""
    return dict(os.environ, IRONFLOW_ROOT=root())


def in_root(command):
    """Return the command line that runs a program of the host."""
    if root() == '/':
        return list(command)
    return ['chroot', root()] + list(command)
