"""Passes: functions from Graph to Graph, one module each, verified after each. This module sets their order."""

from __future__ import annotations

from collections.abc import Callable

from mcugen.ir.graph import Graph, verify, verify_origins, with_origins
from mcugen.passes.compose_tables import compose_tables
from mcugen.passes.copy_outputs import copy_outputs
from mcugen.passes.copy_states import copy_states
from mcugen.passes.drop_detours import drop_detours
from mcugen.passes.drop_identities import drop_identities
from mcugen.passes.drop_unread import drop_unread
from mcugen.passes.flip_unsigned import flip_unsigned
from mcugen.passes.fold_batches import fold_batches
from mcugen.passes.fold_factors import fold_factors
from mcugen.passes.fold_lines import fold_lines
from mcugen.passes.follow_orders import follow_orders
from mcugen.passes.fuse_bank_roots import fuse_bank_roots
from mcugen.passes.fuse_clamps import fuse_all_clamps, fuse_clamps
from mcugen.passes.fuse_elements import fuse_elements
from mcugen.passes.fuse_padding import fuse_padding
from mcugen.passes.fuse_residuals import fuse_residuals
from mcugen.passes.fuse_scales import fuse_scales
from mcugen.passes.fuse_spectra import fuse_spectra
from mcugen.passes.integer_thresholds import integer_thresholds
from mcugen.passes.join_distances import join_distances
from mcugen.passes.lay_in_place import lay_in_place
from mcugen.passes.measure_ranges import measure_ranges
from mcugen.passes.merge_equal import merge_equal
from mcugen.passes.merge_reshapes import merge_reshapes
from mcugen.passes.read_images import read_images
from mcugen.passes.remove_channels import remove_channels
from mcugen.passes.reuse_joins import reuse_joins
from mcugen.passes.store_halves import store_halves
from mcugen.passes.tabulate_bytes import tabulate_bytes
from mcugen.passes.unpack_blocks import unpack_blocks_for
from mcugen.passes.unpack_constants import unpack_constants

Pass = Callable[[Graph, str], Graph]
"""A function from a graph and the reference runtime to an equivalent graph. It is idempotent."""

Entry = Pass | tuple[Pass, ...]


def simplifying(features: frozenset[str] = frozenset(), *, all_channels: bool = False) -> tuple[Pass, ...]:
    """Passes that remove work from a graph. They are repeated until none changes anything.

    All keep every bit of the results except `fold_factors` and `join_distances`, which round floats in other places.
    features: of the core. all_channels: whether to keep channels that are constant only because of the present weights.
    """
    return (
        drop_unread,
        drop_identities,
        drop_detours,
        merge_equal,
        merge_reshapes,
        join_distances,
        integer_thresholds,
        fold_factors,
        fuse_clamps,
        tabulate_bytes,
        compose_tables,
        fuse_padding,
        *(() if all_channels else (remove_channels(features),)),
    )


def order(features: frozenset[str], *, halves: bool = False, all_channels: bool = False) -> tuple[Entry, ...]:
    """The passes for a core in order. Those in tuples simplify the graph, and are repeated.

    halves: whether to store floats of a device as float16. all_channels: as in `simplifying`.
    """
    return (
        unpack_blocks_for(features),
        unpack_constants,
        flip_unsigned,
        (fold_batches,),
        follow_orders,
        measure_ranges,
        simplifying(features, all_channels=all_channels),
        reuse_joins(features),
        fuse_residuals(features),
        fuse_scales(features),
        fuse_spectra(features),
        (fuse_bank_roots, fold_lines, fuse_elements(features)),
        (read_images(features),),
        *((store_halves(features),) if halves else ()),
        copy_outputs,
        lay_in_place(features),
        copy_states,
        measure_ranges,
    )


def run(
    graph: Graph,
    reference: str,
    features: frozenset[str] = frozenset(),
    *,
    simplify: bool = True,
    halves: bool = False,
    all_channels: bool = False,
) -> Graph:
    """The graph after all passes, for a core with these features.

    simplify: whether to run the simplifying passes. halves, all_channels: as in `order`. Raises InternalError if a pass
    leaves an ill-formed graph, or tensors that do not state what they represent.
    """
    done = with_origins(graph)
    found: dict[Pass, Graph] = {}
    for entry in order(features, halves=halves, all_channels=all_channels):
        if not isinstance(entry, tuple):
            if found.get(entry) is not done:  # the pass would not change the same graph again
                found[entry] = done = _checked(entry, done, graph, reference)
        elif simplify:
            done = _repeated(entry, done, graph, reference)
    return done


def simplified(graph: Graph, reference: str, *, all_channels: bool = False) -> Graph:
    """An imported graph without the work that a build would remove.

    Unlike in a build, clamps of elementwise floats become activations too, so that a quantized tensor needs no integers
    for values that the clamp cuts off. all_channels: as in `simplifying`. Raises InternalError as `run` does.
    """
    done = with_origins(graph)
    for step in (unpack_constants, follow_orders):
        done = _checked(step, done, graph, reference)
    return _repeated((*simplifying(all_channels=all_channels), fuse_all_clamps), done, graph, reference)


def _repeated(steps: tuple[Pass, ...], graph: Graph, imported: Graph, reference: str) -> Graph:
    """The graph after the passes, repeated until a round changes nothing. This ends, since every other round
    removes something.
    """
    while True:
        before = graph
        for step in steps:
            graph = _checked(step, graph, imported, reference)
        if graph is before:
            return graph


def _checked(step: Pass, graph: Graph, imported: Graph, reference: str) -> Graph:
    stage, result = f"pass {step.__name__}", step(graph, reference)
    return result if result is graph else verify_origins(verify(result, stage), imported, stage)
