"""The catalogue: methods with their parameters, as forms need them."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from tacit.app.api.access import ActorOf

router = APIRouter(prefix="/methods", tags=["methods"])


@router.get("/{family}")
def methods(family: str, _actor: ActorOf) -> Any:
    """List the methods of a family with the JSON schema of their parameters."""
    from tacit.core.method import methods as registered

    return [
        {
            "key": method.key,
            "title": method.title,
            "summary": method.summary(),
            "cites": list(method.cites),
            "parameters": method.model_json_schema().get("properties", {}),
            "required": method.model_json_schema().get("required", []),
        }
        for method in registered(family)
    ]
