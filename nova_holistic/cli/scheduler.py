# SPDX-License-Identifier: Apache-2.0
"""nova-holistic-scheduler: Nova's own scheduler service, with the driver of
this project."""

# This import comes first because it decides on the threading of the process.
from nova.cmd import scheduler as nova_scheduler

import sys

from oslo_config import cfg

from nova_holistic.cli import exits
from nova_holistic import exceptions
from nova_holistic.scheduler import driver


def main() -> int | None:
    driver.install()
    try:
        return nova_scheduler.main()
    except (cfg.ConfigFileValueError, exceptions.HolisticError) as error:
        print(f'nova-holistic-scheduler: {" ".join(str(error).split())}',
              file=sys.stderr)
        return exits.BAD_INPUT
