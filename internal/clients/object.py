"""The objects of requests and answers, written from the schema that `memwall schema` prints."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar, Dict, List, Literal, Optional, Tuple, TypedDict, Union


class Object:
    """An object of an answer: its members are attributes, None where the answer has none of that name.

    object["name"] and to_dict() are the JSON that it was read from. A member that is a word of Python has a line under its end: pass_.
    """

    _objects: ClassVar[Dict[str, Tuple[str, bool]]] = {}

    @classmethod
    def read(cls, json: Dict[str, Any]) -> Any:
        """An object of this class from its JSON; members that the class does not know stay in to_dict()."""
        it = object.__new__(cls)
        it.__dict__["_json"] = json
        for member in dataclasses.fields(cls):  # type: ignore[arg-type]
            name = member.name.rstrip("_")
            it.__dict__[member.name] = _value(cls._objects.get(name), json.get(name))
        return it

    def to_dict(self) -> Dict[str, Any]:
        """The JSON of the object."""
        return self.__dict__["_json"]

    def __getitem__(self, name: str) -> Any:
        return self.to_dict()[name]

    def __contains__(self, name: str) -> bool:
        return name in self.to_dict()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={_brief(value)}' for name, value in self.to_dict().items())})"


def _value(of: Optional[Tuple[str, bool]], json: Any) -> Any:
    if of is None or json is None:
        return json
    kind = globals()[of[0]]
    if isinstance(json, list):
        return [kind.read(x) for x in json]
    if of[1]:
        return {name: kind.read(x) for name, x in json.items()}
    return kind.read(json)


def _brief(json: Any) -> str:
    if isinstance(json, list):
        return f"[{len(json)}]"
    if isinstance(json, dict):
        return "{…}"
    return repr(json)
