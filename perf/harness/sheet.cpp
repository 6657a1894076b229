#include "sheet.h"

#include <algorithm>

#include "numbers.h"

namespace perf {

double Sheet::value(const std::string &kase, const std::string &system, const std::string &metric) const {
    for (const Row &r : rows)
        if (r.kase == kase && r.system == system && r.metric == metric) return r.value;
    return not_measured;
}

void Sheet::add_ratios(const std::string &metric, const std::string &floor) {
    std::vector<Row> ratios;
    for (const Row &r : rows) {
        if (r.metric != metric) continue;
        double base = value(r.kase, floor, metric);
        if (base > 0) ratios.push_back({r.kase, r.system, metric + "/" + floor, "x", r.value / base});
    }
    rows.insert(rows.end(), ratios.begin(), ratios.end());
}

std::vector<std::string> Sheet::distinct(std::string Row::*field) const {
    std::vector<std::string> seen;
    for (const Row &r : rows)
        if (std::find(seen.begin(), seen.end(), r.*field) == seen.end()) seen.push_back(r.*field);
    return seen;
}

std::string unit_of(const Sheet &sheet, const std::string &metric) {
    for (const Row &r : sheet.rows)
        if (r.metric == metric) return r.unit;
    return "";
}

}  // namespace perf
