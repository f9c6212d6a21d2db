"""Sign codes and the three-stage scan, against the obvious computation of the same thing.

The recall of the scan is a property of the algorithm on given numbers, so it is asserted here on seeded clusters; how
it does on real text, and how fast, is printed by `bench/speed.py`.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from recollect.vectors import SECOND, THIRD, Bits, Floats, best, codes, dots, floats, halves, nearest, shortlist

DIMENSIONS = [384, 256, 100, 768]  # 100 fills no whole number of 64-bit words


def random_units(count: int, dimension: int, seed: int) -> Floats:
    return unit(np.random.default_rng(seed).standard_normal((count, dimension)).astype(np.float32))


def unit(vectors: Floats) -> Floats:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


def bits_of(vectors: Floats) -> Bits:
    bits = Bits()
    bits.append(codes(vectors))
    return bits


def hamming(vectors: Floats, query: Floats) -> list[int]:
    """How many signs differ, counted one by one."""
    return [int(np.sum((row > 0) != (query > 0))) for row in vectors]


def clusters(count: int, dimension: int, seed: int) -> Floats:
    """Clusters of very different sizes whose members differ more in some directions than in others, like text."""
    rng = np.random.default_rng(seed)
    spectrum = (np.arange(1, dimension + 1) ** -0.4).astype(np.float32)
    centres = rng.standard_normal((200, dimension), np.float32) * spectrum
    sizes = 1 / np.arange(1, 201)
    chosen = rng.choice(200, count, p=sizes / sizes.sum())
    noise = rng.standard_normal((count, dimension), np.float32) * spectrum
    rotation = np.linalg.qr(rng.standard_normal((dimension, dimension)))[0].astype(np.float32)
    return unit((centres[chosen] + np.float32(0.8) * noise) @ rotation)


# -- the stored form --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_a_vector_comes_back_from_its_stored_form_within_half_precision(dimension: int) -> None:
    vectors = random_units(50, dimension, 1)
    stored = halves(vectors)
    assert {len(blob) for blob in stored} == {2 * dimension}
    np.testing.assert_allclose(floats(stored), vectors, rtol=2**-11, atol=2**-24)


def test_the_stored_form_of_nothing_is_nothing() -> None:
    assert halves(np.empty((0, 384), np.float32)) == []
    assert floats([]).shape == (0, 0)


@given(st.lists(st.floats(-1, 1, width=16), min_size=1, max_size=200))
def test_what_half_precision_can_say_is_kept_exactly(numbers: list[float]) -> None:
    vectors = np.array([numbers], np.float32)
    assert np.array_equal(floats(halves(vectors)), vectors)


# -- sign codes -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_codes_fill_whole_words_and_pad_with_zeros(dimension: int) -> None:
    made = codes(random_units(7, dimension, 2))
    assert made.shape == (7, -(-dimension // 64) * 8)
    assert not np.unpackbits(made, axis=1, bitorder="little")[:, dimension:].any()


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_distances_are_the_number_of_signs_that_differ(dimension: int) -> None:
    vectors, query = random_units(500, dimension, 3), random_units(1, dimension, 4)[0]
    assert bits_of(vectors).distances(query).tolist() == hamming(vectors, query)


def test_distances_are_right_across_the_borders_of_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recollect.vectors.BLOCK", 64)
    vectors, query = random_units(64 * 3 + 1, 100, 5), random_units(1, 100, 6)[0]
    assert bits_of(vectors).distances(query).tolist() == hamming(vectors, query)


def test_a_code_has_no_distance_to_itself_and_every_sign_to_its_opposite() -> None:
    vectors = random_units(3, 768, 7)
    assert bits_of(vectors).distances(vectors[1])[1] == 0
    assert bits_of(vectors).distances(-vectors[1])[1] == 768


@settings(deadline=None, max_examples=50)
@given(pieces=st.lists(st.integers(0, 700), max_size=8), dimension=st.sampled_from(DIMENSIONS))
def test_appending_in_pieces_is_appending_at_once(pieces: list[int], dimension: int) -> None:
    vectors = random_units(sum(pieces), dimension, 8)
    whole, grown = bits_of(vectors), Bits()
    start = 0
    for piece in pieces:
        grown.append(codes(vectors[start : start + piece]))
        start += piece
    assert grown.count == whole.count == len(vectors)
    assert np.array_equal(grown.packed, whole.packed)


@settings(deadline=None)
@given(st.lists(st.booleans(), min_size=1, max_size=300))
def test_keeping_rows_leaves_those_rows_in_order_and_room_to_append(wanted: list[bool]) -> None:
    vectors, more = random_units(len(wanted), 100, 9), random_units(5, 100, 10)
    bits = bits_of(vectors)
    bits.keep(np.flatnonzero(wanted))
    bits.append(codes(more))
    expected = np.concatenate([vectors[wanted], more])
    assert np.array_equal(bits.packed, bits_of(expected).packed)


def test_codes_taken_over_from_a_file_are_the_same_codes() -> None:
    bits = bits_of(random_units(30, 384, 11))
    again = Bits(bits.packed.copy())
    assert again.count == 30
    assert np.array_equal(again.packed, bits.packed)


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_likeness_is_the_sum_of_the_query_where_a_sign_is_positive(dimension: int) -> None:
    vectors, query = random_units(400, dimension, 12), random_units(1, dimension, 13)[0]
    rows = np.array([399, 0, 7, 7, 200])
    expected = [float(query[vectors[row] > 0].sum()) for row in rows]
    np.testing.assert_allclose(bits_of(vectors).likeness(rows, query), expected, atol=1e-5)


# -- choosing ---------------------------------------------------------------------------------------------------------


@given(distances=st.lists(st.integers(0, 769), max_size=300), count=st.integers(1, 310))
def test_nearest_gives_enough_rows_and_only_the_smallest(distances: list[int], count: int) -> None:
    found = nearest(np.array(distances, np.uint16), count).tolist()
    assert len(set(found)) == len(found) >= min(count, len(distances))
    cut = sorted(distances)[min(count, len(distances)) - 1] if distances else 0
    assert set(found) == {row for row, distance in enumerate(distances) if distance <= cut} or count >= len(distances)


@pytest.mark.parametrize("spread", [2, 40, 300])
def test_of_very_many_the_nearest_are_found_by_a_sample_just_as_by_counting_all(spread: int) -> None:
    chance = np.random.default_rng(spread)
    distances = np.asarray(chance.normal(192, spread, 300_000).clip(0, 384), np.uint16)
    for found in (distances, np.sort(distances), np.full(300_000, 7, np.uint16)):
        cut = int(np.searchsorted(np.cumsum(np.bincount(found)), 2000))
        assert np.array_equal(nearest(found, 2000), np.flatnonzero(found <= cut))


@given(scores=st.lists(st.floats(-1, 1, width=32), max_size=200), count=st.integers(1, 210))
def test_best_gives_the_highest_scores_in_falling_order(scores: list[float], count: int) -> None:
    found = best(np.array(scores, np.float32), count)
    assert len(set(found.tolist())) == len(found)
    assert [scores[row] for row in found] == sorted(scores, reverse=True)[:count]


def test_dots_are_the_products_with_the_query() -> None:
    vectors, query = random_units(20, 100, 14), random_units(1, 100, 15)[0]
    np.testing.assert_allclose(dots(vectors, query), [np.dot(row, query) for row in vectors], atol=1e-6)


# -- the scan ---------------------------------------------------------------------------------------------------------


def test_few_vectors_are_all_worth_an_exact_look() -> None:
    vectors, query = random_units(THIRD, 384, 16), random_units(1, 384, 17)[0]
    assert sorted(shortlist(bits_of(vectors), None, query).tolist()) == list(range(THIRD))


def test_of_many_vectors_as_many_as_asked_for_are_worth_an_exact_look() -> None:
    vectors, query = random_units(2 * SECOND, 384, 18), random_units(1, 384, 19)[0]
    assert len(set(shortlist(bits_of(vectors), None, query).tolist())) == THIRD
    assert len(set(shortlist(bits_of(vectors), None, query, 1000).tolist())) == 1000


@pytest.mark.parametrize("share", [0.0, 0.0001, 0.1, 0.5, 0.9999, 1.0])
def test_a_mask_lets_only_its_own_rows_through(share: float) -> None:
    vectors, query = random_units(3 * SECOND, 384, 20), random_units(1, 384, 21)[0]
    mask: NDArray[np.bool_] = np.random.default_rng(22).random(len(vectors)) < share
    found = shortlist(bits_of(vectors), mask, query)
    assert mask[found].all()
    assert len(set(found.tolist())) == len(found)
    assert len(found) >= min(THIRD, int(mask.sum()))


@pytest.mark.parametrize("share", [0.7, 0.2])  # of all rows that are compared, and of those alone
def test_a_mask_changes_nothing_for_the_rows_it_lets_through(share: float) -> None:
    vectors, query = random_units(int(2.1 * SECOND / share), 384, 23), random_units(1, 384, 24)[0]
    mask: NDArray[np.bool_] = np.random.default_rng(25).random(len(vectors)) < share
    kept = np.flatnonzero(mask)
    masked = shortlist(bits_of(vectors), mask, query)
    alone = kept[shortlist(bits_of(vectors[kept]), None, query)]
    assert set(masked.tolist()) == set(alone.tolist())


def found_of_ten(vectors: Floats, queries: Floats, center: Floats | float = 0.0) -> float:
    """The share of the true ten nearest that the whole scan gives, over the stored form of the vectors."""
    bits, stored = bits_of(np.asarray(vectors - center, np.float32)), floats(halves(vectors))
    found = 0
    for query, scores in zip(queries, queries @ vectors.T, strict=True):
        rows = shortlist(bits, None, query, THIRD, center)
        chosen = rows[best(dots(stored[rows], query), 10)]
        found += len(set(chosen.tolist()) & set(best(scores, 10).tolist()))
    return found / (10 * len(queries))


def test_the_scan_finds_nineteen_of_twenty_true_neighbours_among_twenty_thousand() -> None:
    everything = clusters(20_100, 384, seed=26)
    assert found_of_ten(everything[:20_000], everything[20_000:]) >= 0.95


def test_vectors_that_lie_in_one_corner_are_found_around_their_centre() -> None:
    corner = random_units(1, 384, 27)[0] * np.float32(1.4)
    everything = unit(clusters(10_100, 384, seed=28) + corner)
    vectors = everything[:10_000]
    assert found_of_ten(vectors, everything[10_000:], vectors.mean(axis=0)) >= 0.95
