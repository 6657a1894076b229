#include "svg.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "fail.h"

namespace perf {
namespace {

constexpr const char *colours[] = {"#1b6ca8", "#888888", "#d1495b", "#edae49",
                                   "#66a182", "#8d6a9f", "#2e4057", "#c17c74"};
constexpr double bar_height = 16, label_width = 260, plot_width = 560, line_height = 320;

const char *colour(size_t system) { return colours[system % std::size(colours)]; }

std::string escaped(const std::string &s) {
    std::string out;
    for (char c : s) {
        if (c == '<')
            out += "&lt;";
        else if (c == '&')
            out += "&amp;";
        else
            out += c;
    }
    return out;
}

std::string text(double x, double y, const std::string &s, const char *anchor = "start") {
    std::ostringstream out;
    out << "<text x='" << x << "' y='" << y << "' text-anchor='" << anchor << "'>" << escaped(s) << "</text>\n";
    return out.str();
}

std::string rounded(double v) {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%.3g", v);
    return buffer;
}

std::vector<Row> charted(const Sheet &sheet) {
    std::vector<Row> rows;
    for (const Row &r : sheet.rows)
        if (r.metric == sheet.main_metric && r.value > 0) rows.push_back(r);
    return rows;
}

size_t place(const std::vector<std::string> &list, const std::string &s) {
    return static_cast<size_t>(std::find(list.begin(), list.end(), s) - list.begin());
}

struct Drawing {
    std::string body;
    double height = 0;
};

Drawing bars(const Sheet &sheet, const std::vector<Row> &rows) {
    Drawing d{"", 40};
    auto systems = sheet.distinct(&Row::system);
    double least = INFINITY, most = 0;
    for (const Row &r : rows) {
        least = std::min(least, r.value);
        most = std::max(most, r.value);
    }
    double decades = std::max(std::log10(most / least), 0.5);
    for (const std::string &kase : sheet.distinct(&Row::kase)) {
        bool titled = false;
        for (const Row &r : rows) {
            if (r.kase != kase) continue;
            if (!titled) d.body += text(10, (d.height += 22) - 4, kase);
            titled = true;
            double length = plot_width * (0.1 + 0.9 * std::log10(r.value / least) / decades);
            std::ostringstream rect;
            rect << "<rect x='" << label_width << "' y='" << d.height << "' width='" << length << "' height='"
                 << bar_height - 3 << "' fill='" << colour(place(systems, r.system)) << "'/>\n";
            d.body += rect.str() + text(label_width - 8, d.height + 11, r.system, "end") +
                      text(label_width + length + 5, d.height + 11, rounded(r.value));
            d.height += bar_height;
        }
    }
    return d;
}

Drawing lines(const Sheet &sheet, const std::vector<Row> &rows) {
    Drawing d{"", 50 + line_height + 60};
    auto systems = sheet.distinct(&Row::system);
    auto cases = sheet.distinct(&Row::kase);
    double most = 0;
    for (const Row &r : rows) most = std::max(most, r.value);
    double left = 60, bottom = 50 + line_height, width = label_width + plot_width - left;
    double step = width / std::max<double>(1, static_cast<double>(cases.size()) - 1);
    d.body += text(left - 6, 54, rounded(most), "end") + text(left - 6, bottom, "0", "end");
    for (size_t s = 0; s < systems.size(); ++s) {
        std::ostringstream line;
        line << "<polyline fill='none' stroke-width='1.5' stroke='" << colour(s) << "' points='";
        bool any = false;
        for (const Row &r : rows)
            if (r.system == systems[s]) {
                line << left + step * static_cast<double>(place(cases, r.kase)) << ','
                     << bottom - line_height * r.value / most << ' ';
                any = true;
            }
        if (!any) continue;
        line << "'/>\n<g fill='" << colour(s) << "'>"
             << text(left + width + 10, 60 + 16 * static_cast<double>(s), systems[s]) << "</g>\n";
        d.body += line.str();
    }
    d.body += text(left, bottom + 18, cases.front()) + text(left + width, bottom + 18, cases.back(), "end");
    return d;
}

}  // namespace

void write_charts(const std::string &folder, const std::vector<Sheet> &sheets) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    for (const Sheet &sheet : sheets) {
        std::vector<Row> rows = charted(sheet);
        if (rows.empty()) continue;
        Drawing d = sheet.layout == Sheet::Layout::cases_down ? lines(sheet, rows) : bars(sheet, rows);
        std::ofstream file(folder + "/" + sheet.id + ".svg");
        file << "<svg xmlns='http://www.w3.org/2000/svg' width='" << label_width + plot_width + 130 << "' height='"
             << d.height + 20
             << "' font-family='sans-serif' font-size='11'>\n<rect width='100%' height='100%' fill='white'/>\n"
             << text(10, 24,
                     sheet.id + " " + sheet.title + ": " + sheet.main_metric + " in " +
                         unit_of(sheet, sheet.main_metric) +
                         (sheet.layout == Sheet::Layout::cases_down ? "" : ", logarithmic"))
             << d.body << "</svg>\n";
        if (!file.flush()) fail("cannot write the chart " + folder + "/" + sheet.id + ".svg");
    }
}

}  // namespace perf
