# SPDX-License-Identifier: Apache-2.0
"""The logs of a process, from its configuration."""

from oslo_config import cfg
from oslo_log import log as logging

PROJECT = 'nova-holistic'


def set_up(conf) -> None:
    """Configure the logs of the process.

    :raises oslo_config.cfg.ConfigFileValueError: a log file cannot be opened,
        or an option of the logs is invalid
    """
    try:
        logging.setup(conf, PROJECT)
    except logging.LogConfigError as error:
        raise cfg.ConfigFileValueError(
            f'[DEFAULT] log_config_append: {error}') from error
    except OSError as error:
        raise cfg.ConfigFileValueError(
            f'the log file cannot be opened: {error.filename}: '
            f'{error.strerror}') from error
    except ValueError as error:
        raise cfg.ConfigFileValueError(
            f'[DEFAULT] default_log_levels: {error}') from error
