r"""Writes records as LaTeX tables that need the package booktabs and no other; any engine sets them.

Letters that mean something to TeX are escaped, Greek letters and signs become mathematics, and letters of other scripts
are kept for the engines that have them; the others print their codes.

>>> escaped("50% of_{all} → ε ≤ 1")
'50\\% of\\_\\{all\\} \\ensuremath{\\rightarrow} \\ensuremath{\\varepsilon} \\ensuremath{\\leq} 1'
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sfumato.release.render.document import Document, Table

MOST = 60
"""How many values are shown."""

ESCAPES = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\ensuremath{<}",
    ">": r"\ensuremath{>}",
    "|": r"\ensuremath{|}",
    '"': r"\char34{}",
    "`": r"\char96{}",
    **{letter: f"\\{letter}" for letter in "&%$#_{}"},
    # After the end of a row these would be taken for its options.
    **{letter: f"{{{letter}}}" for letter in "[]*"},
    # Two of these in a row would become one sign.
    **{letter: f"{{{letter}}}" for letter in "-,'?!"},
}

GREEK = {"ε": "varepsilon", "ϕ": "phi", "φ": "varphi", "ϑ": "vartheta", "Δ": "Delta", "Γ": "Gamma", "Σ": "Sigma"}
GREEK |= {"α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "η": "eta", "θ": "theta", "κ": "kappa"}
GREEK |= {"λ": "lambda", "μ": "mu", "ν": "nu", "π": "pi", "ρ": "rho", "σ": "sigma", "τ": "tau", "χ": "chi"}
GREEK |= {"ω": "omega", "Ω": "Omega", "Φ": "Phi", "Ψ": "Psi", "ψ": "psi", "ξ": "xi", "ζ": "zeta"}
SIGNS = {"±": "pm", "×": "times", "÷": "div", "≤": "leq", "≥": "geq", "≠": "neq", "→": "rightarrow", "∞": "infty"}
SIGNS |= {"⟶": "longrightarrow", "·": "cdot", "∈": "in", "√": "surd", "≈": "approx", "′": "prime", "¬": "neg"}
LITTLE = {letter: f"^{{{sign}}}" for letter, sign in zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-", strict=True)}
LITTLE |= {letter: f"_{{{sign}}}" for letter, sign in zip("₀₁₂₃₄₅₆₇₈₉", "0123456789", strict=True)}
ESCAPES |= {letter: f"\\ensuremath{{\\{name}}}" for letter, name in (GREEK | SIGNS).items()}
ESCAPES |= {letter: f"\\ensuremath{{{sign}}}" for letter, sign in ({"−": "-"} | LITTLE).items()}
ESCAPES |= {"…": r"\ldots{}", "–": "--", "—": "---", "“": "``", "”": "''", "‘": "`", "’": "'"}

PLAIN = r" A-Za-z0-9.:;/()+=@À-ÖØ-öø-ÿ"
"""Letters that every engine and every font sets as they are, but for four that the oldest fonts lack."""

_FOREIGN = re.compile(f"[^{PLAIN}{re.escape(''.join(ESCAPES))}]+|[ÐðÞþ]+")


def write(document: Document) -> str:
    """Writes everything that a document says, as tables one below the other."""
    parts = ["% needs \\usepackage{booktabs}"]
    parts += [
        f"\\noindent\\textbf{{{escaped(document.headline or document.title)}}} {escaped(document.aside)}".rstrip()
    ]
    parts += [f"\\par\\noindent\\textbf{{Warning.}} {escaped(warning)}" for warning in document.warnings]
    entries, left_out = document.shortened(MOST)
    if entries:
        rows = [(entry.name, entry.shown, entry.error) for entry in entries]
        parts += [tabular(rows, head=document.entries_head, shape="lrr"), *_sentence(left_out)]
    for table in document.tables:
        if table.title:
            parts.append(f"\\par\\medskip\\noindent\\textbf{{{escaped(table.title)}}}")
        shown, left_out = table.shortened(MOST)
        parts += [tabular(shown, head=table.head, shape=_shape(table)), *_sentence(left_out)]
    return "\n".join(parts) + "\n"


def _sentence(text: str) -> list[str]:
    return [f"\\par\\noindent {escaped(text)}"] if text else []


def _shape(table: Table) -> str:
    """How wide columns are: of a list of data, as their cells; else the first so, and the others share the rest of the
    line.
    """
    if table.count is not None:
        return "".join("r" if place in table.right else "l" for place in range(len(table.head)))
    others = len(table.head or table.rows[0]) - 1 if table.head or table.rows else 0
    return "l" + f"p{{{0.72 / others:.3f}\\linewidth}}" * others if others else "l"


def tabular(rows: Sequence[Sequence[str]], *, shape: str, head: Sequence[str] = ()) -> str:
    """Writes a table between rules."""
    above = [_line(head) + "\n\\midrule"] if any(head) else []
    body = "\n".join([*above, *(_line(row) for row in rows)])
    begin = f"\\par\\medskip\\noindent\n\\begin{{tabular}}{{@{{}}{shape}@{{}}}}"
    return f"{begin}\n\\toprule\n{body}\n\\bottomrule\n\\end{{tabular}}"


def _line(cells: Sequence[str]) -> str:
    return " & ".join(escaped(cell) for cell in cells) + r" \\"


def escaped(text: str) -> str:
    """Writes a text so that TeX sets it as it is."""
    pieces, place = [], 0
    for foreign in _FOREIGN.finditer(text):
        pieces += [_known(text[place : foreign.start()]), _foreign(foreign.group())]
        place = foreign.end()
    return "".join([*pieces, _known(text[place:])])


def _known(text: str) -> str:
    return "".join(ESCAPES.get(letter, letter) for letter in text)


def _foreign(text: str) -> str:
    """Keeps letters for engines that know every script; the others see their codes."""
    codes = " ".join(f"U+{ord(letter):04X}" for letter in text)
    return f"\\ifdefined\\Umathcode {text}\\else ({codes})\\fi{{}}"
