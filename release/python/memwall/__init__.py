"""The books of LLM memory: what fits on which hardware, where every byte goes, how fast it runs, and what to change.

>>> import memwall
>>> answer = memwall.fit("qwen3-32b", on="rtx-4090", context=32768)
>>> answer.verdict, answer.devices[0].needed_bytes

Fields of requests and answers are those of `memwall schema request` and `memwall schema answer`; `on` is short for `hardware`.
The program comes with the package; MEMWALL_BINARY names another.
"""

import json
import os
import shutil
import subprocess
import sysconfig

__all__ = ["Answer", "MemwallError", "ask", "binary", "diagnose", "fit", "pick", "plan", "sim", "train"]


class MemwallError(Exception):
    """A question that has no answer: code, field, value and hint as the contract names them."""

    def __init__(self, error):
        message, hint = error.get("message", "no answer"), error.get("hint")
        super().__init__(f"{message} ({hint})" if hint else message)
        self.code, self.field, self.value, self.hint = error.get("code"), error.get("field"), error.get("value"), hint


class Answer(dict):
    """An object of an answer: a dict whose members are attributes too."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


def binary():
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


def ask(request):
    """Answers a request of the contract, such as {"ask": "fit", "model": "qwen3-32b", "hardware": "rtx-4090"}."""
    run = subprocess.run([binary(), "batch"], input=json.dumps(request) + "\n", capture_output=True, encoding="utf-8", check=False)
    line = run.stdout.partition("\n")[0]
    if not line:
        raise RuntimeError(run.stderr.strip() or f"memwall ended with exit code {run.returncode}")
    answer = json.loads(line, object_hook=Answer)
    if "error" in answer:
        raise MemwallError(answer["error"])
    return answer


def _asked(name, fields, **named):
    if "on" in fields:
        fields["hardware"] = fields.pop("on")
    return ask({"ask": name, **named, **fields})


def fit(model, **fields):
    """Does a model fit, where does every byte go, how fast is it?"""
    return _asked("fit", fields, model=model)


def plan(model, **fields):
    """What to change so that a model fits, or which fleet serves a load."""
    return _asked("plan", fields, model=model)


def pick(**fields):
    """Which models a machine runs, the best first."""
    return _asked("pick", fields)


def train(model, **fields):
    """What a training run takes."""
    return _asked("train", fields, model=model)


def sim(model, **fields):
    """Plays a load request by request."""
    return _asked("sim", fields, model=model)


def diagnose(text, **fields):
    """Why memory ran out, from an error or a log."""
    return _asked("diagnose", fields, text=text)
