# SPDX-License-Identifier: Apache-2.0
"""Plans made without a solver, and parsed pictures."""

from xml.etree import ElementTree

from nova_holistic.model.plan import ObjectiveValue, Placement, Plan

_SVG = '{http://www.w3.org/2000/svg}'


def plan(snapshot, placements, name='shop', **fields):
    """A plan with each member path on the named host."""
    hosts = {host.name: host for host in snapshot.hosts}
    located = {member: hosts[name].location if name in hosts else ()
               for member, name in placements.items()}
    fields.setdefault('objective', ObjectiveValue('spread', 2.5, 2.0, 0.2))
    return Plan(name, tuple(
        Placement(member, host, host, located[member])
        for member, host in placements.items()), **fields)


class Drawing:
    """A parsed SVG, searched by class of element."""

    def __init__(self, svg: bytes):
        self.root = ElementTree.fromstring(svg)

    def all(self, kind):
        """Elements of a class; ``host`` finds ``host idle`` too."""
        return [element for element in self.root.iter()
                if kind in element.get('class', '').split()]

    def texts(self, kind):
        return [element.text for element in self.all(kind)]

    def words(self, kind):
        """The tooltip of each element of the class."""
        return [element.find(f'{_SVG}title').text
                for element in self.all(kind)]

    def host(self, name):
        """The box of the host of that name."""
        for element in self.all('host'):
            first = element.find(f'{_SVG}title').text.split('\n')[0]
            if first.removesuffix(' (disabled)').endswith(name):
                return Part(element)
        raise LookupError(name)


class Part(Drawing):
    """An element and its content."""

    def __init__(self, element):
        self.root = element
