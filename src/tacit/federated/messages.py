"""What agencies and coordinator say to each other: typed, versioned, bounded in size.

A message on the wire is four bytes (``TFA`` and the version), the length of a JSON header, the
header, and raw bytes for a vector if there is one. Whatever does not fit is refused before use.
"""

from __future__ import annotations

import hashlib
import json
import struct
from typing import Annotated, Any, ClassVar, Literal

from annotated_types import Ge, Le, Len
from pydantic import Field, StringConstraints

from tacit.core.errors import DataError
from tacit.core.value import Value
from tacit.federated.fixed_point import FixedPoint

VERSION = 1
LONGEST_HEADER = 4 << 20
LONGEST_MESSAGE = 1 << 30
MOST_AGENCIES = 1000
_START = struct.Struct(">3sBI")

Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$")]
Identifier = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{32}$")]
Hex = Annotated[str, StringConstraints(pattern=r"^([0-9a-f]{2}){0,512}$")]
Key = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Step = Annotated[int, Ge(0), Le(10_000)]
Text = Annotated[str, StringConstraints(max_length=2000)]
Names = Annotated[tuple[Name, ...], Len(1, MOST_AGENCIES)]
Sealed = Annotated[dict[Name, Hex], Len(0, MOST_AGENCIES)]


class Message(Value):
    """A message; `payload` travels as raw bytes behind the header."""

    kind: ClassVar[str] = ""
    kinds: ClassVar[dict[str, type[Message]]] = {}
    payload: bytes = Field(default=b"", exclude=True)
    """A vector of ring elements, or nothing."""

    def __init_subclass__(cls, kind: str = "", **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.kind = kind
        Message.kinds[kind] = cls

    def encode(self) -> bytes:
        """Return the message as bytes."""
        document = {"kind": self.kind, **self.model_dump(mode="json")}
        header = json.dumps(document, separators=(",", ":"), allow_nan=False).encode()
        return b"".join([_START.pack(b"TFA", VERSION, len(header)), header, self.payload])


def decode(data: bytes, limit: int = LONGEST_MESSAGE) -> Any:
    """Return the message that some bytes hold, or refuse them.

    Examples
    --------
    >>> decode(Closed().encode()).kind
    'closed'
    """
    if len(data) > limit:
        raise DataError("a message is too long", got=f"{len(data):,} bytes, {limit:,} allowed")
    header, payload = _parts(data)
    kind = header.pop("kind", None)
    if not isinstance(kind, str) or kind not in Message.kinds or "payload" in header:
        raise DataError("a message of unknown kind", got=repr(kind)[:80])
    return Message.kinds[kind](**header, payload=payload)


def _parts(data: bytes) -> tuple[dict[str, Any], bytes]:
    if len(data) < _START.size:
        raise DataError("a message is cut short", got=f"{len(data)} bytes")
    start, version, length = _START.unpack_from(data)
    if start != b"TFA":
        raise DataError("this is no message of a federated computation")
    if version != VERSION:
        raise DataError(
            "a message is of another version of the protocol",
            got=f"version {version}, this program speaks {VERSION}",
            do="run the same version of tacit everywhere",
        )
    end = _START.size + length
    if length > LONGEST_HEADER or end > len(data):
        raise DataError("the header of a message is too long or cut short")
    try:
        header = json.loads(data[_START.size : end])
    except (ValueError, RecursionError) as error:
        raise DataError("the header of a message is no JSON") from error
    if not isinstance(header, dict):
        raise DataError("the header of a message is no JSON object")
    return header, data[end:]


def _plain(document: Any) -> bytes:
    return json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


class Proposal(Value):
    """What is to be computed, by whom and how; all agencies must have the same one."""

    computation: Identifier
    """A number drawn for this computation."""
    analysis: dict[str, Any]
    """The analysis and its parameters."""
    participants: Names
    """The agencies, in order."""
    threshold: Annotated[int, Ge(2)]
    """Agencies that must stay to the end."""
    encoding: FixedPoint = Field(default_factory=FixedPoint)
    """How numbers are held."""
    coordinator: Name = "coordinator"
    """Who routes the messages."""
    purpose: Text = ""
    """What the result is for, told to the operators."""

    def digest(self) -> bytes:
        """Return what stands for the proposal in keys and signatures."""
        return hashlib.sha256(b"tacit proposal" + _plain(self.model_dump(mode="json"))).digest()


class Propose(Message, kind="propose"):
    """Ask an agency to take part."""

    proposal: Proposal


class Accepted(Message, kind="accepted"):
    """The agency takes part in the proposal of this digest."""

    digest: Key


class Refused(Message, kind="refused"):
    """The agency does not, or no longer, take part."""

    reason: Text


class Request(Message, kind="request"):
    """Anything asked within a computation; `step` counts the sums."""

    computation: Identifier
    step: Step

    @property
    def place(self) -> tuple[int, str]:
        """What is answered once."""
        return self.step, self.kind


class AskKeys(Request, kind="ask-keys"):
    """Ask for fresh public keys."""


class Keys(Message, kind="keys"):
    """Two public keys and a commitment to the seed of the own mask, signed."""

    channel: Key
    mask: Key
    commitment: Key
    signature: Hex


class AskShares(Request, kind="ask-shares"):
    """Hand out all keys, ask for shares of the secrets."""

    keys: Annotated[dict[Name, Keys], Len(1, MOST_AGENCIES)]


class Shares(Message, kind="shares"):
    """Shares for each other agency, sealed so that only it can open them."""

    sealed: Sealed


class AskMasked(Request, kind="ask-masked"):
    """Hand out the shares, ask for the masked contribution."""

    sealed: Sealed


class Masked(Message, kind="masked"):
    """The contribution under all masks."""


class AskUnmask(Request, kind="ask-unmask"):
    """Say whose contributions arrived, ask for the shares that take the masks away."""

    survivors: Names


class Unmask(Message, kind="unmask"):
    """For each survivor a share of its own seed, for each lost agency one of its mask key."""

    seeds: Sealed
    keys: Sealed


class Finish(Request, kind="finish"):
    """Hand out the sum, still under the mask that only agencies know."""

    survivors: Names


class Finished(Message, kind="finished"):
    """The answer, or that another sum is needed."""

    answer: dict[str, Any] | None


class Exchange(Request, kind="exchange"):
    """Something that pairs of agencies pass to each other before a sum."""


class AskPublic(Exchange, kind="ask-public"):
    """Ask for a fresh key by which the others seal what only this agency may read."""


class Public(Message, kind="public"):
    """A public key, signed."""

    key: Key
    signature: Hex


class AskParts(Exchange, kind="ask-parts"):
    """Hand out all keys, ask for parts of the key under which units become tags."""

    keys: Annotated[dict[Name, Public], Len(1, MOST_AGENCIES)]


class Parts(Message, kind="parts"):
    """A part for each other agency, sealed so that only it can open it."""

    sealed: Sealed


class AskTags(Exchange, kind="ask-tags"):
    """Hand out the parts, ask for the tags of the units."""

    sealed: Sealed


class Tags(Message, kind="tags"):
    """The tags of the agency's units in rising order."""


class AskAligned(Exchange, kind="ask-aligned"):
    """Hand out the tags that all agencies have, ask to keep these units in this order."""


class Aligned(Message, kind="aligned"):
    """The agency has the units, and its rules allow them."""


Round = Literal["products", "leverages", "squares"]


class AskHidden(Exchange, kind="ask-hidden"):
    """Deal random factors for each partner, ask for the own numbers hidden under them."""

    round: Round
    seeds: Annotated[dict[Name, Key], Len(1, MOST_AGENCIES)]

    @property
    def place(self) -> tuple[int, str]:
        """What is answered once."""
        return self.step, f"{self.kind} {self.round}"


class Hidden(Message, kind="hidden"):
    """Hidden numbers for each partner, in order of names, sealed so that only it can open them."""


class AskJoined(Exchange, kind="ask-joined"):
    """Hand out what the partners sent, ask to make the own share of the products."""

    round: Round

    @property
    def place(self) -> tuple[int, str]:
        """What is answered once."""
        return self.step, f"{self.kind} {self.round}"


class Joined(Message, kind="joined"):
    """The agency has its share."""


class Close(Message, kind="close"):
    """The computation is over."""

    computation: Identifier
    reason: Text = ""


class Closed(Message, kind="closed"):
    """The computation is forgotten."""
