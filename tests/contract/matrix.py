#!/usr/bin/env python3
"""Compares matrix.def with the header: every function, every result that the header lists for it, every cell.

usage: matrix.py HEADER MATRIX
"""
import re
import sys

PLACES = ("outside", "in a task", "after a shutdown", "with NULL")
ANSWERS = ("HC_REMOVED", "HC_RUNNING", "HC_DONE")  # results that are no errors; where they are listed, HC_OK is not
RESULT = re.compile(rf"\bHC_E\w+|\b(?:{'|'.join(ANSWERS)})\b")


def read_header(text):
    """The results that the header lists: {function: {constant}}, and all its error constants, in order."""
    codes = re.findall(r"X\((HC_E\w+),", text)
    declaration = re.compile(r"^HC_API\b([^;(]*?)\b(hc_\w+)\([^;]*\);", re.M)
    # One comment for several functions names each: "hc_task_complete returns 0, HC_EINVAL (why), HC_EBUSY."
    named = {function: set(RESULT.findall(sentence)) | {"HC_OK"}
             for function, sentence in re.findall(r"\b(hc_\w+) returns\b([^.;]*)[.;]", text)}
    results, at, last = {}, 0, set()
    for match in declaration.finditer(text):
        before, at = text[at:match.start()], match.end()
        kind, function = match.groups()
        listed = set()
        for sentence in re.findall(r"\bReturns\b(.*?)\*/", before, re.S):
            listed |= set(RESULT.findall(sentence))
            for other in re.findall(r"\bas (hc_\w+)", sentence):
                listed |= results[other]
        listed |= set(re.findall(r"\belse (HC_E\w+)", before))
        listed |= named.get(function, set())
        if not before.strip() and kind.split() == ["int"] and not listed:
            listed |= last  # it shares the comment of the one before
        if not listed & set(ANSWERS):
            listed.add("HC_OK")
        results[function] = last = listed
    assert len(results) == len(re.findall(r"^HC_API\b", text, re.M)), "a declaration that this script cannot read"
    return results, codes


def read_matrix(text):
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    reasons = dict(re.findall(r'^WHY\((\w+), "([^"]+)"\)', text, re.M))
    nowhere = re.findall(r"^NOWHERE\((\w+)\)", text, re.M)
    rows = {}
    for line in re.findall(r"^ROW\((.*)\)$", text, re.M):
        function, result, _group, _probe, *cells = (field.strip() for field in line.split(","))
        yield_error(len(cells) == len(PLACES), f"{function}, {result}: {len(cells)} cells")
        yield_error((function, result) not in rows, f"{function}, {result}: two rows")
        rows[function, result] = cells
    return rows, reasons, nowhere


errors = []


def yield_error(fine, text):
    if not fine:
        errors.append(text)


def main(header, matrix):
    with open(header, encoding="utf-8") as file:
        documented, codes = read_header(file.read())
    with open(matrix, encoding="utf-8") as file:
        rows, reasons, nowhere = read_matrix(file.read())

    for function, results in documented.items():
        for result in sorted(results):
            yield_error((function, result) in rows, f"{function}, {result}: in the header, but not in the table")
    for function, result in rows:
        yield_error(function in documented, f"{function}: in the table, but not in the header")
        yield_error(result in documented.get(function, ()), f"{function}, {result}: the header does not list it")

    used = {result for results in documented.values() for result in results}
    for code in codes:
        yield_error((code in used) != (code in nowhere), f"{code}: either some function lists it, or NOWHERE does")

    tried = impossible = 0
    used_reasons = set()
    for (function, result), cells in rows.items():
        for place, cell in zip(PLACES, cells):
            if cell == "YES" or re.fullmatch(r"OR\(HC_\w+\)", cell):
                tried += 1
                continue
            reason = re.fullmatch(r"NO\((\w+)\)", cell)
            yield_error(reason and reason.group(1) in reasons, f"{function}, {result}, {place}: no such cell: '{cell}'")
            used_reasons.add(reason and reason.group(1))
            impossible += 1
        yield_error(any(not cell.startswith("NO(") for cell in cells), f"{function}, {result}: tried nowhere")
    for reason in reasons:
        yield_error(reason in used_reasons, f"the reason '{reason}' is not used")

    for error in errors:
        print(error, file=sys.stderr)
    all_cells = len(documented) * (len(codes) + 1 + len(ANSWERS)) * len(PLACES)
    print(f"{len(documented)} functions, {len(codes) + 1 + len(ANSWERS)} results, {len(PLACES)} places: {all_cells} cells: "
          f"{tried} tried, {impossible} impossible for a reason, "
          f"{all_cells - tried - impossible} impossible for the header does not list the result")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
