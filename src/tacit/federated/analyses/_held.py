"""One agency's side of a regression over agencies that hold different variables."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from tacit.core.errors import DataError
from tacit.federated import messages as m
from tacit.federated.alignment import TAG_BYTES, Aligner
from tacit.federated.analyses._vertical import Holder, Moments, as_limbs, places, put
from tacit.federated.joint_leverage import RowFactor, doubled, encoded_scores, row_product, summed
from tacit.federated.matrix_product import FACTOR, PRODUCT, Dealt, Factor, ring_product
from tacit.federated.pairs import EXTRA_BYTES, Pairs
from tacit.federated.policy import Policy
from tacit.federated.stopped import RefusedError

_ELEMENT = PRODUCT.n_bytes(1)
_DUE = (
    ("ask-public", "ask-parts", "ask-tags", "ask-aligned",
     "ask-hidden products", "ask-joined products"),
    ("ask-hidden leverages", "ask-joined leverages",
     "ask-hidden squares", "ask-joined squares"),
)  # fmt: skip
"""What comes before the first sum and before the second, in this order."""


@dataclass
class Held:
    """What an agency has for the regression, from its records to its shares of products."""

    holders: dict[str, tuple[str, ...]]
    """The variables of each agency."""
    wanted: tuple[str, ...]
    """All variables, the response first."""
    values: np.ndarray = field(repr=False)
    """Own variables of the complete records."""
    units: np.ndarray = field(repr=False)
    kept: np.ndarray = field(repr=False)
    """Which records of the agency are complete."""
    policy: Policy
    used: np.ndarray | None = field(default=None, repr=False)
    """Which records of the agency are common to all."""
    holder: Holder | None = field(default=None, repr=False)
    share: np.ndarray = field(default_factory=lambda: PRODUCT.zeros(0), repr=False)
    """Own share of what the next sum adds up."""
    _aligner: Aligner | None = field(default=None, repr=False)
    _about: bytes = b""
    _factors: dict[str, Factor] = field(default_factory=dict, repr=False)
    _done: list[int] = field(default_factory=lambda: [0, 0], repr=False)

    def require_ready(self, step: int) -> None:
        """Refuse to contribute before the exchanges of a sum are over."""
        if step >= len(_DUE) or self._done[step] != len(_DUE[step]):
            raise RefusedError("the exchanges between agencies come before the sum")

    def answer(self, pairs: Pairs, message: m.Exchange, moments: Moments | None) -> m.Message:
        """Answer the exchange that is due, and no other."""
        step, what = message.place
        if step >= len(_DUE) or _DUE[step][self._done[step] : self._done[step] + 1] != (what,):
            raise RefusedError(f"{what!r} is not the exchange that is due")
        reply = self._answered(pairs, message, moments)
        self._done[step] += 1
        return reply

    def _answered(self, pairs: Pairs, message: m.Exchange, moments: Moments | None) -> m.Message:
        match message:
            case m.AskPublic():
                return pairs.public()
            case m.AskParts():
                return self._parts(pairs, message)
            case m.AskTags():
                return self._tags(pairs, message)
            case m.AskAligned():
                return self._align(pairs, message)
            case m.AskHidden():
                return self._hide(pairs, message, moments)
            case m.AskJoined():
                return self._join(pairs, message)
            case _:
                raise RefusedError("an exchange of unknown kind")

    # -- alignment ------------------------------------------------------------------------------

    def _parts(self, pairs: Pairs, message: m.AskParts) -> m.Parts:
        pairs.meet(message.keys)
        self._aligner = Aligner(self.units.tolist())
        part = self._aligner.part
        sealed = {n: pairs.seal(n, b"part", part).hex() for n in pairs.partners}
        return m.Parts(sealed=sealed)

    def _tags(self, pairs: Pairs, message: m.AskTags) -> m.Tags:
        aligner = self._require_aligner()
        if sorted(message.sealed) != pairs.partners:
            raise RefusedError("a part of each other agency is needed")
        parts = {n: pairs.open(n, b"part", bytes.fromhex(s)) for n, s in message.sealed.items()} | {
            pairs.name: aligner.part
        }
        aligner.take([parts[name] for name in sorted(parts)])
        try:
            return m.Tags(payload=aligner.tags().tobytes())
        except DataError as error:
            raise RefusedError("a unit appears twice at this agency") from error

    def _align(self, pairs: Pairs, message: m.AskAligned) -> m.Aligned:
        if len(message.payload) % TAG_BYTES:
            raise RefusedError("the list of common units has the wrong shape")
        common = np.frombuffer(message.payload, dtype=f"S{TAG_BYTES}")
        if np.any(common[1:] <= common[:-1]):
            raise RefusedError("the list of common units is not in rising order")
        if len(common) <= len(self.wanted):
            raise RefusedError("no more common units than coefficients (p >= n)")
        rows = self._require_aligner().rows(common)
        own = self.holders[pairs.name]
        self.holder = Holder.of(own, self.values[rows], self.policy)
        self.used = np.zeros(len(self.kept), dtype=bool)
        self.used[np.flatnonzero(self.kept)[rows]] = True
        # Sealed texts are about these units: agencies that were told others do not understand them.
        self._about = hashlib.sha256(message.payload).digest()
        self._aligner = None
        return m.Aligned()

    # -- products -------------------------------------------------------------------------------

    def _hide(self, pairs: Pairs, message: m.AskHidden, moments: Moments | None) -> m.Hidden:
        if sorted(message.seeds) != pairs.partners:
            raise RefusedError("factors for each other agency are needed")
        matrix = self._begin(pairs, message.round, moments)
        sizes = [self._n_products(pairs, name, message.round) for name in pairs.partners]
        dealt = dict(zip(pairs.partners, _pieces(message.payload, sizes), strict=True))
        self._factors = {
            name: self._factor(pairs, name, message, matrix, product)
            for name, product in dealt.items()
        }
        about = self._about + message.round.encode()
        return m.Hidden(
            payload=b"".join(
                pairs.seal(name, about, PRODUCT.pack(factor.hidden()))
                for name, factor in self._factors.items()
            )
        )

    def _begin(self, pairs: Pairs, round_: str, moments: Moments | None) -> np.ndarray:
        """Return the own matrix of a round, and put what needs no partner into the own share."""
        holder = self._require_holder()
        if round_ == "products":
            own, size = places(holder.names, self.wanted), len(self.wanted)
            self.share = PRODUCT.zeros(size * size)
            squares = holder.z.T @ holder.z
            put(self.share, size, own, own, PRODUCT.encode(squares, len(self.holders)))
            return FACTOR.encode(holder.z).reshape(FACTOR.words, *holder.z.shape)
        if round_ == "leverages":
            if moments is None:
                raise RefusedError("the products come first")
            scores = encoded_scores(holder.scores(moments.root(), self.wanted[1:]))
            self.share = row_product(scores, scores)
            return scores
        column = self.share[:, :, None]
        # With the squares goes the plain sum, which says whether the leverages are exact.
        self.share = np.concatenate([ring_product(column, column), summed(self.share)], axis=1)
        return column

    def _factor(
        self, pairs: Pairs, name: str, message: m.AskHidden, matrix: np.ndarray, product: bytes
    ) -> Factor:
        dealt = Dealt(
            bytes.fromhex(message.seeds[name]), PRODUCT.unpack(product, len(product) // _ELEMENT)
        )
        first = pairs.name < name
        kind = RowFactor if message.round == "leverages" else Factor
        # A square of a sum has each product of two different terms twice.
        twice = first and message.round != "products"
        return kind(doubled(matrix) if twice else matrix, dealt)

    def _join(self, pairs: Pairs, message: m.AskJoined) -> m.Joined:
        shapes = {n: self._shape(n, message.round) for n in pairs.partners}
        sizes = [_ELEMENT * int(np.prod(s)) + EXTRA_BYTES for s in shapes.values()]
        sealed = dict(zip(shapes, _pieces(message.payload, sizes), strict=True))
        for name, shape in shapes.items():
            opened = pairs.open(name, self._about + message.round.encode(), sealed[name])
            hidden = PRODUCT.unpack(opened, int(np.prod(shape))).reshape(PRODUCT.words, *shape)
            factor, first = self._factors[name], pairs.name < name
            share = factor.first_share(hidden) if first else factor.second_share(hidden)
            self._add(pairs, name, message.round, share)
        self._factors = {}
        return m.Joined()

    def _add(self, pairs: Pairs, name: str, round_: str, share: np.ndarray) -> None:
        if round_ == "leverages":
            self.share = PRODUCT.add(self.share, share)
            return
        if round_ == "squares":
            self.share[:, :1] = PRODUCT.add(self.share[:, :1], share)
            return
        rows, columns = (places(self.holders[n], self.wanted) for n in sorted((pairs.name, name)))
        put(self.share, len(self.wanted), rows, columns, share)

    def _shape(self, name: str, round_: str) -> tuple[int, int]:
        """Return units by columns of what an agency hides in a round."""
        n = len(self._require_holder().z)
        columns = {
            "products": len(self.holders[name]), "leverages": len(self.wanted) - 1, "squares": 1
        }  # fmt: skip
        return n, columns[round_]

    def _n_products(self, pairs: Pairs, name: str, round_: str) -> int:
        """Return the bytes of the dealer's product for a partner."""
        if round_ == "leverages":
            return _ELEMENT * self._shape(name, round_)[0]
        own, other = (self._shape(n, round_)[1] for n in (pairs.name, name))
        return _ELEMENT * own * other

    def contribution(self) -> np.ndarray:
        """Return the own share as numbers that a sum can carry."""
        return as_limbs(self.share)

    def _require_aligner(self) -> Aligner:
        if self._aligner is None:
            raise RefusedError("keys come first")
        return self._aligner

    def _require_holder(self) -> Holder:
        if self.holder is None:
            raise RefusedError("the common units come first")
        return self.holder


def _pieces(payload: bytes, sizes: list[int]) -> Iterator[bytes]:
    """Cut bytes into pieces of known sizes."""
    if len(payload) != sum(sizes):
        raise RefusedError("what the coordinator handed out has the wrong shape")
    ends = np.cumsum([0, *sizes]).tolist()
    return (payload[start:end] for start, end in pairwise(ends))
