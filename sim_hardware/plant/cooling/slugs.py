"""Plug flow: a pipe is the slugs of coolant in it, oldest first. What goes in comes out later, unmixed; no heat is made or lost."""

from __future__ import annotations

HEAT = 4180.0  # J/(L K), water at 20 to 40 C

Slug = tuple[float, float]  # litres, C
Pipe = tuple[Slug, ...]

_FINEST = 256  # parts of a pipe below which a new slug joins the one before it, so that a trickle does not fill the memory


def fill_pipe(litres: float, celsius: float) -> Pipe:
    """A pipe full of coolant of one temperature."""
    return ((litres, celsius),)


def draw_off(pipe: Pipe, litres: float) -> tuple[Pipe, float]:
    """What is left in the pipe, and the mean temperature of what comes out. There must be more in it than that."""
    left, heat = litres, 0.0
    for place, (size, celsius) in enumerate(pipe):
        if size > left:
            return ((size - left, celsius), *pipe[place + 1 :]), (heat + left * celsius) / litres if litres > 0.0 else celsius
        left -= size
        heat += size * celsius
    raise ValueError(f"{litres} L drawn from a pipe that holds {litres - left} L")


def push_in(pipe: Pipe, litres: float, celsius: float, whole: float) -> Pipe:
    """The pipe, which holds `whole` litres, with a slug more at its end."""
    size, last = pipe[-1]
    if litres <= 0.0:
        return pipe
    if min(size, litres) < whole / _FINEST and size + litres < whole / _FINEST * 2.0:
        return (*pipe[:-1], (size + litres, (size * last + litres * celsius) / (size + litres)))
    return (*pipe, (litres, celsius))


def add_heat(pipe: Pipe) -> float:
    """The heat in the pipe over 0 C, J."""
    return HEAT * sum(litres * celsius for litres, celsius in pipe)
