# SPDX-License-Identifier: Apache-2.0
"""Converts a template with groups into a group document with the same
content."""

from collections.abc import Collection, Iterator, Mapping, Sequence
import contextlib
from dataclasses import dataclass
from typing import Any

from nova_holistic.documents.hot.annotation import groups_of
from nova_holistic.documents.hot.document_writer import DocumentWriter
from nova_holistic.documents.hot.functions import Resolver
from nova_holistic.documents.hot.group_entries import read_entries
from nova_holistic.documents.hot.membership import Membership
from nova_holistic.documents.hot.nested_resources import NestedResources
from nova_holistic.documents.hot.nested_stack import (
    NestedStack, NestedUse, with_counts)
from nova_holistic.documents.hot.parameters import Parameters, STACK_NAME
from nova_holistic.documents.hot.resource_values import check_made
from nova_holistic.documents.hot.resources import Resources
from nova_holistic.documents.hot.source_places import SourcePlaces
from nova_holistic.documents.hot.template_files import (
    TemplateSource, UnusableFile)
from nova_holistic.documents.hot.template_shape import (
    has_other_format, is_template, NO_VERSION, readable_template,
    with_servers_for)
from nova_holistic.documents.validation import join
from nova_holistic.exceptions import InvalidDocument, Mistakes
from nova_holistic.model.stack_rules import StackRule

_NAME = 'stack'
"""Default name of the top-level group if the stack has no name."""
_MAX_VALUES = 500_000


@dataclass(frozen=True, slots=True)
class Conversion:
    """
    :ivar template: the valid template
    :ivar document: a group document
    :ivar places: positions in that document, with those in the template
    :ivar pointers: for each server resource, the value of ``holistic_member``
        of its servers, with the index variable if they have one; for each
        nested stack, the path of its group
    :ivar rules: rules that map the servers of the stack to members
    :ivar nested: the resources that create nested stacks with servers
    :ivar mistakes: mistakes of the template; the document contains only the
        other parts
    :ivar has_servers: whether the template has servers, including those with
        mistakes
    """

    template: Mapping[str, Any]
    document: dict[str, Any]
    places: SourcePlaces
    pointers: Mapping[str, str]
    rules: Sequence[StackRule]
    nested: Mapping[str, NestedStack]
    mistakes: Mistakes
    has_servers: bool


def convert(template: Any, given: Mapping[str, str],
            source: TemplateSource | None = None) -> Conversion:
    """
    :param given: values of parameters, as text
    :raises InvalidDocument: no part of the template can be read
    """
    found = _converted(template, source or TemplateSource(), given, {})
    if not found.has_servers:
        found.mistakes.add(InvalidDocument(
            'resources', 'there are no servers to place'))
    return found


def _converted(template: Any, source: TemplateSource,
               given: Mapping[str, Any],
               unknown: Mapping[str, str]) -> Conversion:
    mistakes = Mistakes()
    template = readable_template(template, mistakes)
    declared = template.get('parameters', {})
    defaults = {name: value for name, value in source.defaults.items()
                if name in declared and name not in unknown}
    values = {**given, **_not_null(defaults), **_not_null(given)}
    resolver = Resolver(Parameters(
        declared, values, mistakes, unknown, source.depth > 0), mistakes)
    nested, failed = _nested_stacks(template, resolver, source)
    template = with_servers_for(failed, template)
    resources = Resources(template['resources'], resolver, source)
    servers = {**resources.servers(), **nested}
    entries = ()
    with mistakes.collected():
        section, place = groups_of(template)
        entries = read_entries(section, resolver, place)
    writer = DocumentWriter(resources, servers, Membership(
        entries, template['resources'], servers, mistakes), mistakes)
    document = writer.top(
        _not_null(given).get(STACK_NAME, _NAME), entries)
    _bound(document)
    return Conversion(
        template, document, writer.places, writer.pointers, writer.rules,
        nested, mistakes, any(each.asked for each in servers.values()))


def _not_null(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items()
            if value is not None}


def _nested_stacks(template: Mapping[str, Any], resolver: Resolver,
                   source: TemplateSource
                   ) -> tuple[dict[str, NestedStack], Collection[str]]:
    """The stacks by the names of the resources, and the resources whose nested
    templates cannot be read. Mistakes are collected."""
    found, failed = {}, set()
    for use in NestedResources(
            template['resources'], resolver, source).uses().values():
        with resolver.mistakes.collected():
            failed.add(use.name)
            stack = _nested_stack(use, resolver, source)
            failed.remove(use.name)
            if stack is not None:
                found[use.name] = stack
                check_made(template['resources'][use.name],
                           join('resources', use.name))
    return found, failed


def _nested_stack(use: NestedUse, resolver: Resolver,
                  source: TemplateSource) -> NestedStack | None:
    """The nested group; None if the nested stacks contain no servers."""
    if not source.files.available:
        return None
    inside, template = _read(use, source)
    if has_other_format(template):
        return None
    if not is_template(template):
        raise InvalidDocument(use.shown, NO_VERSION)

    # As in Heat, functions are evaluated before an index is inserted.
    given, unknown = _values(use.properties, resolver, use.place)

    def each(values: Mapping[str, Any]) -> Conversion:
        with _place_of(use):
            found = _converted(template, inside, values, unknown)
        with resolver.mistakes.collected(), _place_of(use):
            found.mistakes.must_be_none()
        return found

    if use.count is None:
        found = each(given)
        parts = _parts(found)
        if use.elastic is not None and found.has_servers:
            parts = with_counts(parts, use)
        return NestedStack(use, parts, found) if found.has_servers else None
    all_equal = use.at_index(given, 0) == given
    conversions = [each(use.at_index(given, number)) for number in range(
        min(1, use.count) if all_equal else use.count)]
    if not conversions or not conversions[0].has_servers:
        return None
    if any(other.pointers != conversions[0].pointers
           for other in conversions):
        raise InvalidDocument(use.place, 'the paths of the servers depend on '
                                         'the index of the stack')
    stacks = conversions * use.count if all_equal else conversions
    return NestedStack(use, {'groups': [
        {'name': str(number), **_parts(found)}
        for number, found in enumerate(stacks)]}, conversions[0])


def _read(use: NestedUse,
          source: TemplateSource) -> tuple[TemplateSource, Any]:
    """The source of a nested template, and the document in its file."""
    try:
        with _place_of(use):
            return (source.inside(use.template, use.resources),
                    source.files.read(use.template))
    except UnusableFile as error:
        raise InvalidDocument(
            use.type_place, f'{use.shown}: {error.message}') from None


def _parts(found: Conversion) -> dict[str, Any]:
    return {key: value for key, value in found.document.items()
            if key != 'name'}


def _values(properties: Mapping[str, Any], resolver: Resolver, place: str
            ) -> tuple[dict[str, Any], dict[str, str]]:
    """The known values of a nested template's parameters, and the reasons why
    others are unknown."""
    known, unknown = {}, {}
    for name, value in properties.items():
        try:
            found = resolver.value(value, join(place, name))
        except InvalidDocument as error:
            unknown[name] = str(error)
        else:
            if found is not None:
                known[name] = found
    return known, unknown


@contextlib.contextmanager
def _place_of(use: NestedUse) -> Iterator[None]:
    """Errors in this context are reported with the name of the file."""
    def inside(place: str) -> str:
        return f'{use.shown}: {place}' if place else use.shown

    try:
        yield
    except UnusableFile:
        raise
    except InvalidDocument as error:
        raise InvalidDocument(
            inside(error.place), error.message,
            [InvalidDocument(inside(each.place), each.message)
             for each in error.more]) from None


def _bound(document: dict[str, Any]) -> None:
    """A list as the value of a parameter counts for each use of the
    parameter."""
    open_, values = [document], 0
    while open_:
        value = open_.pop()
        values += 1
        if values > _MAX_VALUES:
            raise InvalidDocument(
                '', f'makes a group of more than {_MAX_VALUES} values')
        if isinstance(value, dict):
            open_ += value.values()
        elif isinstance(value, list):
            open_ += value
