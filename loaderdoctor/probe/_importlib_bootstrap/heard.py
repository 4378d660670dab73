"""A method of torch.Tensor that is heard: to all who hold, compare, hash, pickle or dispatch on it, the method itself.

torch's C++ looks the method up and hands it to `__torch_function__`, and libraries find it in tables that they built before it
was heard: so it equals and hashes as the original.  It is no function, so that torch.compile resolves it as the original too.
"""

from __future__ import annotations

from types import MethodType
from typing import TYPE_CHECKING, Any

from ..device.hearing import hearing
from ..standard import standard

if TYPE_CHECKING:
    from collections.abc import Callable


class Heard:
    """`original`, a method of `owner`, whose calls go through `hook`, which takes the instance first."""

    __slots__ = ("_hook", "_original", "_owner")

    def __init__(self, owner: type, original: Any, hook: Callable[..., Any]) -> None:
        self._owner = owner
        self._original = original
        self._hook = hook
        hook.__name__, hook.__doc__ = original.__name__, original.__doc__
        hook.__qualname__ = original.__qualname__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._hook(*args, **kwargs)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None or hearing.clock is None:
            return self._original.__get__(instance, owner)
        return MethodType(self._hook, instance)

    def __eq__(self, other: object) -> bool:
        return other is self or other is self._original

    def __hash__(self) -> int:
        return hash(self._original)

    def __repr__(self) -> str:
        return repr(self._original)

    def __reduce__(self) -> tuple[Any, ...]:
        return getattr, (self._owner, self._original.__name__)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._original, name)

    @property
    def __doc__(self) -> str | None:  # type: ignore[override]  # the original's, of each instance its own
        return str(self._original.__doc__)

    @property  # type: ignore[misc]  # the same
    def __class__(self) -> type:
        return type(self._original)

    @property
    def __signature__(self) -> Any:
        """As the original, which has none: refused with the same error."""
        inspect: Any = standard("inspect")
        return inspect.signature(self._original)


def hear(owner: type, name: str, hook_of: Callable[[Any], Callable[..., Any]]) -> None:
    """Have the calls of a method go through `hook_of(original)`; once."""
    original = getattr(owner, name)
    if type(vars(owner).get(name)) is Heard:
        return
    setattr(owner, name, Heard(owner, original, hook_of(original)))
