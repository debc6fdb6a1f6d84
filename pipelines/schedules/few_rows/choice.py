"""Configurations for few rows: enough bytes under way to keep the memory busy, by formula."""

from __future__ import annotations

from ....dialects.mlir import ir
from ...fusion.tiles import TILES
from ...lane_reduction import WARP_LANES
from ..configuration import MOST_THREADS
from ..dependents import can_overlap
from ..device import Device
from ..elements import ACCESS_BYTES, element_bytes
from ..size import ONE, Size
from ..tables import FewRowsTable
from .configuration import Along, FewRowsConfiguration
from .plan import FewRows

# What sizes that are open are taken to be.
_OPEN_TERMS, _OPEN_COLUMNS = 2048, 1 << 14


def choices(plan: FewRows, device: Device) -> list[FewRowsConfiguration]:
    """The compiler's own: of open rows for up to several numbers of them; none of small sums."""
    rows, table = plan.extent(plan.rows), device.tables.few_rows
    most = table.rows_per_byte * element_bytes(plan.weight.element)
    if TILES in plan.work.op.attributes:
        # More take tensor cores less time.
        most = min(most, max(table.open_rows))
    terms, columns = plan.work.extents[plan.terms], plan.extent(plan.columns)
    if terms.is_known and terms.known < table.least_terms:
        return []
    if columns.is_known and columns.known < table.least_columns:
        return []
    counts = [each for each in table.open_rows if each <= most]
    if rows.is_known:
        counts = [rows.known] if 2 <= rows.known <= most else []
    elif len(plan.rows) > 1:
        return []
    made = [_made(plan, device, count) for count in counts]
    return [each for each in made if each is not None and refusal(plan, device, each) is None]


def are_for_tiles(plan: FewRows, device: Device) -> bool:
    """Returns whether tiles that threads copy take less time, where they can compute it: of f32."""
    rows, columns = plan.extent(plan.rows), plan.extent(plan.columns)
    if not (isinstance(plan.weight.element, ir.F32Type) and rows.is_known and columns.is_known):
        return False
    table, is_along_terms = device.tables.few_rows, plan.along is Along.TERMS
    least = table.tiled_rows_by_terms if is_along_terms else table.tiled_rows_by_columns
    return rows.known >= least and columns.known >= table.tiled_columns


def refusal(plan: FewRows, device: Device, made: FewRowsConfiguration) -> str | None:
    """Why no kernel can be made of a configuration, and what can be; None where one can."""
    powers = (made.columns, made.terms, made.lanes, made.across, made.threads)
    rows, table = plan.extent(plan.rows), device.tables.few_rows
    if min(*powers, made.rows, made.unroll) < 1 or any(each & (each - 1) for each in powers):
        return "numbers are at least 1, and all but 'rows' and 'unroll' powers of two"
    if made.along is not plan.along:
        return f"'along' is {plan.along}, as the larger factor lies"
    if made.across > (1 if plan.along is Along.TERMS else WARP_LANES):
        return f"'across' is 1 along terms, and up to {WARP_LANES} along columns"
    if rows.is_known and made.rows != rows.known:
        return f"'rows' are {rows.known}"
    if not WARP_LANES <= made.threads <= MOST_THREADS or made.threads < made.lanes * made.across:
        return f"'threads' are {WARP_LANES} to {MOST_THREADS}, and 'lanes' times 'across' or more"
    if made.overlaps and not can_overlap(device):
        return "'overlaps' is false before sm_90"
    sums = made.rows * made.columns * len(plan.work.collectives)
    if sums > table.sums:
        return f"a thread has registers for {table.sums} sums, of 'rows' times 'columns'"
    if made.unroll * _loads(made) > table.most_loads:
        return f"'unroll' times the vectors of a step is {table.most_loads} at most"
    return None


def _made(plan: FewRows, device: Device, rows: int) -> FewRowsConfiguration | None:
    table, size = device.tables.few_rows, element_bytes(plan.weight.element)
    terms, count = _known(plan.work.extents[plan.terms], _OPEN_TERMS), len(plan.work.collectives)
    columns = _known(plan.extent(plan.columns), _OPEN_COLUMNS)
    loop = plan.terms if plan.along is Along.TERMS else plan.columns[-1]
    width = _whole(plan, loop, ACCESS_BYTES // size)
    if plan.along is Along.TERMS:
        beside = 1
        while rows > table.rows_per_column * beside and 2 * rows * beside * count <= table.sums:
            beside *= 2
        tile = (beside, width)
    else:
        while width > 1 and rows * width * count > table.sums:
            width //= 2
        tile = (width, _whole(plan, plan.terms, table.terms_at_once))
    if width * size < table.least_bytes:
        return None
    across, threads = 1, table.threads
    if plan.along is Along.TERMS:
        lanes = _lanes(device, columns // tile[0], terms // width, tile[0] * width * size)
        threads = max(lanes, table.small_block)
    else:
        across = table.across
        while across > 2 and columns // (width * across) < device.multiprocessors:
            across //= 2
        lanes = threads // across
        while lanes > 1 and lanes * tile[1] > terms:
            lanes //= 2
    probe = FewRowsConfiguration(
        plan.along, rows, *tile, lanes, across, 1, threads, can_overlap(device)
    )
    steps = max(terms // probe.step, 1)
    unroll = _unroll(steps, table, _loads(probe))
    return probe.with_values({"unroll": unroll})


def _lanes(device: Device, teams: int, vectors: int, bytes_: int) -> int:
    """The lanes of a team: as many as have enough under way together, each a vector at least."""
    table, wanted = device.tables.few_rows, device.bytes_in_flight * device.multiprocessors
    lanes = WARP_LANES
    while lanes > table.least_lanes and lanes > vectors:
        lanes //= 2
    under_way = min(-(-vectors // lanes), table.loads)
    while lanes < table.most_lanes and lanes * under_way < vectors:
        if teams * lanes * under_way * bytes_ >= wanted:
            break
        lanes *= 2
        under_way = min(-(-vectors // lanes), table.loads)
    return lanes


def _unroll(steps: int, table: FewRowsTable, loads: int) -> int:
    """As many steps as a thread may have under way, that leave none over if that is possible."""
    most = max(min(steps, table.loads // loads), 1)
    whole = max(each for each in range(1, most + 1) if steps % each == 0)
    return whole if 2 * whole > most else most


def _loads(made: FewRowsConfiguration) -> int:
    """The vectors of the larger factor that a thread reads in a step."""
    return made.columns if made.along is Along.TERMS else made.terms


def _whole(plan: FewRows, loop: int, most: int) -> int:
    """Returns how many neighbours along a loop a thread reads at once in all operands along it."""
    work, found = plan.work, max(most, 1)
    sizes = [work.extents[loop]]
    for operand in plan.summed:
        if operand.strides[loop] == ONE:
            others = [
                stride
                for other, stride in enumerate(operand.strides)
                if other != loop and work.extents[other] != ONE
            ]
            sizes += [operand.offset, *others]
    while found > 1 and any(size.is_known and size.known % found for size in sizes):
        found //= 2
    return found


def _known(size: Size, otherwise: int) -> int:
    return size.known if size.is_known else otherwise
