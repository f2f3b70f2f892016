"""Calls that are given up: a program that a device holds ends with no signal.

A disk that does not answer keeps a program in the kernel (state D). Whoever waits
for its end, as the modules of Python do even after they have killed it, waits for
ever, and IPA with it. So such a wait is left to a thread that may be left behind.
"""

import threading


def call(seconds, function, *args, **kwargs):
    """Return what the function returns, or raise what it raises.

    :raises: TimeoutError when it has not ended in time.
    """
    ended = []

    def work():
        try:
            ended.append((function(*args, **kwargs), None))
        except BaseException as exc:  # for the caller, whatever it is
            ended.append((None, exc))
    thread = threading.Thread(target=work, name='bounded', daemon=True)
    thread.start()
    thread.join(seconds)
    if not ended:
        raise TimeoutError('no end after %d s' % seconds)
    result, exc = ended[0]
    if exc is not None:
        raise exc
    return result
