"""Ironflow's deploy steps in ironic-python-agent (IPA).

As thin as possible: the steps themselves are the Go program ``ironflow-step``,
which this package lists and runs. What remains here is what only IPA's own
process can do: raise its errors, send its heartbeats, keep its identity.
"""
