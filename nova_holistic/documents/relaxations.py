# SPDX-License-Identifier: Apache-2.0
"""Relaxations and headroom as plain data, and as text."""

from collections.abc import Iterator, Mapping
from typing import Any

from nova_holistic.model.relaxations import Headroom, Relaxations


def relaxations_to_document(found: Relaxations) -> dict[str, Any]:
    """Plain data for JSON: the key ``relaxations`` of a plan document."""
    hosts = found.hosts
    return {
        'preferences': [{
            'rules': [{'position': rule.position, 'at': rule.at,
                       'name': rule.name} for rule in each.rules],
            'smallest': each.smallest} for each in found.preferences],
        'counts': [{
            'position': each.position, 'member': each.member,
            'count': each.count, 'instead_of': each.instead_of,
            'largest': each.largest} for each in found.counts],
        'hosts': hosts and {
            'number': hosts.hosts, 'like': hosts.like,
            'added': [{'location': list(each.location),
                       'beside': each.beside,
                       'number': each.hosts} for each in hosts.added],
            'in_new_domains': hosts.in_new_domains,
            'smallest': hosts.smallest},
        'undecided': list(found.undecided)}


def headroom_to_document(found: Headroom) -> dict[str, Any]:
    """Plain data for JSON: the key ``headroom`` of a plan document."""
    return {'at_least': found.at_least, 'at_most': found.at_most}


def relaxation_lines(document: Mapping[str, Any]) -> Iterator[str]:
    """The result of ``relaxations_to_document`` as text, with one line for
    each relaxation.

    Names of hosts and locations may be missing. A parent of a federation
    names the cloud.
    """
    found = [
        *(_preferences(each) for each in document['preferences']),
        *(_count(each) for each in document['counts']),
        *(_hosts(each) for each in (document['hosts'],) if each)]
    undecided = document['undecided']
    if found:
        cloud = document.get('cloud')
        where = f' into cloud {cloud}' if cloud else ''
        yield f'each of these changes makes it fit{where}:'
        yield from (f'  {line}' for line in found)
    elif not undecided:
        yield ('no preference, lower count or number of hosts of an existing '
               'kind makes it fit')
    if undecided:
        yield 'not decided: ' + ', '.join(undecided)


def headroom_line(document: Mapping[str, Any]) -> str:
    """The result of ``headroom_to_document`` as text."""
    least, most = document['at_least'], document['at_most']
    if most is None:
        return (f'headroom: at least {least} copies fit; no upper bound is '
                'known')
    if not most:
        return 'headroom: no copy fits'
    if least == most:
        return f'headroom: exactly {_copies(least)}'
    return f'headroom: at least {least} and at most {_copies(most)}'


def _copies(number: int) -> str:
    return '1 copy fits' if number == 1 else f'{number} copies fit'


def _preferences(document: Mapping[str, Any]) -> str:
    rules = document['rules']
    text = ' and '.join(
        f'{rule["position"]} ({_at(rule)}{rule["name"]})' for rule in rules)
    if len(rules) == 1:
        return f'{text} as a preference'
    return f'{text} as preferences; ' + (
        'fewer are not enough' if document['smallest']
        else 'fewer may be enough')


def _at(rule: Mapping[str, Any]) -> str:
    return f'{rule["at"]}: ' if rule['at'] else ''


def _count(document: Mapping[str, Any]) -> str:
    return (f'{document["position"]} ({document["member"]}) '
            f'{document["count"]} instead of {document["instead_of"]}; '
            + ('no larger count fits' if document['largest']
               else 'a larger count may fit'))


def _hosts(document: Mapping[str, Any]) -> str:
    number = document['number']
    text = '1 more host' if number == 1 else f'{number} more hosts'
    if document['in_new_domains']:
        text += ', some of them in new domains' if number > 1 else (
            ' in a new domain')
    if 'like' in document:
        places = ', '.join(
            f'{each["number"]} in {"/".join(each["location"])}'
            for each in document['added'] if each['location'])
        text += f', like {document["like"]}' + (
            f' ({places})' if places else '')
    return f'{text}; ' + ('fewer are not enough' if document['smallest']
                          else 'fewer may be enough')
