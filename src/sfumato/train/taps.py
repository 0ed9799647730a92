"""Taps: what layers saw, and what came back to them, noted during one forward and one backward pass.

Parameters ask for no gradients while a batch passes: those of single units are read off the notes (book-keeping, Bu et
al. 2023, arXiv 2210.00038), so that there is no second backward pass and no gradient that is thrown away.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, final

import torch
from torch import Tensor, nn
from torch.nn.utils.parametrize import is_parametrized
from torch.utils._pytree import tree_leaves, tree_unflatten

from sfumato.errors import BadArgument
from sfumato.train.layers import (  # noqa: F401  # they register themselves
    activation,
    attention,
    convolution,
    embedding,
    linear,
    norms,
    recurrent,
)
from sfumato.train.layers.any_layer import Arguments, any_layer, tapped_outputs
from sfumato.train.layers.gradients import (
    EARLY,
    FORWARDS,
    READINGS,
    SHORT,
    SIGHTS,
    Call,
    Part,
    Place,
    widened,
    written_down,
)
from sfumato.train.layers.rounding import HALF
from sfumato.train.layers.spread import copies, spread
from sfumato.train.unit_gradients import UnitGradients


@final
@dataclass(frozen=True)
class Layout:
    """Where rows are in what the layers of a model see, as was tried on made-up rows; by names of layers.

    Left empty, rows come first everywhere, and parameters of no layer are read by running their module again.
    """

    dimensions: dict[str, int] = field(default_factory=dict)
    """Layers whose rows are not in the first dimension."""
    without_rows: set[str] = field(default_factory=set)
    """Layers that are given the same for all rows, such as positions."""
    forms: dict[str, str] = field(default_factory=dict)
    """Parameters that each row may have a copy of, and how it stands before their dimensions."""
    whole: set[str] = field(default_factory=set)
    """Parameters whose gradients only the whole model tells."""
    rows_of: dict[str, tuple[bool, ...]] = field(default_factory=dict)
    """Which arguments of a module have rows."""


class _Tap(torch.autograd.Function):  # type: ignore[misc]
    """Hands outputs on as they are, and notes the gradients that come back."""

    @staticmethod
    def forward(ctx: Any, alive: Tensor, note: Callable[..., None], fresh: object, many: int, *tensors: Tensor) -> Any:
        ctx.note, ctx.seen = note, len(tensors) - many
        ctx.save_for_backward(*tensors[many:])
        if fresh:
            ctx.mark_dirty(*tensors[:many])
        return tensors[:many]

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        ctx.note(ctx.saved_tensors, gradients)  # asked for once: layers that were checkpointed run again for it
        return (None, None, None, None, *gradients, *[None] * ctx.seen)


@final
class Notes:
    """Notes of the layers of a model, from which the gradients of all units are read."""

    def __init__(self, model: nn.Module, layout: Layout | None = None) -> None:
        model = as_written(model)
        self.parameters = {each: name for name, each in model.named_parameters() if each.requires_grad}
        self._model, self._layout = model, Layout() if layout is None else layout
        self._whole = frozenset(each for each, name in self.parameters.items() if name in self._layout.whole)
        self._calls: list[Callable[[int], Call]] = []
        self._parts: dict[str, tuple[list[nn.Parameter], Part]] = {}
        self._rows = 0
        self._units: int | None = None
        self._alive = torch.zeros((), requires_grad=True)
        self._open = ExitStack()
        self.listened = listened(model)
        self.watch: Callable[[str, Any, Any], None] | None = None

    def begin(self, units: int | None = None) -> None:
        """Before a batch passes: parameters ask for no gradients, and layers are listened to.

        With how many units the rows belong to, layers with few parameters are read at once when gradients come back.
        What is compiled runs as it was written, and attention in its plain form, since both would run past the taps.
        """
        self.end()
        self._calls, self._units = [], units
        for each in self.parameters:
            each.requires_grad_(False)
            self._open.callback(each.requires_grad_, True)
        self._open.callback(torch.backends.mha.set_fastpath_enabled, torch.backends.mha.get_fastpath_enabled())
        torch.backends.mha.set_fastpath_enabled(False)
        if "torch._dynamo" in sys.modules:
            self._open.enter_context(torch.compiler.set_stance("force_eager"))
        self._hook(self._model.register_forward_pre_hook(self._count, with_kwargs=True, prepend=True))
        for name, layer, how in self.listened:
            how(self, name, layer)
        if self._whole:
            self._listen_again(self._model, "", [self.parameters[each] for each in self._whole])

    def end(self) -> None:
        """After it: everything is as it was."""
        self._open.close()

    def gradients(self, units: int) -> UnitGradients:
        """What the notes say of every unit; the notes are used up."""
        calls = [made(units) for made in self._calls]
        self._calls = []
        for call in calls:
            if any(len(each) % units for each in (*call.seen, *call.backs)):
                must = "given equally many rows for each unit, in its first dimension"
                raise BadArgument(type(call.layer).__name__, must, tuple((*call.backs, *call.seen)[0].shape))
        return UnitGradients(self.parameters, calls, units)

    def listen(self, name: str, layer: nn.Module) -> None:
        """Listens to a layer that has a reading."""
        if name in self._layout.without_rows:
            self._hook(layer.register_forward_pre_hook(self._with_rows, with_kwargs=True))
        self._hook(layer.register_forward_hook(partial(self._seen, name), with_kwargs=True))

    def run(self, name: str, layer: nn.Module) -> None:
        """Lets a layer run in a form whose products are tapped."""
        layer.__dict__["forward"] = partial(self._run, layer, layer.forward)
        self._open.callback(layer.__dict__.pop, "forward")

    def hold(self, name: str, layer: nn.Module) -> None:
        """Gives each row its own copy of parameters that belong to no layer; or runs the module once more."""
        again = []
        for own, each in layer.named_parameters(recurse=False):
            if each in self.parameters and each not in self._whole:
                form = self._layout.forms.get(f"{name}.{own}")
                if form is None:
                    again.append(own)
                else:
                    self._hook(layer.register_forward_pre_hook(partial(self._give, own, form), with_kwargs=True))
                    self._hook(layer.register_forward_hook(partial(self._take_back, own), always_call=True))
        if again:
            self._listen_again(layer, name, again)

    def again(self, name: str, layer: nn.Module) -> None:
        """Runs a layer once more for the gradients of all its parameters."""
        self._listen_again(layer, name, [own for own, _ in layer.named_parameters()])

    def _listen_again(self, layer: nn.Module, name: str, owned: list[str]) -> None:
        self._hook(layer.register_forward_hook(partial(self._seen_again, name, tuple(owned)), with_kwargs=True))

    def _hook(self, handle: Any) -> None:
        self._open.callback(handle.remove)

    def _count(self, layer: nn.Module, given: tuple[Any, ...], named: dict[str, Any]) -> None:
        self._rows = first_rows(given, named)

    def _with_rows(self, layer: nn.Module, given: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """The same for all rows, once for each."""
        if not torch.is_grad_enabled():
            return None
        first, *others = given
        one = first if first.dim() > 1 and len(first) == 1 else first[None]
        return (one.expand(self._rows, *one.shape[1:]), *others), named

    def _seen(self, name: str, layer: nn.Module, given: tuple[Any, ...], named: dict[str, Any], output: Any) -> Any:
        if not torch.is_grad_enabled():
            return None
        kind = type(layer)
        seen = SIGHTS[kind](layer, *given, **named) if kind in SIGHTS else (*given, *named.values())
        if not (isinstance(output, Tensor) and all(isinstance(each, Tensor) for each in seen)):
            raise BadArgument(f"a layer nn.{kind.__name__}", "given tensors", "something else")
        if self.watch is not None:
            self.watch(name, seen, output)
        rows = self._layout.dimensions.get(name, 0)
        return self._tap(layer, output, self._part_of(name, layer), *seen, rows=rows)

    def _part_of(self, name: str, layer: nn.Module) -> Part:
        """What is read of a layer; worked out again only where its parameters are others than before."""
        own = [each for each in layer._parameters.values() if each is not None]
        held = self._parts.get(name)
        if held is None or any(one is not other for one, other in zip(held[0], own, strict=True)):
            places = {name: Place(each) for name, each in layer.named_parameters(recurse=False)}
            held = own, self._checked(layer, Part(READINGS[type(layer)], places))
            self._parts[name] = held
        return held[1]

    def _checked(self, layer: nn.Module, part: Part) -> Part:
        if not all(isinstance(place.parameter, nn.Parameter) for place in part.places.values()):
            raise BadArgument(f"nn.{type(layer).__name__}", "one with its own weights, not normed by a hook", "another")
        return replace(part, left_out=self._whole)

    def _run(self, layer: nn.Module, plain: Callable[..., Any], *given: Any, **named: Any) -> Any:
        if not torch.is_grad_enabled():
            return plain(*given, **named)

        def tap(output: Tensor, part: Part, *seen: Tensor, **settings: Any) -> Tensor:
            return self._tap(layer, output, self._checked(layer, part), *seen, **settings)

        return FORWARDS[type(layer)](layer, tap, *given, **named)

    def _tap(
        self,
        layer: nn.Module,
        output: Tensor,
        part: Part,
        *seen: Tensor,
        late: Sequence[Tensor] = (),
        fresh: bool = True,
        rows: int = 0,
    ) -> Tensor:
        def note(saved: tuple[Tensor, ...], backs: tuple[Tensor, ...]) -> None:
            made = partial(_call, layer, part, (*saved, *late), backs, rows)
            early = part.reading in EARLY and self._units and not part.left_out
            self._calls.append(_read_at_once(made(self._units)) if early and self._units else made)

        noted = tuple(_as_used(each, output) for each in seen)
        if fresh and output.requires_grad and output._base is not None and not _packed():
            output.register_hook(lambda back: note(noted, (back,)))  # a view that is marked changed would be copied
            return output
        made: tuple[Tensor, ...] = _Tap.apply(self._alive, note, fresh, 1, output, *noted)
        return made[0]

    def _give(self, own: str, form: str, layer: nn.Module, given: tuple[Any, ...], named: dict[str, Any]) -> None:
        if not torch.is_grad_enabled():
            return
        parameter: Any = getattr(layer, own)
        made = copies(parameter, first_rows(given, named), form)
        if made is not None:
            part = self._checked(layer, Part(spread, {own: Place(parameter)}))
            layer.__dict__[own] = self._tap(layer, made, part, fresh=False)

    def _take_back(self, own: str, layer: nn.Module, given: Any, output: Any) -> None:
        layer.__dict__.pop(own, None)

    def _seen_again(
        self, name: str, owned: tuple[str, ...], layer: nn.Module, given: Any, named: Any, output: Any
    ) -> Any:
        if not torch.is_grad_enabled():
            return None
        held = dict(layer.named_parameters())
        places = {own: Place(held[own]) for own in owned}
        known = self._layout.rows_of.get(name)
        arguments = Arguments.of(given, named, lambda place, each: known[place] if known else each.dim() > 0)
        if self.watch is not None:
            self.watch(name, arguments.leaves, None)
        leaves, tapped, form = tapped_outputs(output)
        left_out = frozenset() if name == "" and self._whole & {held[own] for own in owned} else self._whole
        part = Part(partial(any_layer, arguments=arguments), places, left_out)

        def note(saved: tuple[Tensor, ...], backs: tuple[Tensor, ...]) -> None:
            self._calls.append(partial(_call, layer, part, saved, backs, 0))

        seen = [each.detach() for each in arguments.seen()]
        outputs = [leaves[place].clone() for place in tapped]  # a module may keep its own output for its own gradients
        made = _Tap.apply(self._alive, note, True, len(outputs), *outputs, *seen)
        for place, each in zip(tapped, made, strict=True):
            leaves[place] = each
        return tree_unflatten(leaves, form)


def as_written(model: nn.Module) -> nn.Module:
    """The model itself, where it is given compiled."""
    inner = getattr(model, "_orig_mod", model)
    return inner if isinstance(inner, nn.Module) else model


def listened(model: nn.Module) -> list[tuple[str, nn.Module, Callable[[Notes, str, nn.Module], None]]]:
    """The layers that are listened to, and how: by a reading, in a form of their own, by copies, by running again."""
    made: dict[nn.Module, tuple[str, Callable[[Notes, str, nn.Module], None]]] = {}

    def look(name: str, layer: nn.Module) -> None:
        own = dict(layer.named_parameters(recurse=False))
        if layer in made or not any(each.requires_grad for each in layer.parameters()):
            return
        if type(layer) in FORWARDS:
            made[layer] = name, Notes.run
        elif type(layer) in READINGS and set(own) <= {"weight", "bias"}:
            made[layer] = name, Notes.listen
        elif is_parametrized(layer):
            made[layer] = name, Notes.again
        else:
            if any(each.requires_grad for each in own.values()):
                made[layer] = name, Notes.hold
            for inner, part in layer.named_children():
                look(f"{name}.{inner}" if name else inner, part)

    look("", model)
    return [(name, layer, how) for layer, (name, how) in made.items()]


def _call(
    layer: nn.Module, part: Part, seen: tuple[Tensor, ...], backs: tuple[Tensor, ...], rows: int, units: int
) -> Call:
    """A call with its rows first, at single precision at least where it is not multiplied on an accelerator."""
    short = part.reading in SHORT
    first = [tuple(_wide(each.movedim(rows, 0), short=short) for each in parts) for parts in (seen, backs)]
    return Call(layer, part, first[0], first[1], units)


def _read_at_once(call: Call) -> Callable[[int], Call]:
    """A call of which all gradients are written down."""
    with torch.no_grad(), torch.autocast(call.back.device.type, enabled=False):
        made = call.part.reading(call).each()
    part = replace(call.part, reading=written_down)
    read = replace(call, part=part, seen=tuple(made[name] for name in part.places), backs=())
    return lambda units: read


def _wide(each: Tensor, *, short: bool) -> Tensor:
    return each if not each.is_floating_point() or (short and each.is_cuda) else widened(each)


def _as_used(seen: Tensor, output: Tensor) -> Tensor:
    """What a layer saw, at the precision that it worked with where that was torch's choice (`torch.autocast`)."""
    short = output.dtype in HALF and seen.dtype == torch.float32
    return seen.detach().to(output.dtype) if short else seen.detach()


def _packed() -> bool:
    """Tells whether tensors for the way back are packed away for now, as they are inside of a checkpoint."""
    told: Any = getattr(torch._C._autograd, "_top_saved_tensors_default_hooks", None)
    return told is None or told(True) is not None


def first_rows(given: Any, named: Any) -> int:
    """How many rows the first tensor among some arguments has."""
    return next((len(each) for each in tree_leaves((given, named)) if isinstance(each, Tensor) and each.dim()), 0)
