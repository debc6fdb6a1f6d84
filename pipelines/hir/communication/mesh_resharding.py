"""Writing the communications that change how a buffer is spread over a mesh of devices."""

from __future__ import annotations

from ....dialects.hir.layout import DYNAMIC
from ....dialects.hir.mesh import Mesh, Spreads
from ....dialects.mlir import ir
from ....dialects.records import dataclass
from .device_parts import Sizes, divided, new_packed, packed, sizes_of, times
from .mesh_plan import State, Step, find_plan, state_of
from .resharding import into, run_and_wait, within_teams


@dataclass(frozen=True)
class MeshResharding:
    """A buffer that is to be spread over a mesh otherwise than it is."""

    x: ir.Value
    mesh: Mesh
    before: Spreads
    after: Spreads

    @property
    def is_nothing(self) -> bool:
        """Whether every device has already what it is to have."""
        return self.before == self.after

    def new_sizes(self) -> Sizes:
        """The sizes of the buffer that each device has then."""
        sizes = sizes_of(self.x)
        for dim, size in enumerate(sizes):
            parts, wanted = (self.mesh.parts(spreads, dim) for spreads in (self.before, self.after))
            if parts != wanted:
                sizes[dim] = divided(times(size, parts), wanted)
        return sizes

    def write(self, target: ir.Value) -> None:
        """Writes, at the insertion point, what brings the buffer into `target`."""
        shape = ir.MemRefType(self.x.type).shape
        whole = tuple(
            None if size == DYNAMIC else size * self.mesh.parts(self.before, dim)
            for dim, size in enumerate(shape)
        )
        steps = find_plan(self.mesh.shape, self.before, self.after, whole).steps
        current, state = self.x, state_of(self.before, len(shape))
        for number, step in enumerate(steps):
            last = number + 1 == len(steps)
            current = self._step(current, state, step, target if last else None)
            state = step.state

    def _step(self, x: ir.Value, state: State, step: Step, target: ir.Value | None) -> ir.Value:
        if target is None:
            target = new_packed(self._sizes(x, step), ir.MemRefType(x.type).element_type)
        if step.axis is not None:
            within_teams(x, step.before, step.after, self.mesh.teams(step.axis), target)
            return target
        to = self._receivers(state, step.state)
        source, team = packed(x), list(self.mesh.devices)
        into(target, lambda out: run_and_wait("permute", source, out, [team], to=to))
        return target

    def _sizes(self, x: ir.Value, step: Step) -> Sizes:
        sizes = sizes_of(x)
        if step.axis is not None:
            number = self.mesh.shape[step.axis]
            if step.before.axis is not None:
                sizes[step.before.axis] = times(sizes[step.before.axis], number)
            if step.after.axis is not None:
                sizes[step.after.axis] = divided(sizes[step.after.axis], number)
        return sizes

    def _receivers(self, before: State, after: State) -> list[int]:
        """For each device the one that is to have what it has."""
        wants: dict[tuple[int, ...], list[int]] = {}
        for place, device in zip(self.mesh.places, self.mesh.devices, strict=True):
            wants.setdefault(self._held(after, place), []).append(device)
        # Of several that have the same part, each serves another of those that want it.
        return [wants[self._held(before, place)].pop(0) for place in self.mesh.places]

    def _held(self, state: State, place: tuple[int, ...]) -> tuple[int, ...]:
        """The part that a device has: its number along every dim, and its place in sums."""
        numbers: list[int] = []
        for axes in state.dims:
            number = 0
            for axis in axes:
                number = number * self.mesh.shape[axis] + place[axis]
            numbers.append(number)
        return (*numbers, *(at for axis, at in enumerate(place) if axis in state.partial))
