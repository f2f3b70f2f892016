# Starts as ironic-python-agent does, up to what it needs a machine for, and tells what it has found.
import json
import sys

from ironic_python_agent import config
from ironic_python_agent import hardware
from oslo_log import log

log.register_options(config.CONF)
config.CONF(args=sys.argv[1:])
managers = {e.name: e.obj for e in hardware._get_extensions()}
print(json.dumps({
    'Managers': {name: type(m).__name__ for name, m in managers.items()},
    'Steps': [s['step'] for s in managers['ironflow'].get_deploy_steps({}, [])],
    'Collectors': config.CONF.inspection_collectors,
    'LLDP': config.CONF.collect_lldp,
    'URL': config.CONF.api_url,
}))
