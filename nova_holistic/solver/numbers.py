# SPDX-License-Identifier: Apache-2.0
"""Numbers and names as reasons say them."""

from collections.abc import Mapping

from nova_holistic.model.domain import HOST
from nova_holistic.model.requirements import Requirements
from nova_holistic.solver.elements import Facet


def many(number: int, noun: str) -> str:
    """``1 rack``, ``3 racks``, ``3 hosts with trait X``."""
    noun, space, rest = noun.partition(' ')
    return f'{number} {noun if number == 1 else noun + "s"}{space}{rest}'


def be(number: int) -> str:
    return 'is' if number <= 1 else 'are'


def have(number: int, noun: str, place: str = '') -> str:
    """``3 racks of az1 have``, ``no rack has``."""
    if number == 0:
        return f'no {noun}{place} has'
    return f'{many(number, noun)}{place} {"has" if number == 1 else "have"}'


def amounts(wanted: Requirements) -> str:
    """``VCPU 8, MEMORY_MB 65536``, in the order of the document."""
    return ', '.join(f'{name} {amount}' for name, amount
                     in wanted.resources.items() if amount)


def conditions(wanted: Requirements) -> str:
    """``in availability zone az1, with trait CUSTOM_NVME``."""
    told = []
    if wanted.availability_zone is not None:
        told.append(f'{Facet.ZONE.value} {wanted.availability_zone}')
    if wanted.location:
        told.append(f'{Facet.LOCATION.value} {"/".join(wanted.location)}')
    for facet, names in ((Facet.AGGREGATE, wanted.aggregates),
                         (Facet.TRAIT, wanted.required_traits),
                         (Facet.NO_TRAIT, wanted.forbidden_traits)):
        told.extend(f'{facet.value} {name}' for name in sorted(names))
    return ', '.join(told)


def room(number: int, noun: str, place: str,
         wanted: Mapping[str, Requirements], only: bool) -> str:
    """``3 racks have room for VCPU 8 on hosts with trait CUSTOM_NVME``.

    :param noun: of what has it, e.g. ``rack``
    :param place: where it is, e.g. `` of az1``, or nothing
    :param wanted: what descriptions ask for, by path
    :param only: whether there is no other description to take it for
    """
    told = {path: each for path, each in wanted.items()
            if each != Requirements()}
    words = {_wish(each) for each in told.values()}
    if not told:
        return ''
    start = have(number, noun, place)
    if len(words) > 1:
        return f'{start} ' + ' or '.join(
            f'{_wish(each)} ({path})' for path, each in told.items())
    whose = '' if only else f' ({", ".join(told)})'
    each = next(iter(told.values()))
    asked, where = amounts(each), conditions(each)
    if noun != HOST or not where:
        return f'{start} {_wish(each)}{whose}'
    if asked:
        start = have(number, f'{noun} {where}', place)
        return f'{start} room for {asked}{whose}'
    told = many(number, noun) if number else f'no {noun}'
    start = (f'{place.removeprefix(" of ")} has' if place
             else f'there {be(number)}')
    return f'{start} {told} {where}{whose}'


def _wish(wanted: Requirements) -> str:
    asked, where = amounts(wanted), conditions(wanted)
    if not where:
        return f'room for {asked}'
    return f'room for {asked} on hosts {where}' if asked else f'hosts {where}'
