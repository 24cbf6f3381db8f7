# SPDX-License-Identifier: Apache-2.0
"""Builders of small Heat templates."""

import pytest

from nova_holistic.documents.definition import read_definition
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.policies import load_policy_types

TYPES = load_policy_types()


def template(resources, groups=None, **sections):
    return {'heat_template_version': '2021-04-16', **sections,
            'resources': resources,
            **({} if groups is None else {'groups': groups})}


def server(flavor='m1.small', **properties):
    return {'type': 'OS::Nova::Server',
            'properties': {'flavor': flavor, **properties}}


def servers(count, flavor='m1.small', around=None, **properties):
    """An OS::Heat::ResourceGroup of servers."""
    return {'type': 'OS::Heat::ResourceGroup',
            'properties': {'count': count, 'resource_def': server(
                flavor, **properties), **(around or {})}}


def server_group(*policies, **properties):
    return {'type': 'OS::Nova::ServerGroup',
            'properties': {'policies': list(policies), **properties}}


def hint(name):
    return {'group': {'get_resource': name}}


def param(*path):
    return {'get_param': list(path) if len(path) > 1 else path[0]}


def read(document, **given):
    return read_definition(document, TYPES, given)


def paths(document, **given):
    return [m.path for m in read(document, **given).all_members()]


def needs(document, **given):
    """The flavor and the zone of each path."""
    return {m.path: (m.requirements.flavor, m.requirements.availability_zone)
            for m in read(document, **given).all_members()}


def refusal(document, given=None):
    """The position and the message of the refusal of a template."""
    with pytest.raises(InvalidDocument) as caught:
        read_definition(document, TYPES, given or {})
    assert '\n' not in str(caught.value)
    assert len(str(caught.value)) < 400
    return caught.value.place, caught.value.message
