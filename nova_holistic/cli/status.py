# SPDX-License-Identifier: Apache-2.0
"""``nova-holistic-status upgrade check``: checks whether services of this
version can start.

Exit codes are those of every OpenStack project: 0 success, 1 warning, 2
failure that the operator must correct first, 255 internal error.
"""

from collections.abc import Sequence
import functools
import sys

from oslo_config import cfg
from oslo_log import log as logging
from oslo_upgradecheck import upgradecheck

from nova_holistic.cli.status_checks import Check, CHECKS
from nova_holistic import conf as options
from nova_holistic.conf import services, unreadable_files

PROGRAM = 'nova-holistic-status'
FAULT = 255


class Checks(upgradecheck.UpgradeCommands):
    """The checks, on a configuration that is already parsed when they run."""

    def __init__(self, conf):
        self._upgrade_checks = tuple(
            (name, functools.partial(_run, check, conf))
            for name, check in CHECKS)


def _run(check: Check, conf, commands: Checks) -> upgradecheck.Result:
    return check(conf)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the checks; returns the exit code."""
    conf = cfg.ConfigOpts()
    logging.register_options(conf)
    options.register_opts(conf)
    services.register_opts(conf)
    try:
        with unreadable_files.as_configuration_errors():
            return upgradecheck.main(
                conf, 'nova-holistic', Checks(conf),
                argv=list(sys.argv[1:] if argv is None else argv))
    except cfg.Error as error:
        print(f'{PROGRAM}: {" ".join(str(error).split())}', file=sys.stderr)
        return FAULT
