# SPDX-License-Identifier: Apache-2.0
"""The schemas of group documents, with the installed policies."""

from collections.abc import Mapping
from typing import Any

from nova_holistic.api.description import openapi_schema
from nova_holistic.api.schemas import documents
from nova_holistic.documents.schemas import group, server
from nova_holistic.model.policy import Policy
from nova_holistic.model.policy_types import PolicyTypes


def components(types: PolicyTypes) -> Mapping[str, Any]:
    """Schemas by the names with which other schemas refer to them."""
    properties = dict(group.GROUP['properties'])
    properties['policies'] = {
        **properties['policies'], 'items': _one_of(types.policies, {})}
    properties['relationships'] = {
        **properties['relationships'], 'items': _one_of(
            types.relationships, {'between': group.BETWEEN})}
    whole = openapi_schema.openapi_schema({**group.GROUP,
                                           'properties': properties})
    whole['properties']['members']['items'] = openapi_schema.MEMBER
    whole['properties']['groups']['items'] = {'allOf': [
        openapi_schema.GROUP, openapi_schema.openapi_schema(
            {'properties': {'name': group.NAME}})]}
    return {'Group': {**whole, 'anyOf': [
        {'required': ['members'],
         'properties': {'members': {'minItems': 1}}},
        {'required': ['groups'],
         'properties': {'groups': {'minItems': 1}}}]},
        'Member': openapi_schema.openapi_schema(group.MEMBER),
        'AddedMember': openapi_schema.openapi_schema(_added()),
        'Server': openapi_schema.openapi_schema(server.SERVER)}


def _added() -> dict[str, Any]:
    """A description that names an existing counted member may omit its
    resources."""
    member = {key: value for key, value in group.MEMBER.items()
              if key not in ('if', 'then', 'else', 'description')}
    return {**member, 'properties': {
        **member['properties'],
        'group': documents.MEMBER['properties']['group']}}


def _one_of(types: Mapping[str, type[Policy]],
            common: Mapping[str, Any]) -> dict[str, Any]:
    return {'oneOf': [{
        'type': 'object',
        'title': name,
        'additionalProperties': False,
        'required': ['type', *common, *policy_type.required],
        'properties': {'type': {'const': policy_type.type},
                       'weight': group.WEIGHT,
                       **common, **policy_type.keys},
    } for name, policy_type in sorted(types.items())]}
