# SPDX-License-Identifier: Apache-2.0
"""Snapshots from an inventory document."""

from nova_holistic.documents.inventories.inventory import parse_inventory
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.inventory.base import InventoryDriver
from nova_holistic.model.cloud.snapshot import Snapshot
from nova_holistic.topology.option_file import (
    in_file, read_document, UnreadableFile)

OPTION = '[inventory] path'


class FileInventory(InventoryDriver):
    """The cloud is the content of a file at the time of each call."""

    def __init__(self, path: str):
        self._path = path

    @classmethod
    def from_conf(cls, conf, **adapters) -> 'FileInventory':
        """:raises UnreadableFile: no path is set"""
        if not conf.inventory.path:
            raise UnreadableFile(f'{OPTION} is not set')
        return cls(conf.inventory.path)

    def snapshot(self) -> Snapshot:
        document = read_document(self._path, OPTION)
        try:
            return parse_inventory(document)
        except InvalidDocument as error:
            raise in_file(self._path, error) from error
