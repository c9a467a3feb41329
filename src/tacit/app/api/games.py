"""Coprivacy: the equilibria of a game."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from tacit.app.api.access import ActorOf
from tacit.app.games import LARGEST_TEXT, solved

router = APIRouter(prefix="/coprivacy", tags=["coprivacy"])


class GameText(BaseModel):
    """A game in TOML."""

    model_config = ConfigDict(extra="forbid")
    game: Annotated[str, Field(max_length=LARGEST_TEXT)]
    epsilon: Annotated[float, Field(ge=0, le=1e9)] = 0.0


@router.post("")
def solve(body: GameText, _actor: ActorOf) -> Any:
    """Find the equilibria of a game, and whether helping one another is one of them."""
    return solved(body.game, body.epsilon)
