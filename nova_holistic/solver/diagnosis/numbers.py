# SPDX-License-Identifier: Apache-2.0
"""Numbers and names in the wording of reasons."""

from collections.abc import Mapping

from nova_holistic.model.cloud.domain import HOST
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.model.messages.cloud_totals import total
from nova_holistic.model.messages.marked_text import (
    format_message, joined, MarkedText)
from nova_holistic.model.storage_pools import named
from nova_holistic.solver.diagnosis.elements import Facet, facets


def quantity(number: int, noun: str) -> str:
    """``1 rack``, ``3 racks``, ``3 hosts with trait X``."""
    noun, space, rest = noun.partition(' ')
    return f'{number} {noun if number == 1 else noun + "s"}{space}{rest}'


def verb_be(number: int) -> str:
    """``is`` for at most 1, else ``are``."""
    return 'is' if number <= 1 else 'are'


def verb_have(number: int, noun: str, place: str = '',
              where: str = '') -> MarkedText:
    """``3 racks of az1 have``, ``no rack has``.

    :param where: property of hosts, between noun and place
    """
    text = quantity(number, noun) if number else f'no {noun}'
    return format_message('{}{}{} {}', text, where, place,
                          'has' if number <= 1 else 'have')


def amounts(requirements: Requirements) -> str:
    """``VCPU 8, MEMORY_MB 65536``, in the order of the document."""
    return ', '.join(f'{name} {amount}' for name, amount
                     in requirements.resources.items() if amount)


def conditions(requirements: Requirements) -> MarkedText:
    """``in availability zone az1, with trait CUSTOM_NVME``."""
    return joined(', ', [
        _condition(facet, name) for facet, name in facets(requirements)
        if facet is not Facet.RESOURCE])


def _condition(facet: Facet, name: str) -> MarkedText:
    if facet is Facet.TRAIT:
        return format_message('with {}', named(name))
    return format_message('{} {:name}'
                          if facet in (Facet.LOCATION, Facet.AGGREGATE)
                          else '{} {}', facet.value, name)


def room(number: int, noun: str, place: MarkedText,
         requirements: Mapping[str, Requirements], only: bool) -> MarkedText:
    """``3 racks have room for VCPU 8 on hosts with trait CUSTOM_NVME``.

    :param noun: noun of the counted domains, e.g. ``rack``
    :param place: place of the domains, e.g. `` of az1``, or nothing
    :param requirements: requirements of descriptions, by path
    :param only: whether the group has no other description
    """
    asking = _asking(requirements)
    if not asking:
        return MarkedText()
    if noun == HOST and len(
            {_request(each) for each in asking.values()}) == 1:
        each = next(iter(asking.values()))
        resources, where = amounts(each), conditions(each)
        if where:
            return _hosts(number, place, resources, where,
                          _members(asking, only))
    return format_message('{} {}', verb_have(number, noun, place),
                          requirements_of(requirements, only))


def _hosts(number: int, place: MarkedText, resources: str, where: MarkedText,
           members: str) -> MarkedText:
    """For hosts, the conditions come before the amounts."""
    if resources:
        start = verb_have(number, HOST, place, format_message(' {}', where))
        return format_message('{} room for {}{}', start, resources, members)
    text = (total(quantity(number, HOST), f'too few {HOST}s') if number
            else f'no {HOST}')
    start = (format_message('{} has', place.removeprefix(' of ')) if place
             else format_message('there {}', total(
                 verb_be(number), 'are' if number else 'is')))
    return format_message('{} {} {}{}', start, text, where, members)


def requirements_of(requirements: Mapping[str, Requirements], only: bool,
                    room: str = 'room for ') -> MarkedText:
    """``room for VCPU 8 on hosts with trait CUSTOM_NVME (web)``; empty if
    there are no requirements.

    :param room: text before amounts
    """
    asking = _asking(requirements)
    if len({_request(each) for each in asking.values()}) > 1:
        return joined(' or ',
                      (format_message('{} ({})', _request(each, room), path)
                       for path, each in asking.items()))
    return format_message(
        '{}{}', _request(next(iter(asking.values())), room),
        _members(asking, only)) if asking else MarkedText()


def _asking(requirements: Mapping[str, Requirements]
            ) -> dict[str, Requirements]:
    return {path: each for path, each in requirements.items()
            if each != Requirements() and (
                amounts(each) or conditions(each))}


def _members(asking: Mapping[str, Requirements], only: bool) -> str:
    return '' if only else f' ({", ".join(asking)})'


def _request(requirements: Requirements,
             room: str = 'room for ') -> MarkedText:
    resources, where = amounts(requirements), conditions(requirements)
    if not where:
        return MarkedText(f'{room}{resources}')
    return (format_message('{}{} on hosts {}', room, resources, where)
            if resources else format_message('hosts {}', where))
