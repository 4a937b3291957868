"""The books of LLM memory: what fits on which hardware, where every byte goes, how fast it runs, and what to change.

>>> import memwall
>>> answer = memwall.fit("qwen3-32b", on="rtx-4090", context=32768)
>>> answer.verdict, answer.devices[0].needed_bytes

Fields of requests and answers are those of `memwall schema request` and `memwall schema answer`; `on` is short for `hardware`.
The program comes with the package; MEMWALL_BINARY names another.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sysconfig
from typing import TYPE_CHECKING, Any, Dict, Optional

from . import types

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["Answer", "MemwallError", "ask", "binary", "diagnose", "fit", "pick", "plan", "sim", "train"]


class MemwallError(Exception):
    """A question that has no answer: code, field, value and hint as the contract names them."""

    def __init__(self, error: Dict[str, Any]):
        message, hint = error.get("message", "no answer"), error.get("hint")
        super().__init__(f"{message} ({hint})" if hint else message)
        self.code, self.field, self.value, self.hint = error.get("code"), error.get("field"), error.get("value"), hint


class Answer(types.Answer):
    """An answer: its members are attributes, to_dict() is its JSON, and a notebook shows its picture."""

    _request: Dict[str, Any] = {}

    def svg(self) -> Optional[str]:
        """The picture of the answer; None where there is none."""
        try:
            return _read(self._request, "--svg").get("svg")
        except MemwallError as e:
            if e.code == "unsupported":
                return None
            raise

    def _repr_svg_(self) -> Optional[str]:
        return self.svg()


def binary() -> str:
    """The path of the memwall program."""
    name = "memwall.exe" if os.name == "nt" else "memwall"
    here = os.path.dirname(os.path.abspath(__file__))
    places = [os.environ.get("MEMWALL_BINARY"), os.path.join(sysconfig.get_path("scripts"), name), os.path.join(os.path.dirname(here), "bin", name)]
    for place in places:
        if place and os.path.isfile(place):
            return place
    found = shutil.which("memwall")
    if found is None:
        raise FileNotFoundError("the memwall program is not installed: pip install memwall, or set MEMWALL_BINARY")
    return found


def _read(request: Dict[str, Any], *flags: str) -> Dict[str, Any]:
    run = subprocess.run([binary(), "batch", *flags], input=json.dumps(request) + "\n", capture_output=True, encoding="utf-8", check=False)
    line = run.stdout.partition("\n")[0]
    if not line:
        raise RuntimeError(run.stderr.strip() or f"memwall ended with exit code {run.returncode}")
    answer = json.loads(line)
    if "error" in answer:
        raise MemwallError(answer["error"])
    return answer


def ask(request: Dict[str, Any]) -> Answer:
    """Answers a request of the contract, such as {"ask": "fit", "model": "qwen3-32b", "hardware": "rtx-4090"}."""
    answer: Answer = Answer.read(_read(request))
    answer._request = dict(request)
    return answer


def _asked(name: str, fields: Any, **named: str) -> Answer:
    request = {"ask": name, **named, **fields}
    if "on" in request:
        request["hardware"] = request.pop("on")
    return ask(request)


def fit(model: str, **fields: Unpack[types.Fields]) -> Answer:
    """Does a model fit, where does every byte go, how fast is it?"""
    return _asked("fit", fields, model=model)


def plan(model: str, **fields: Unpack[types.Fields]) -> Answer:
    """What to change so that a model fits, or which fleet serves a load."""
    return _asked("plan", fields, model=model)


def pick(**fields: Unpack[types.Fields]) -> Answer:
    """Which models a machine runs, the best first."""
    return _asked("pick", fields)


def train(model: str, **fields: Unpack[types.Fields]) -> Answer:
    """What a training run takes."""
    return _asked("train", fields, model=model)


def sim(model: str, **fields: Unpack[types.Fields]) -> Answer:
    """Plays a load request by request."""
    return _asked("sim", fields, model=model)


def diagnose(text: str, **fields: Unpack[types.Fields]) -> Answer:
    """Why memory ran out, from an error or a log."""
    return _asked("diagnose", fields, text=text)
