// Text tables. Bytes are shown as MB once a column needs it; a ratio stands right of what it is a ratio of.
#include "table.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace perf {
namespace {

using Line = std::vector<std::string>;

size_t width(const std::string &s) {  // characters, not bytes
    return static_cast<size_t>(
        std::count_if(s.begin(), s.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string number(double v) {
    if (std::isnan(v)) return "-";
    double a = std::fabs(v);
    char text[48];
    if (a > 0 && a < 0.001)
        std::snprintf(text, sizeof text, "%.1e", v);
    else
        std::snprintf(text, sizeof text, "%.*f",
                      a >= 1000 || v == std::trunc(v) ? 0
                      : a >= 100                      ? 1
                      : a >= 1                        ? 2
                                                      : 4,
                      v);
    return text;
}

// The first column to the left, all others to the right.
void print_lines(const std::vector<Line> &lines) {
    std::vector<size_t> widths;
    for (const Line &line : lines) {
        widths.resize(std::max(widths.size(), line.size()));
        for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], width(line[i]));
    }
    for (const Line &line : lines) {
        std::string out = "  ";
        for (size_t i = 0; i < line.size(); ++i) {
            std::string pad(widths[i] - width(line[i]), ' ');
            out += i == 0 ? line[i] + pad : "  " + pad + line[i];
        }
        std::printf("%s\n", out.c_str());
    }
}

bool is_contention(const Row &r) { return r.unit == "1/task"; }

// Metrics that occur in the chosen rows; "wall/direct" directly after "wall".
template <class Chosen>
Line metrics_of(const Sheet &sheet, Chosen chosen) {
    Line plain, ratios, all;
    for (const Row &r : sheet.rows) {
        Line &list = r.unit == "x" ? ratios : plain;
        if (chosen(r) && std::find(list.begin(), list.end(), r.metric) == list.end()) list.push_back(r.metric);
    }
    for (const std::string &m : plain) {
        all.push_back(m);
        for (const std::string &r : ratios)
            if (r.starts_with(m + "/")) all.push_back(r);
    }
    return all;
}

double in_table_unit(const std::string &unit, double v) { return unit == "B" && v >= 1e5 ? v * 1e-6 : v; }

std::string heading(const Sheet &sheet, const std::string &metric, double largest) {
    std::string unit = unit_of(sheet, metric);
    if (unit == "x")  // "wall/direct" reads "x direct"
        return "x " + metric.substr(metric.find('/') + 1);
    if (unit == "1")  // a bare number
        return metric;
    return metric + " " + (unit == "B" && largest >= 1e5 ? "MB" : unit);
}

// One block: a line for each system that has rows in `kase`.
void print_case(const Sheet &sheet, const std::string &kase) {
    auto here = [&](const Row &r) { return r.kase == kase && !is_contention(r); };
    Line metrics = metrics_of(sheet, here);
    if (metrics.empty()) return;
    std::vector<Line> lines{{kase}};
    for (const std::string &m : metrics) {
        double largest = 0;
        for (const Row &r : sheet.rows)
            if (here(r) && r.metric == m) largest = std::max(largest, r.value);
        lines[0].push_back(heading(sheet, m, largest));
    }
    for (const std::string &system : sheet.distinct(&Row::system)) {
        Line line{"  " + system};
        bool any = false;
        for (const std::string &m : metrics) {
            double v = sheet.value(kase, system, m);
            any |= !std::isnan(v);
            line.push_back(number(in_table_unit(unit_of(sheet, m), v)));
        }
        if (any) lines.push_back(line);
    }
    print_lines(lines);
    std::printf("\n");
}

// One block: a line a case, a column a system, of the main metric and its ratios.
void print_cases_down(const Sheet &sheet) {
    auto chosen = [&](const Row &r) {
        return r.metric == sheet.main_metric || r.metric.starts_with(sheet.main_metric + "/");
    };
    std::vector<Line> lines;
    for (const std::string &metric : metrics_of(sheet, chosen)) {
        lines.push_back({heading(sheet, metric, 0)});
        std::vector<std::string> systems;
        for (const std::string &system : sheet.distinct(&Row::system)) {
            auto has = [&](const Row &r) { return r.system == system && r.metric == metric; };
            if (std::any_of(sheet.rows.begin(), sheet.rows.end(), has)) {
                systems.push_back(system);
                lines.back().push_back(system);
            }
        }
        for (const std::string &kase : sheet.distinct(&Row::kase)) {
            Line line{"  " + kase};
            bool any = false;
            for (const std::string &system : systems) {
                double v = sheet.value(kase, system, metric);
                any |= !std::isnan(v);
                line.push_back(number(v));
            }
            if (any) lines.push_back(line);
        }
    }
    print_lines(lines);
    std::printf("\n");
}

void print_contention(const Sheet &sheet) {
    Line metrics = metrics_of(sheet, is_contention);
    if (metrics.empty()) return;
    std::vector<Line> lines{{"contention per task"}};
    lines[0].insert(lines[0].end(), metrics.begin(), metrics.end());
    for (const std::string &kase : sheet.distinct(&Row::kase))
        for (const std::string &system : sheet.distinct(&Row::system)) {
            if (std::isnan(sheet.value(kase, system, metrics[0]))) continue;
            lines.push_back({"  " + kase + ": " + system});
            for (const std::string &m : metrics) lines.back().push_back(number(sheet.value(kase, system, m)));
        }
    print_lines(lines);
    std::printf("\n");
}

}  // namespace

void print_table(const Sheet &sheet) {
    std::printf("\n%s %s\n\n", sheet.id.c_str(), sheet.title.c_str());
    if (sheet.layout == Sheet::Layout::cases_down)
        print_cases_down(sheet);
    else
        for (const std::string &kase : sheet.distinct(&Row::kase)) print_case(sheet, kase);
    print_contention(sheet);
    std::vector<Line> lines;
    for (const Goal &g : sheet.goals)
        lines.push_back({"goal: " + g.text, (g.at_most ? "≤ " : "≥ ") + number(g.limit), "is", number(g.measured),
                         !g.known() ? "not measured"
                         : g.met()  ? "met"
                                    : "NOT MET"});
    print_lines(lines);
    for (const std::string &note : sheet.notes) std::printf("  note: %s\n", note.c_str());
    std::fflush(stdout);
}

}  // namespace perf
