"""Numbers that choosers decide by and that no formula gives, a table for each family.

Each says what it is from. A chip that was measured may have tables of its own (`device.py`).
"""

from __future__ import annotations

from ...dialects.records import dataclass


@dataclass(frozen=True)
class PointwiseTable:
    """Pointwise kernels on an H200, in GB/s moved.

    A thread takes one vector: additions 4378, with two or four vectors 4344 and 4309; threads that
    go on to further ones move 3962 of 4266 in a copy. Where the loads of vectors wait for that of
    an index, one alone leaves the memory idle (4105): a thread takes `gathered` (4405; four 4370).
    `singles` single elements have as many bytes under way as vectors of four f32 and twice of bf16.
    A warp that reads vectors' elements one by one takes four cycles of the first-level cache for 32
    elements, in which the memory moves `spread_bytes` for each multiprocessor (computed: at 4.8
    TB/s and 1.7 GHz): where the reads take longer than the memory, threads take single elements, of
    which a warp reads neighbours. Of elements at computed places a vector has `single_bytes`: those
    that a warp loads at once are apart by a vector, or half of one where a picture grows to twice
    its size, and lie in one or two lines of the first-level cache, which gives one a cycle.
    """

    threads: int = 256
    gathered: int = 2
    singles: int = 8
    spread_bytes: int = 84
    single_bytes: int = 8


@dataclass(frozen=True)
class WindowTable:
    """Windows: a thread takes at most `rows` rows, whose windows have so many `elements` in all.

    Where windows of neighbouring rows have nothing in common it takes one: with 8 rows such took
    1.3 to 4 times as long as torch's on an H200. Where neighbouring windows begin more than 16
    bytes apart it has one result: poolings in steps of 5 to 11 elements took 1.0 to 2.1 times as
    long with two or four in a row. Rows are fewer where threads would not fill one part in
    `least_share` of the device: a maximum of 3x3x3 of 1x32x96x32x8 bf16 had 36 blocks of 8
    rows, and took 11.5 us. No sweep is on record.
    """

    threads: int = 256
    rows: int = 8
    least_share: int = 4
    elements: int = 320


@dataclass(frozen=True)
class StencilTable:
    """Depthwise convolutions: a thread takes at most `rows` rows of neighbouring results, with
    `products` in all, or `few_products` where results may lie anywhere, as is rare: a kernel's code
    is as long.

    Rows are fewer where threads would not fill one part in `least_share` of the device. One part in
    `most_idle` of a row's results at most may be threads' that lie beyond its end. How many
    neighbours a thread takes is decided by what takes longest, for a multiprocessor of an H200 and
    a cycle: the second-level cache moves `cache_bytes` (500 MB in 114 us, at 96 % of its peak by
    ncu), and threads execute `instructions` (at 65 % of the issue slots), of which a thread has
    `other` besides accesses and products. By this 32x32x278x270 f32, 3x3, stored in pieces of two,
    takes 1.4 times as long with 4 neighbours as with 2; measured were 226 and 157 us.
    """

    threads: int = 128
    rows: int = 8
    products: int = 800
    few_products: int = 256
    least_share: int = 4
    most_idle: int = 4
    cache_bytes: int = 19
    instructions: int = 83
    other: int = 40


@dataclass(frozen=True)
class SquareTable:
    """Transposes by tiles that threads turn in squares, in GB/s on an H200.

    A row of a tile has `row_bytes` in both directions, whole sectors and more of each row of memory
    that is touched, but at most `most_side` elements, for shared memory's sake: a block has
    `shared_bytes`, so that several fit. A tile of single elements has `single_elements`, so that a
    thread has 16 of an operand under way: of f32 3499, with 8 3112; of bf16 2372, with 16 in tiles
    of twice the size 1576. Tiles of fewer than `least_elements` are not worth blocks of their own,
    nor those of which a run fills less than one part in `least_filled` (f32: 8 rows of 1,048,576 in
    243 us, 1/16 of each tile; torch 34), and fewer than `least_units` vectors along a side leave
    the memory's sectors half used. Fewer tiles than one for `least_share` multiprocessors take
    longer than elements one by one: 30 of 128 by 128 f32 11.6 us, where other kernels move as many
    bytes in 4; 46 of bf16 13.0 us, torch 6.6.
    """

    threads: int = 256
    row_bytes: int = 256
    most_side: int = 128
    single_elements: int = 64 * 64
    shared_bytes: int = 48 * 1024
    least_elements: int = 1024
    least_filled: int = 4
    least_units: int = 8
    least_share: int = 2


@dataclass(frozen=True)
class SkewedTable:
    """Transposes by skewed tiles, in GB/s on an H200.

    Copies are fastest in tiles of 128 by 128 elements (3558 of f32, 3457 in those of 64 by 64), of
    which so many `copying_blocks` fit a multiprocessor. Where threads read more, tiles of f32 are
    best smaller (3832), so that `computing_blocks` fit, and those of bf16 have twice the threads: a
    thread takes so many bytes of an operand, but that blocks have `least_threads`.
    """

    greatest_side: int = 128
    least_side: int = 64
    copying_blocks: int = 3
    computing_blocks: int = 4
    copying_bytes: int = 128
    computing_bytes: int = 64
    least_threads: int = 256


@dataclass(frozen=True)
class RowTable:
    """Kernels on rows: as no row of the benchmark's catalogue was the worse for on an H200.

    Registers of 32 bits in which a thread keeps elements: `words`, `cluster_words` in the blocks of
    a cluster, which have fewer threads, and `short_words` of a row that a warp shares with others.
    Where a row of open length is one input of 32 bits, without weights, `lone_words` leave enough
    for the rest (log-softmax of 50257 f32 843 us, with it 815; softmax of four lengths as fast).
    A block has `small_block` threads where it has several rows, and up to `block`, or
    `cluster_block`, where it has one. A thread of a block has `few_bytes` of a row that is not
    long; of one that is read in batches `stream_bytes` under way, `split_bytes` of one that is
    split and only added up, in no more than `most_loads`. Vectors of fewer than `narrow_bytes` are
    worse than those that begin where a row is aligned. Rows of `split_length` are worth a second
    kernel; so are those that are read once, for one part of the device in `split_share` at most, if
    a row has `split_work` instructions of a thread: a block takes 4 us for these (24 us for 2.9
    million of a binary cross-entropy), as long as parts and the kernel that combines them. Where an
    element has more than `byte_work` for each of its bytes, the memory waits for what is computed
    (128 instructions a cycle at 1.7 GHz, and 4.8 TB/s for all): a batch then has no more than
    `part_work` (computed: 0.6 us), but for a vector of each thread. Blocks of fewer than
    `smallest_bound` threads take the registers that they want; more blocks are to fit where a
    thread holds no more than `few_words`, or `few_cluster_words`, and the region has no more than
    `few_operations`. Where open rows fill the device nonetheless, a thread takes `batches` of one
    (argmax of 16384 bf16: 3783 GB/s, with two 4417, with four 4410).

    Rows of which several share a block pass through shared memory if instructions would write each
    sector `staged_sectors` times or more, and rows have one part of the device's threads in
    `staged_share` at least (layer norm of 2,508,224 rows of 14 f32 took 150 us, the second-level
    cache at 88 % of its peak, the memory at 36 %).

    Blocks of a cluster are on one `cluster_group` of multiprocessors. A row in so many blocks costs
    as much as `cluster_cost` and they in all: of 13 lengths past what a block holds, in softmax of
    f32 and RMS norm of bf16, the counts that this finds took 0.97 and 0.99 of the time of the
    fewest power of two (0.90 to 1.00, 0.96 to 1.01).
    """

    words: int = 32
    cluster_words: int = 64
    lone_words: int = 40
    short_words: int = 16
    small_block: int = 128
    block: int = 512
    cluster_block: int = 256
    few_bytes: int = 32
    stream_bytes: int = 64
    split_bytes: int = 128
    most_loads: int = 16
    batches: int = 2
    narrow_bytes: int = 8
    split_length: int = 2**16
    split_work: int = 2**19
    split_share: int = 4
    byte_work: int = 6
    part_work: int = 2**17
    staged_sectors: int = 2
    staged_share: int = 4
    smallest_bound: int = 256
    few_words: int = 8
    few_cluster_words: int = 56
    few_operations: int = 32
    cluster_group: int = 16
    cluster_cost: int = 8


@dataclass(frozen=True)
class ColumnTable:
    """Columns: as no row of the benchmark's catalogue was the worse for on an H200; no sweep of
    them is on record.

    A block of `threads` takes `lanes` vectors, a warp's, so that several threads share a column. A
    thread has `unroll` iterations of 16 bytes under way, of narrower accesses `narrow_bytes` in
    `most_unroll` at most. Where few blocks fill the device they have `many_threads`, `deep_lanes`
    and `deep_unroll`; so have those of rows at any address, with `skewed_lanes`. A thread takes all
    of `few_iterations`. A block takes `least_chunks` of iterations at least where they are split or
    blocks are few; of `many_times` the blocks that are held at once the last ones matter little. A
    thread keeps `kept_words` from one pass to the next; beside elements it needs
    `other_registers`, `open_registers` where the launch says how many lanes a block has (of sums:
    as the assembler needs no spills with), `skewed_registers` where rows are not aligned.
    """

    threads: int = 256
    lanes: int = 32
    unroll: int = 4
    narrow_bytes: int = 32
    most_unroll: int = 16
    many_threads: int = 512
    deep_unroll: int = 8
    deep_lanes: int = 16
    skewed_lanes: int = 64
    few_iterations: int = 16
    least_chunks: int = 4
    many_times: int = 4
    kept_words: int = 64
    other_registers: int = 24
    open_registers: int = 16
    skewed_registers: int = 28


@dataclass(frozen=True)
class ScanTable:
    """Scans.

    A block has up to `threads`, or `split_threads` where several share a row of known length, or
    `element_threads` where the length is open and elements are accessed one by one. A thread has
    `vectors` of a row. Of columns, a block has `column_threads`, a thread `iterations`, and `lanes`
    threads have neighbouring vectors, or `few_lanes` where columns do not fill the device twice. No
    sweep of these is on record.

    A block took 0.9 us for a chunk (H200: 512 of 2048 f64 in 470 us), and a second launch and its
    wait take about 5 us: scans of `split_chunks` and more are split. A thread scans its columns
    alone where there is a vector for one in `alone_share` of the device's threads (computed: two
    warps for each of a multiprocessor's schedulers, with several independent columns each; blocks
    of which a short scan leaves rows empty took 5 times as long as torch's one thread a column).
    Rows that a warp holds share a block of `packed_threads`, of which 16 fill a multiprocessor:
    with a block of one warp for each row, 32 at once, rows of 8 i64 moved 119 GB/s. Open rows of up
    to `team_length` elements that do not fill half a warp with vectors have a part of a warp each
    (computed: longer ones fill half of `element_threads`; with a block for each row 110,616 of 14
    f16 moved 30 GB/s, 131,072 of 168 i8 559).
    """

    threads: int = 512
    split_threads: int = 256
    element_threads: int = 128
    vectors: int = 2
    column_threads: int = 256
    iterations: int = 4
    few_lanes: int = 8
    lanes: int = 32
    split_chunks: int = 8
    alone_share: int = 8
    packed_threads: int = 128
    team_length: int = 512


@dataclass(frozen=True)
class FewRowsTable:
    """Few rows times a large factor, computed: but for those of tiles, no number is from a sweep.

    An H200 adds 2.9e13 products of f32 a second (128 a cycle and multiprocessor at 1.7 GHz) and
    reads 4.8e12 bytes, so that six rows' products of each byte take as long as the byte; with
    conversions and loads beside them, those of `rows_per_byte`. A multiprocessor's first-level
    cache gives 128 bytes a cycle and memory 21: a thread has a column for each `rows_per_column`,
    of which it loads as many vectors as of the factor. Of open rows there are kernels for up to
    `open_rows`. Fewer sums than `least_columns`, or of fewer than `least_terms`, are no large
    factor, and vectors of fewer than `least_bytes` not worth it. A thread has registers for `sums`
    beside `loads` vectors of 4 registers, `most_loads` where that is asked for. Teams have
    `least_lanes` to `most_lanes`, blocks `small_block` threads or one team; along columns `threads`
    and up to `across` beside one another, so that 8 of them read a row of memory of 128 bytes, and
    `terms_at_once`, which are 8 bytes and more of the rows.

    Tiles that threads copy compute `tiled_columns` and more of f32, from `tiled_rows_by_terms` rows
    on where the factor lies by terms, from `tiled_rows_by_columns` where it lies by columns: of 3,
    5, 8, 12 and 16 rows they took 0.9, 0.93, 0.75, 0.71 and 0.71 of the time by columns (16384 of
    8192 terms, an H200), by terms 1.84, 1.76, 1.26, 1.19 and 0.74; of 1024 columns, which are few
    tiles, up to 1.9.
    """

    rows_per_byte: int = 4
    tiled_columns: int = 4096
    tiled_rows_by_terms: int = 13
    tiled_rows_by_columns: int = 3
    rows_per_column: int = 4
    open_rows: tuple[int, ...] = (4, 8)
    least_columns: int = 64
    least_terms: int = 64
    least_bytes: int = 8
    sums: int = 64
    loads: int = 8
    most_loads: int = 16
    least_lanes: int = 8
    most_lanes: int = 256
    small_block: int = 64
    threads: int = 256
    across: int = 16
    terms_at_once: int = 4


@dataclass(frozen=True)
class FinishedProductsTable:
    """Products of `least_terms` and more that a kernel finishes, where a model says that it takes
    no longer than the library.

    The library is taken to multiply at `library_share` of the tensor cores' rate, however tiles
    fill the chip. In a cycle of each multiprocessor it reads `addend_bytes` of what its call adds
    (1.3 to 1.8 TB/s of an H200 at 1.5 GHz), and a pass after it moves `pass_bytes` (1.9 to 2.5).
    These are fitted to 39 times of products of bf16. Of 21 others, which were drawn, the model
    takes the slower one for four, which cost 1 to 6 %.
    """

    library_share: float = 0.94
    addend_bytes: float = 7.5
    pass_bytes: float = 12
    least_terms: int = 256


@dataclass(frozen=True)
class PartsTable:
    """Tiles of warpgroups whose sums are made in parts by the blocks of a cluster.

    They are worth it where tiles leave much of the chip idle. A cluster lies in one of the chip's
    `groups` of multiprocessors (H100's white paper), and none is to wait for another to end: 64
    pairs do not, but of 32 clusters of four some did (512x1024x8192 in bf16: 31.6 us, 25.0 in
    pairs), as groups may have up to `uneven` multiprocessors less than on average. A part
    has `least_steps`, more than shared memory has at once. One part in `least_filled` of the tiles
    is results at least: of 16 rows in tiles of 64, whose rows beyond the end take no time, no
    number of parts gained (docs/results.md, "In parts").

    In cycles of a multiprocessor: parts are written to shared memory at `write_bytes` a cycle (its
    32 banks), and what other blocks have is read at `read_bytes`, by the number of parts: two
    thirds of what was published of an H100, 3.3 TB/s of all in clusters of 2 and 2.7 of 4, which
    at 1.7 GHz are 14.6 and 11.8; that of 8 goes on so. Meeting twice takes `meeting_cycles`. By
    these two parts are to save 64x4096x4096 of that table 3.8 us, where 4.3 were measured. No
    convolution of docs/results.md was slower by the choice of parts, which are to save one part in
    `least_gain` of the cycles.
    """

    groups: int = 8
    uneven: int = 2
    least_steps: int = 8
    least_filled: int = 2
    write_bytes: int = 128
    read_bytes: tuple[tuple[int, int], ...] = ((2, 10), (4, 8), (8, 6))
    meeting_cycles: int = 1000
    least_gain: int = 10


@dataclass(frozen=True)
class WinogradTable:
    """Convolutions in f32 by transformed tiles, on an H200.

    Products and convolutions of many channels do `flops` a second (docs/results.md,
    "Convolutions": 40e12 to 44e12; cuBLASLt's products 51e12), transforms move `bandwidth_share` of
    the memory's bytes (a copy: 0.88), and each of the three kernels that are more than before takes
    `launch_seconds`. They are to take `most_share` of the convolution's time at most.
    """

    flops: float = 44e12
    bandwidth_share: float = 0.85
    launch_seconds: float = 3e-6
    most_share: float = 0.9


@dataclass(frozen=True)
class ConvolutionLibraryTable:
    """Convolutions that cuDNN computes in less time than hirc's kernel.

    Those are transposed ones in f32 of which at most the part `most_inside` of the products lies
    within the image. With 0 there are none, and no program calls cuDNN but on request: of 23
    convolutions on an H200 it took longer for all, also for one with 31 % within, by its
    deterministic algorithms (docs/results.md, "Convolutions").
    """

    most_inside: float = 0.0

    @property
    def is_ever_faster(self) -> bool:
        """Whether any convolution can be known to take less time by the library."""
        return self.most_inside > 0


@dataclass(frozen=True)
class Tables:
    """All of them."""

    pointwise: PointwiseTable = PointwiseTable()
    windows: WindowTable = WindowTable()
    stencils: StencilTable = StencilTable()
    squares: SquareTable = SquareTable()
    skewed: SkewedTable = SkewedTable()
    rows: RowTable = RowTable()
    columns: ColumnTable = ColumnTable()
    scan: ScanTable = ScanTable()
    few_rows: FewRowsTable = FewRowsTable()
    finished_products: FinishedProductsTable = FinishedProductsTable()
    parts: PartsTable = PartsTable()
    winograd: WinogradTable = WinogradTable()
    convolution_library: ConvolutionLibraryTable = ConvolutionLibraryTable()
