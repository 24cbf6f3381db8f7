# SPDX-License-Identifier: Apache-2.0
"""The interface of a plugin of python-openstackclient: ``API_NAME``,
``make_client`` and ``build_option_parser``, found by the entry point
``openstack.cli.extension``."""

import argparse

from osc_lib import utils

from nova_holistic.client.client import Client, DEFAULT_MICROVERSION

API_NAME = 'holistic'
API_VERSION_OPTION = 'os_holistic_api_version'
API_VERSIONS = {'1': 'nova_holistic.client.client.Client'}
DEFAULT_API_VERSION = '1'


def make_client(instance) -> Client:
    """A client for the selected cloud, project and region.

    :param instance: osc_lib.clientmanager.ClientManager
    """
    version = instance._api_version[API_NAME]
    return Client(
        instance.session, region_name=instance.region_name,
        interface=instance.interface,
        # A major version alone is its first microversion.
        microversion=version if '.' in version else DEFAULT_MICROVERSION)


def build_option_parser(
        parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    parser.add_argument(
        '--os-holistic-api-version', metavar='<holistic-api-version>',
        default=utils.env('OS_HOLISTIC_API_VERSION',
                          default=DEFAULT_API_VERSION),
        help='microversion of the group API, default: '
             f'{DEFAULT_API_VERSION} (Env: OS_HOLISTIC_API_VERSION)')
    return parser


def check_api_version(version: str) -> bool:
    """Whether the plugin supports the version; the API rejects other
    versions."""
    major, _, minor = version.partition('.')
    return major == '1' and (not minor or minor.isdecimal())
