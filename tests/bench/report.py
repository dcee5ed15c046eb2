"""report.py - the lines of the report: samples, what is made of them, and whether that reaches the bar.
SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import statistics
from dataclasses import asdict, dataclass

HEAD = ("measure", "unit", "median", "min", "baseline", "min", "result", "bar", "")


@dataclass
class Row:
    """One line of the report. `result` is what the bar is for; it says its unit itself where that is not `unit`."""

    measure: str
    unit: str
    candidate: list[float]
    baseline: list[float]
    result: str
    bar: str = ""
    is_reached: bool | None = None  # None: for information

    def cells(self) -> tuple[str, ...]:
        verdict = {True: "reached", False: "MISSED", None: ""}[self.is_reached]
        numbers = []
        for samples in (self.candidate, self.baseline):
            numbers += [number(statistics.median(samples)), number(min(samples))] if samples else ["", ""]
        return (self.measure, self.unit, *numbers, self.result, self.bar, verdict)

    def as_dict(self) -> dict[str, object]:
        return asdict(self)


def number(value: float) -> str:
    return f"{value:.2f}" if abs(value) < 10 else f"{value:.1f}" if abs(value) < 1000 else f"{value:.0f}"


def ratio_row(measure: str, candidate: list[float], baseline: list[float], bar: float | None = None) -> Row:
    ratio = statistics.median(candidate) / statistics.median(baseline)
    result = f"{ratio:.2f} x (min {min(candidate) / min(baseline):.2f})"
    if bar is None:
        return Row(measure, "ns", candidate, baseline, result)
    return Row(measure, "ns", candidate, baseline, result, f"<= {bar:g} x", ratio <= bar)


def paired_row(measure: str, unit: str, candidate: list[float], baseline: list[float], bar: float | None = None) -> Row:
    """Of samples that were taken side by side: each is compared with its neighbour, which met the same machine."""
    ratios = [one / other for one, other in zip(candidate, baseline)]
    ratio = statistics.median(ratios)
    low, _, high = statistics.quantiles(ratios, n=4)
    result = f"{ratio:.3f} x ({low:.2f} to {high:.2f})"
    if bar is None:
        return Row(measure, unit, candidate, baseline, result)
    return Row(measure, unit, candidate, baseline, result, f"<= {bar:g} x", ratio <= bar)


def difference_row(measure: str, unit: str, candidate: list[float], baseline: list[float], bar: float | None) -> Row:
    difference = statistics.median(candidate) - statistics.median(baseline)
    result = f"{number(difference)} {unit} (min {number(min(candidate) - min(baseline))})"
    if bar is None:
        return Row(measure, unit, candidate, baseline, result)
    return Row(measure, unit, candidate, baseline, result, f"<= {number(bar)} {unit}", difference <= bar)


def print_table(rows: list[Row]) -> None:
    lines = [HEAD] + [row.cells() for row in rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(HEAD))]
    for number, line in enumerate(lines):
        cells = [cell.rjust(width) for cell, width in zip(line, widths)]
        for i in (0, 1, 7, 8):
            cells[i] = line[i].ljust(widths[i])
        print("  ".join(cells).rstrip())
        if number == 0:
            print("  ".join("-" * width for width in widths))
