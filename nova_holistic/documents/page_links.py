# SPDX-License-Identifier: Apache-2.0
"""The links from one page of a list to the next."""

from typing import Any
from urllib import parse

_PLACE = ('marker', 'position')


def place_of_next_page(links: Any) -> dict[str, str]:
    """The parameters of a query that state where the next page begins. Empty
    if there is no link to such a page.

    :param links: the links of a response, of any form
    """
    for link in links if isinstance(links, list) else ():
        if isinstance(link, dict) and link.get('rel') == 'next' and isinstance(
                link.get('href'), str):
            try:
                query = dict(parse.parse_qsl(
                    parse.urlsplit(link['href']).query))
            except ValueError:
                return {}
            return {name: query[name] for name in _PLACE if name in query}
    return {}
