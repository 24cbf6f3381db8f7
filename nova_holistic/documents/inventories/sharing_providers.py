# SPDX-License-Identifier: Apache-2.0
"""Providers that share their resources with hosts, in an inventory document.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections import defaultdict
from dataclasses import replace
from typing import Any

from nova_holistic.documents.inventories.nested_providers import (
    read_resources)
from nova_holistic.documents.validation import brief, join
from nova_holistic.exceptions import InvalidDocument, Mistakes
from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.cloud.nested_provider import NestedProvider
from nova_holistic.model.cloud.shared_resources import with_shared_resources
from nova_holistic.model.cloud.snapshot import Host
from nova_holistic.model.frozen import FrozenMapping


def with_sharing_providers(hosts: Sequence[Host],
                           documents: Sequence[Mapping[str, Any]],
                           mistakes: Mistakes) -> Sequence[Host]:
    """The hosts, each with the providers whose shared resources it uses.

    :param documents: providers, in documents that match the schema
    :param mistakes: gets an error if a name or UUID exists twice, a host is
        not known or has a provider of the same name, or an inventory is not
        possible
    """
    known = {host.name: {each.uuid for each in host.providers}
             for host in hosts} if documents else {}
    taken: set[str] = set()
    shared: dict[str, list[NestedProvider]] = defaultdict(list)
    for i, document in enumerate(documents):
        place = join('sharing_providers', i)
        with mistakes.collected():
            provider = _provider(document, place)
            for key, value in (('name', provider.name),
                               ('uuid', provider.uuid)):
                if value in taken and key in document:
                    raise InvalidDocument(
                        join(place, key), f'{brief(value)} is already the '
                        f'{key} of a sharing provider')
            taken.update((provider.name, provider.uuid))
            for number, name in enumerate(document['hosts']):
                if name not in known:
                    raise InvalidDocument(join(place, 'hosts', number),
                                          f'no host {brief(name)}')
                if provider.uuid in known[name] and 'uuid' not in document:
                    raise InvalidDocument(
                        join(place, 'name'), f'{brief(provider.name)} is '
                        'already the name of a provider of host '
                        f'{brief(name)}')
                shared[name].append(provider)
    return [with_shared_resources(host, shared[host.name])
            if host.name in shared else host for host in hosts]


def _provider(document: Mapping[str, Any], place: str) -> NestedProvider:
    name = document['name']
    return NestedProvider(
        uuid=document['uuid'].lower() if 'uuid' in document else name,
        name=name, parent='', sharing=True,
        inventories=read_resources(document['resources'], place),
        traits=frozenset(document.get('traits', ())))


def sharing_documents(
        hosts: Iterable[Host],
        resources: Callable[[Mapping[str, Inventory]], Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Documents of the providers that share their resources with hosts.

    :param resources: returns the document of inventories
    """
    providers: dict[str, NestedProvider] = {}
    names: dict[str, list[str]] = defaultdict(list)
    for host in hosts:
        for each in host.providers:
            if each.sharing:
                # A host contains only the classes that it uses.
                known = providers.get(each.uuid, each)
                providers[each.uuid] = replace(
                    each, inventories=FrozenMapping(
                        {**known.inventories, **each.inventories}))
                names[each.uuid].append(host.name)
    return [{
        'name': each.name,
        **({} if uuid == each.name else {'uuid': uuid}),
        'resources': resources(each.inventories),
        **({'traits': sorted(each.traits)} if each.traits else {}),
        'hosts': names[uuid]} for uuid, each in providers.items()]
