"""What a published theorem says, read literally."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PaperAnswer:
    """`bounded` is None where the theorem does not apply; `clause` names what decided."""

    bounded: bool | None
    clause: str
    message: str

    @staticmethod
    def yes(clause: str, message: str) -> PaperAnswer:
        return PaperAnswer(True, clause, message)

    @staticmethod
    def no(clause: str, message: str) -> PaperAnswer:
        return PaperAnswer(False, clause, message)

    @staticmethod
    def silent(message: str) -> PaperAnswer:
        return PaperAnswer(None, "", message)
