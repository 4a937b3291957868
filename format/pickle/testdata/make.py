"""Writes the pickles that the tests read: plain.N by protocol N, and what a reader of plain data refuses."""
import collections, os, pickle

shared = ["a", {"line": 7}]
plain = {
    "none": None, "yes": True, "no": False, "ints": [0, 255, 256, 65535, 65536, -1, 2**31 - 1, -2**31, 2**40, -2**40, 2**63 - 1, -2**63, 2**70],
    "floats": [0.5, -1e300], "text": "pool 'ä' \"q\" \\ \n end", "long": "x" * 300, "tuple": (), "tuples": [(1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)],
    "shared": [shared, shared], "empty": [{}, []], "many": list(range(2500)), "big": {str(i): i for i in range(1500)},
}
for protocol in range(6):
    with open(f"plain.{protocol}", "wb") as f:
        pickle.dump(plain, f, protocol)


class Run:
    def __reduce__(self):
        return os.system, ("echo run",)


loop = []
loop.append(loop)
for name, value in {"run": {"a": Run()}, "class": [collections.OrderedDict], "object": [collections.Counter("ab")], "set": {1, 2}, "bytearray": bytearray(b"ab"), "loop": loop}.items():
    for protocol in (0, 2, 5):
        with open(f"{name}.{protocol}", "wb") as f:
            pickle.dump(value, f, protocol)
