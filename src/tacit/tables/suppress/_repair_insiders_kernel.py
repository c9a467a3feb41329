# mypy: ignore-errors
"""Which respondents' cells all proofs of a side move."""

from __future__ import annotations

import numpy as np

from tacit.core.compiled import njit


@njit(cache=True, nogil=True)
def always_moved(side_ptr, proof_ptr, cells, owner, n_owners):
    """Return sides and respondents: of whom every proof of the side moves some cell.

    Parameters
    ----------
    side_ptr, proof_ptr, cells
        Where the proofs of each side begin, and the cells of each proof.
    owner, n_owners
        Who is alone in each cell, -1 for nobody; how many respondents there are.
    """
    sides, names = [np.int64(0)], [np.int64(0)]
    sides.pop()
    names.pop()
    last = np.full(n_owners, -1, np.int64)  # the last proof that was seen to move a respondent
    hits = np.zeros(n_owners, np.int64)  # how many proofs of this side do
    some = np.empty(n_owners, np.int64)
    for side in range(len(side_ptr) - 1):
        begin, end = side_ptr[side], side_ptr[side + 1]
        n_some = 0
        for proof in range(begin, end):
            for e in range(proof_ptr[proof], proof_ptr[proof + 1]):
                who = owner[cells[e]]
                if who < 0 or last[who] == proof:
                    continue
                if proof == begin:
                    some[n_some], hits[who], last[who] = who, 1, proof
                    n_some += 1
                elif last[who] == proof - 1 and hits[who] == proof - begin:
                    hits[who], last[who] = hits[who] + 1, proof
        for k in range(n_some):
            if last[some[k]] == end - 1:
                sides.append(np.int64(side))
                names.append(some[k])
    return np.array(sides, np.int64), np.array(names, np.int64)
