# SPDX-License-Identifier: Apache-2.0
"""A layered mapping equals a dictionary after the same changes, and its
differences are those of the dictionaries."""

from hypothesis import given
from hypothesis import strategies as st
import pytest

from nova_holistic.model import layered_mapping
from nova_holistic.model.layered_mapping import differences, LayeredMapping
from tests.effort import examples
from tests.executed_lines import executed

KEYS = st.integers(0, 12)
CHANGES = st.tuples(
    st.integers(0, 5), st.lists(KEYS, max_size=4), st.lists(KEYS, max_size=3))


@given(st.sets(KEYS), st.lists(CHANGES, max_size=8), st.integers(0, 6))
@examples(400)
def test_changes_have_the_same_effect_as_on_a_dictionary(
        first, changes, most):
    """Each change may begin with any earlier state."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layered_mapping, 'MIN_CHANGES', most)
        state = {key: object() for key in first}
        known = [(LayeredMapping(state), state)]
        for origin, keys, gone in changes:
            mapping, state = known[origin % len(known)]
            values = {key: object() for key in keys}
            left = {key: value for key, value in state.items()
                    if key not in gone}
            known.append((mapping.updated(values, gone), {**left, **values}))
        check(known)


def check(known):
    for mapping, state in known:
        assert dict(mapping) == mapping.copied() == state
        assert len(mapping) == len(state)
        assert {key for key in range(13) if key in mapping} == state.keys()
        assert [mapping.get(key) for key in range(13)] == [
            state.get(key) for key in range(13)]
        for other, other_state in known:
            found = differences(other, mapping)
            assert len(found) == len(set(found))
            assert set(found) == {
                key for key in range(13)
                if state.get(key) is not other_state.get(key)}


def test_a_key_that_is_missing_has_no_value():
    mapping = LayeredMapping({1: 'a'})
    for each, key in (mapping, 2), (mapping.updated({}, [1]), 1):
        with pytest.raises(KeyError):
            each[key]
        assert each.get(key, 'b') == 'b'


def test_a_changed_value_keeps_its_place():
    mapping = LayeredMapping(dict.fromkeys('abc', 0))
    assert list(mapping.updated({'d': 1, 'b': 2}).items()) == [
        ('a', 0), ('b', 2), ('c', 0), ('d', 1)]


@pytest.mark.parametrize('changes', [1, 30])
def test_the_cost_depends_only_on_the_changes(changes):
    counts = []
    for number in 1_000, 100_000:
        before = LayeredMapping(dict.fromkeys(range(number), 0))

        def work():
            now = before
            for key in range(changes):
                now = now.updated({key: 1}, [key + 500])
            assert len(differences(before, now)) == 2 * changes

        counts.append(executed(work).total())
    assert counts[0] == counts[1] > 0
